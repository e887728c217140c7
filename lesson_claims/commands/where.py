"""The subcommand `where`: for each statement of the pages its code, checks and figures, as Markdown."""

import argparse
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

from lesson_claims.code_map import Place, code_map
from lesson_claims.project import ProjectError, read_project
from lesson_claims.registry import Registry, RegistryError, load_registry
from lesson_claims.report.markdown import line, paragraph
from lesson_claims.report.words import place
from lesson_claims.results.errors import ReportError

COMMAND = "lesson-claims where"


def add_parser(subparsers: Any) -> None:
    """Describe `where` to the command line."""
    subparsers.add_parser(
        "where",
        help="print where the code of each statement stands",
        description="Print for each statement of the pages, in their order, which functions of the lessons' code its"
        " checks use, the checks, and the figures, as a page of Markdown. It is read from the source; nothing is run.",
        epilog=f"example: {COMMAND} > docs/where.md",
    ).add_argument("--root", metavar="DIR", default=".", help="the top folder of the project; default: this folder")


def run(args: argparse.Namespace) -> int:
    """Print the page, and return 0."""
    print(page(Path(args.root).resolve()), end="")
    return 0


def page(root: Path) -> str:
    """Return the page of the project in a folder.

    Raises ReportError where the project cannot be read.
    """
    try:
        project = read_project(root)
        registry = load_registry(project)
        places = code_map(project, registry)
    except (ProjectError, RegistryError) as error:
        raise ReportError(str(error)) from error
    return "\n".join(_lines(registry, places)) + "\n"


def _lines(registry: Registry, places: list[Place]) -> Iterator[str]:
    yield "# Where the code of each sentence stands"
    yield ""
    yield f"Made by `{COMMAND}` from the claims and the source of their checks; do not edit it."
    yield ""
    yield "What the page says stands here in our words. The code is what the checks of a sentence use of the lessons'"
    yield "code, directly or through a helper; a dash means that they use the libraries alone. A figure is a number"
    yield "that the page prints."
    for lesson, own in groupby(places, key=lambda each: each.claim.lesson):
        yield ""
        yield f"## {line(registry.lessons[lesson].title)}"
        titles = {part.name: part.title for part in registry.lessons[lesson].parts}
        for part, claims in groupby(own, key=lambda each: each.claim.part):
            if part:
                yield ""
                yield f"### {line(': '.join(filter(None, (part, titles[part]))))}"
            rows = list(claims)
            files = dict.fromkeys(check.split("::")[0] for each in rows for check in each.checks)
            yield ""
            yield f"The checks stand in {', '.join(f'`{file}`' for file in files)}."
            yield ""
            yield "| on the page | code | checks | figures |"
            yield "| --- | --- | --- | --- |"
            yield from map(_row, rows)


def _row(found: Place) -> str:
    claim = found.claim
    ours = " (Ours; not on the page.)" if claim.ours else ""
    says = f"*{line(place('', claim.where))}.* {paragraph(claim.says)}{ours}"
    code = [
        f"`{module}`" + (": " + ", ".join(f"`{name}`" for name in names if name) if any(names) else "")
        for module, names in found.code.items()
    ]
    checks = [f"`{check.split('::')[1]}`" for check in found.checks]
    cells = says, "<br>".join(code), "<br>".join(checks), "<br>".join(map(line, found.figures))
    return "| " + " | ".join(cell or "–" for cell in cells) + " |"

"""Which check checks which claim, read from the source of the checks without running or importing it.

The run's controller needs this to name the claim of a check that never came back, and to refuse a registry in which a
claim has no check, a check has no claim, or a figure can never be measured.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

from lesson_claims.registry import Registry, RegistryError

STATISTICAL = {"beats", "equivalent", "in_most_seeds", "share", "better_than_shuffled"}
"""The deciders that infer from whatever they are given; `grows` does so from evidence over seeds alone."""


@dataclass(frozen=True)
class Check:
    """A check as it stands in the source.

    Attributes:
        id: as in a pytest node id, without parameters: `claims/test_descent.py::test_accuracy`.
        line: of its `def`.
        claim: id of its claim.
        refutes: whether it, or one of its parameters, is marked as refuting the claim.
        depends: whether it, or one of its parameters, is marked as depending on the seed.
        decides: whether it uses the fixture `decide`, and so must record a decision.
        statistical: whether it decides by statistics: on evidence over seeds, or on other samples.
        evidence: whether it asks for evidence over seeds, and so for training runs or the like.
        figures: patterns of the figure names that it can measure.
    """

    id: str
    line: int
    claim: str
    refutes: bool
    depends: bool
    decides: bool
    statistical: bool
    evidence: bool
    figures: tuple[re.Pattern[str], ...]


def check_id(node_id: str) -> str:
    """Return a pytest node id without its parameters, which is the id of the check."""
    return node_id.split("[", 1)[0]


def read_checks(root: Path, claims_folders: Iterable[Path], registry: Registry) -> list[Check]:
    """Read the checks of all modules `test_*.py` in folders of claims, in the order of the source.

    Args:
        root: below which pytest's node ids begin.
        claims_folders: where the checks are.
        registry: what the pages say.

    Raises:
        RegistryError: if a test has no claim, a claim's id is not a literal, or a name does not follow its claim.
    """
    checks: list[Check] = []
    for path in (path for folder in claims_folders for path in sorted(folder.glob("test_*.py"))):
        try:
            module = ast.parse(path.read_text(encoding="utf-8"), str(path))
        except (OSError, UnicodeDecodeError, SyntaxError) as error:
            raise RegistryError(f"{path}: cannot be read: {error}") from error
        file = path.relative_to(root).as_posix()
        for node in module.body:
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
                checks.append(_check(node, file, registry))
    names = [check.id for check in checks]
    for check in checks:
        if names.count(check.id) > 1:
            raise RegistryError(f"{check.id}, line {check.line}: the name is used twice; rename one check")
    return checks


def verify(registry: Registry, checks: list[Check]) -> None:
    """Check that claims, checks and figures fit together, both ways.

    Raises:
        RegistryError: at the first that does not.
    """
    by_claim: dict[str, list[Check]] = {}
    for check in checks:
        by_claim.setdefault(check.claim, []).append(check)
    for claim in registry.claims.values():
        own = by_claim.get(claim.id, [])
        if not own:
            raise RegistryError(f"claim {claim.id} has no check; write one or take the claim out of its .toml file")
        for mark, expected, marked in (
            ("refuted", "refuted", any(check.refutes for check in own)),
            ("depends_on_seed", "depends", any(check.depends for check in own)),
        ):
            if (claim.expect == expected) != marked:
                raise RegistryError(
                    f"claim {claim.id} is on record as {claim.expect!r}, and its checks say otherwise: "
                    f"the mark @{mark} belongs on a check of a claim with expect = {expected!r}, and on no other"
                )
    for page_id, figures in registry.figures.items():
        patterns = [pattern for check in by_claim[page_id] for pattern in check.figures]
        for check in by_claim[page_id]:
            for pattern in check.figures:
                if not any(pattern.fullmatch(name) for name in figures):
                    near = get_close_matches(pattern.pattern.replace("\\", ""), figures, 1) or list(figures)
                    raise RegistryError(
                        f"{check.id}, line {check.line}: measures {pattern.pattern!r}, and {page_id} has no such"
                        f" figure; it has {', '.join(map(repr, near))}"
                    )
        for name in figures:
            if not any(pattern.fullmatch(name) for pattern in patterns):
                raise RegistryError(
                    f"figure {name!r} of {page_id} is measured by no check of that claim;"
                    f" call measure({name!r}, …) in one"
                )


def _check(node: ast.FunctionDef, file: str, registry: Registry) -> Check:
    place = f"{file}::{node.name}, line {node.lineno}"
    marks = [mark.args for mark in node.decorator_list if isinstance(mark, ast.Call) and _name(mark.func) == "claim"]
    if len(marks) != 1:
        raise RegistryError(f'{place}: a check names its claim once, with @claim("…")')
    argument = marks[0][0] if marks[0] else None
    if not isinstance(argument, ast.Constant) or not isinstance(argument.value, str):
        raise RegistryError(f"{place}: the id in @claim must be a literal string")
    claim = argument.value
    if claim not in registry.claims:
        near = "; did you mean ".join(["", *get_close_matches(claim, registry.claims, 1)])
        raise RegistryError(f"{place}: {claim} is no claim of the registry{near}")
    stem, module = expected_name(claim), f"test_{registry.claims[claim].file}"
    if not re.fullmatch(rf"{stem}(__\w+)?", node.name) or Path(file).stem != module:
        raise RegistryError(
            f"{place}: the check of {claim} belongs in {module}.py under the name {stem}, or {stem}__ and a word more"
        )
    named = {_name(name) for mark in node.decorator_list for name in ast.walk(mark)}
    taken = {argument.arg for argument in (*node.args.args, *node.args.kwonlyargs)}
    called = {_name(call.func) for call in ast.walk(node) if isinstance(call, ast.Call)}
    return Check(
        f"{file}::{node.name}",
        node.lineno,
        claim,
        refutes="refuted" in named,
        depends="depends_on_seed" in named,
        decides=any(isinstance(name, ast.Name) and name.id == "decide" for name in ast.walk(node)),
        statistical="evidence" in taken or bool(called & STATISTICAL),
        evidence="evidence" in taken,
        figures=tuple(_figures(node)),
    )


def _name(node: ast.AST) -> str:
    """Return the last name of `claim` or `lesson_claims.claim`; empty for anything else."""
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def expected_name(claim: str) -> str:
    """Return the name that a check of the claim has, or starts with: `course.day1.label-rule` gives test_label_rule."""
    parts = claim.removesuffix(".corrected").split(".")
    return f"test_{parts[-1].replace('-', '_')}" + ("__corrected" if claim.endswith(".corrected") else "")


def _figures(node: ast.FunctionDef) -> Iterator[re.Pattern[str]]:
    """Yield a pattern for the name in each call of `measure`, `measure.each` and `measure.missing`."""
    for call in ast.walk(node):
        if not isinstance(call, ast.Call) or not call.args:
            continue
        called = ast.unparse(call.func)
        if called in ("measure", "measure.each", "measure.missing"):
            indexed = r"\[\d+\]" if called == "measure.each" else ""
            yield re.compile(_pattern(call.args[0]) + indexed)


def _pattern(name: ast.expr) -> str:
    if isinstance(name, ast.Constant):
        return re.escape(str(name.value))
    if isinstance(name, ast.JoinedStr):
        return "".join(_pattern(part) for part in name.values)
    return ".+"

"""The docs for authors: the tutorial works as it stands, and the tables name all there is."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import msgspec
import pytest

import lesson_claims
from lesson_claims.commands.where import COMMAND, page
from lesson_claims.controls import ControlTable, EditTable
from lesson_claims.project import _Settings, read_project
from lesson_claims.registry import (
    _AdditionTable,
    _ClaimTable,
    _CorrectedTable,
    _ErratumTable,
    _LessonTable,
    _PartTable,
    _UndecidedTable,
    load_registry,
)
from lesson_claims.results.columns import CONTROLS, JUDGEMENTS, PLATFORMS, STATEMENTS, TABLES, TRENDS, Column
from lesson_claims.results.drift_tables import DriftInfo
from lesson_claims.results.run_info import RunInfo

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"

FENCE = re.compile(r"^```([^`\n]+)\n(?::caption: ([^\n]+)\n)?(.*?)^```$", re.MULTILINE | re.DOTALL)


class Block(NamedTuple):
    """A block of code on a page."""

    language: str
    caption: str
    text: str


def blocks(page: Path) -> list[Block]:
    found = FENCE.findall(page.read_text(encoding="utf-8"))
    return [Block(language.rpartition(" ")[2], caption, text) for language, caption, text in found]


def write(folder: Path, block: Block) -> None:
    name, _, how = block.caption.partition(" ")
    path = folder / name
    path.parent.mkdir(exist_ok=True)
    before = path.read_text(encoding="utf-8") if how == "(add)" else ""
    gap = "\n\n" if before and path.suffix == ".py" else "\n" if before and path.suffix == ".toml" else ""
    path.write_text(before + gap + block.text, encoding="utf-8")


def commands(folder: Path) -> dict[str, str]:
    """Make the commands of this tree available under their names, and return the environment that finds them."""
    folder.mkdir()
    engine = folder / "engine"  # alone, because the root has a package `lessons` of its own
    engine.mkdir()
    (engine / "lesson_claims").symlink_to(ROOT / "lesson_claims")
    for name, module in (("pytest", "pytest"), ("lesson-claims", "lesson_claims")):
        script = folder / name
        script.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m {module} "$@"\n', encoding="utf-8")
        script.chmod(0o755)
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "COV_"))}
    return environment | {
        "PATH": f"{folder}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(engine),
        "PYTEST_XDIST_AUTO_NUM_WORKERS": "0",  # the docs' claims are few; workers have tests of their own
        "COLUMNS": "200",
    }


def test_the_tutorial_works_as_it_stands(tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    environment = commands(tmp_path / "bin")
    output, ran = "", 0
    for block in blocks(DOCS / "tutorial.md"):
        if block.caption:
            write(project, block)
        elif block.language == "sh":
            done = subprocess.run(
                ["sh", "-c", block.text],
                cwd=project,
                env=environment,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                check=False,
            )
            output, ran = done.stdout, ran + 1
        elif block.language == "text":
            at = 0
            for line in block.text.splitlines():
                found = re.compile(re.escape(line.strip()).replace("…", ".*")).search(output, at)
                assert found, f"the docs say {line!r}, and the command says\n{output}"
                at = found.end()
    assert ran == len([block for block in blocks(DOCS / "tutorial.md") if block.language == "sh"]) > 5


RAISED = {"ControlError", "DeviceError", "FigureFileError", "LooksError", "ProjectError", "RecordedError",
          "RegistryError", "RunStoreError", "SettingsError", "UsageError"}  # fmt: skip
"""The errors whose messages an author meets before and while checks run: the docs explain each."""


def pattern(node: ast.AST) -> str:
    """Return the text of a string in the source, with … for what is put in."""
    if isinstance(node, ast.JoinedStr):
        return "".join(str(part.value) if isinstance(part, ast.Constant) else "…" for part in node.values)
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def explained_messages() -> list[str]:
    page = (DOCS / "messages.md").read_text(encoding="utf-8")
    return re.findall(r"^\| `(.+?)` \|", page, re.MULTILINE)


def test_every_message_is_explained_and_none_that_is_gone() -> None:
    texts: set[str] = set()
    raised: set[str] = set()
    for path in (ROOT / "lesson_claims").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            texts.add(pattern(node))
            if isinstance(node, ast.Call) and ast.unparse(node.func).split(".")[-1] in RAISED and node.args:
                raised.add(pattern(node.args[0]))
    explained = explained_messages()
    assert len(explained) > 50
    gone = [message for message in explained if not any(message in text for text in texts)]
    missing = [text for text in raised - {""} if not any(message in text for message in explained)]
    assert not gone
    assert not missing


def described(page: Path, heading: str) -> set[str]:
    """Return the names in the first column of the table under a heading."""
    section = page.read_text(encoding="utf-8").split(f"### {heading}\n", 1)[1].split("\n#", 1)[0]
    cells = re.findall(r"^\| (`.+?) \|", section, re.MULTILINE)
    return {name for cell in cells for name in re.findall(r"`(\w+)`", cell)}


@pytest.mark.parametrize(
    ("file", "columns"),
    [
        *((f"{name}.csv", columns) for name, columns in TABLES.items()),
        ("statements.csv", STATEMENTS),
        ("drift.csv", JUDGEMENTS),
        ("trends.csv", TRENDS),
        ("platforms.csv", PLATFORMS),
        ("controls.csv", CONTROLS),
    ],
)
def test_every_column_is_described(file: str, columns: tuple[Column, ...]) -> None:
    assert described(ROOT / "reports" / "README.md", file) == {column.name for column in columns}


@pytest.mark.parametrize(("file", "fields"), [("run.json", RunInfo), ("drift.json", DriftInfo)])
def test_every_field_is_described(file: str, fields: type[msgspec.Struct]) -> None:
    assert described(ROOT / "reports" / "README.md", file) == set(fields.__struct_fields__)


@pytest.mark.parametrize(
    ("page", "table", "structure"),
    [
        ("lesson-files.md", "setting", _Settings),
        ("lesson-files.md", "field of `[lesson]`", _LessonTable),
        ("lesson-files.md", "field of `[part]`", _PartTable),
        ("lesson-files.md", "field of `[[claim]]`", _ClaimTable),
        ("lesson-files.md", "field of `[claim.corrected]`", _CorrectedTable),
        ("lesson-files.md", "field of `[claim.addition]` and `[claim.erratum]`", _AdditionTable),
        ("lesson-files.md", "field of `[claim.addition]` and `[claim.erratum]`", _ErratumTable),
        ("lesson-files.md", "field of `[[undecided]]`", _UndecidedTable),
        ("controls.md", "field of `[[claim.control]]`", ControlTable),
        ("controls.md", "field of an edit", EditTable),
    ],
)
def test_every_field_of_a_lesson_is_described(page: str, table: str, structure: type[msgspec.Struct]) -> None:
    text = (DOCS / page).read_text(encoding="utf-8").split(f"| {table} |", 1)[1].split("\n\n", 1)[0]
    cells = re.findall(r"^\| (`.+?) \|", text, re.MULTILINE)
    names = {name for cell in cells for name in re.findall(r"`(\w+)`", cell)}
    assert names == set(structure.__struct_encode_fields__) - {"corrected", "erratum", "addition", "control"}


def test_the_readme_counts_what_the_registry_has() -> None:
    """What the numbers of the README are of, whatever the sentence around them."""
    registry = load_registry(read_project(ROOT))
    claims = registry.claims.values()
    own = sum(claim.is_of_the_page for claim in claims)
    undecided = len(registry.undecided)
    figures = sum(len(each) for each in registry.figures.values())
    corrected, ours = sum(claim.is_corrected for claim in claims), sum(claim.ours for claim in claims)
    text = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
    for said in (
        f"print {figures} figures",
        f"make {own + undecided} statements: {own} claims, and {undecided} sentences that can't be decided here",
        f"each of the {own + undecided} statements",
        f"the {corrected} corrected claims, and {ours} claim{'' if ours == 1 else 's'} of ours",
    ):
        assert said in text


def test_the_page_of_code_is_current() -> None:
    assert (DOCS / "where.md").read_text(encoding="utf-8") == page(ROOT), f"{COMMAND} > docs/where.md"


def test_every_public_name_is_in_the_reference() -> None:
    text = (DOCS / "reference.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^\.\. auto\w+:: lesson_claims\.[\w.]+\.(\w+)", text, re.MULTILINE)) == set(
        lesson_claims.__all__
    )

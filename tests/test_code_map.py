"""The table of code: what a check uses of the lessons' code, read from its source."""

from __future__ import annotations

from pathlib import Path

import pytest

from lesson_claims.command_line import main
from lesson_claims.commands.where import page

LESSON = """
[lesson]
id = "a"
title = "A | lesson"

[[claim]]
id = "a.x"
where = "the text"
says = "It is so."
kind = "exact"
expect = "refuted"
reason = "Seen."

[claim.corrected]
says = "It is not."
kind = "exact"
suggest = "It is not."

[[claim]]
id = "a.y"
where = "the end"
says = "So is this."
kind = "exact"
expect = "holds"
ours = true
"""

CHECKS = """
from lesson_claims import claim, refuted
import lessons.whole
import numpy as np
from lessons.data import LENGTHS, rows as drawn, unused
from lessons.models import net, other


CASES = {"short": LENGTHS}


def helper():
    return drawn(CASES)


@claim("a.x")
@refuted
def test_x(measure):
    measure("size[0]", helper())


@claim("a.x.corrected")
def test_x__corrected(measure):
    net = other
    measure("size[1]", net())


@claim("a.y")
def test_y(decide):
    decide(np.ones(3), lessons.whole.three())
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "claims"
    folder.mkdir()
    (folder / "a.toml").write_text(LESSON, encoding="utf-8")
    figures = "claim,figure,printed,kind,where\na.x,size[0],3,exact,the text\na.x,size[1],4,exact,the text\n"
    (folder / "a_figures.csv").write_text(figures, encoding="utf-8")
    (folder / "test_a.py").write_text(CHECKS, encoding="utf-8")
    return tmp_path


def rows(text: str) -> list[list[str]]:
    lines = [line for line in text.splitlines() if line.startswith("| *")]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]


def test_a_check_uses_what_it_and_its_helpers_name(project: Path) -> None:
    first, second = rows(page(project))
    assert first == [
        "*The text.* It is so.",
        "`lessons.data`: `LENGTHS`, `rows`<br>`lessons.models`: `net`, `other`",
        "`test_x`<br>`test_x__corrected`",
        "size (2 numbers)",
    ]
    assert second == ["*The end.* So is this. (Ours; not on the page.)", "`lessons.whole`", "`test_y`", "–"]


def test_nothing_is_run_and_no_title_is_markup(project: Path) -> None:
    text = page(project)
    assert "## A \\| lesson" in text
    assert "`claims/test_a.py`" in text
    assert "unused" not in text


def test_the_command_prints_the_page(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["where", "--root", str(project)]) == 0
    assert capsys.readouterr().out == page(project)


@pytest.mark.parametrize(
    ("file", "text", "said"),
    [
        ("claims/a.toml", "[lesson", "a.toml: cannot be read"),
        ("claims/test_a.py", "def", "test_a.py: cannot be read"),
        ("pyproject.toml", "[tool", "pyproject.toml: cannot be read"),
    ],
)
def test_what_cannot_be_read_is_told_in_a_line(
    project: Path, capsys: pytest.CaptureFixture[str], file: str, text: str, said: str
) -> None:
    (project / file).write_text(text, encoding="utf-8")
    assert main(["where", "--root", str(project)]) == 2
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1

"""The example: its code prints what the page shows, its figures stand in that, and its checks can fail."""

from __future__ import annotations

import contextlib
import csv
import io
import re
from pathlib import Path

import pytest

from lesson_claims.command_line import main

EXAMPLE = Path(__file__).parent.parent / "examples" / "gradient-descent"
BLOCKS = re.compile(r"```python\n(?P<code>.*?)```\n\n```text\n(?P<printed>.*?)```", re.DOTALL)


def blocks() -> list[re.Match[str]]:
    return list(BLOCKS.finditer((EXAMPLE / "page.md").read_text(encoding="utf-8")))


def test_the_code_of_the_page_prints_what_the_page_shows() -> None:
    names: dict[str, object] = {}
    for block in blocks():
        output = io.StringIO()
        with contextlib.redirect_stdout(output):
            exec(block["code"], names)  # noqa: S102  our own page
        assert output.getvalue() == block["printed"]


def test_no_code_of_the_page_is_left_out() -> None:
    assert len(blocks()) == (EXAMPLE / "page.md").read_text(encoding="utf-8").count("```python") > 0


def test_every_figure_stands_on_the_page_and_every_printed_number_is_a_figure() -> None:
    with (EXAMPLE / "claims" / "descent_figures.csv").open(newline="", encoding="utf-8") as file:
        figures = [row["printed"] for row in csv.DictReader(file)]
    printed = "".join(re.sub(r"mean \d:", "", block["printed"]) for block in blocks())
    assert sorted(re.findall(r"-?\d+(?:\.\d+)?", printed)) == sorted(figures)


def test_every_claim_of_the_example_has_a_control_and_each_is_caught(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["controls", "--root", str(EXAMPLE), "--results", str(tmp_path / "controls.csv")]) == 0
    assert "7 of 7 claims have a control; 7 of 7 controls caught" in capsys.readouterr().out

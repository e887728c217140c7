"""A small project with claims of its own, in which the tests of the plugin run pytest."""

from __future__ import annotations

import csv
import json
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent

LESSON = """
[lesson]
id = "course"
title = "A course"
"""

CLAIMS = """
[part]
lesson = "course"
id = "day1"
name = "Day 1"
title = "a day"

[[claim]]
id = "course.day1.sizes"
where = "the first table"
says = "There are 3 rows, and a third is .33."
kind = "exact"
expect = "holds"

[[claim]]
id = "course.day1.always"
where = "the text"
says = "It always holds."
kind = "behaviour"
expect = "refuted"
reason = "It does not at 3."

[claim.corrected]
says = "It holds but at 3."
kind = "behaviour"
suggest = "It holds but at {exception}."
"""

FIGURES = """claim,figure,printed,kind,decimals,where
course.day1.sizes,rows,3,exact,,day 1
course.day1.sizes,third,.33,float,2,day 1
"""

CHECKS = """
import pytest
from lesson_claims import claim, refuted, that

@claim("course.day1.sizes")
def test_sizes(measure):
    measure("rows", 3)
    measure("third", 1 / 3)

@claim("course.day1.always")
@refuted
@pytest.mark.parametrize("n", [3])
def test_always(decide, n):
    decide(that(n != 3, f"At {n} it fails."))

@claim("course.day1.always.corrected")
@pytest.mark.parametrize("n", [1, 2, 4])
def test_always__corrected(decide, measure, n):
    decide(that(n != 3, f"At {n} it holds."))
    if n == 4:
        measure.also("exception", 3)
"""

TOY = """
from dataclasses import dataclass
from typing import ClassVar

@dataclass(frozen=True)
class Toy:
    '''Wins at the seeds whose sign in the pattern, which repeats, is +; the page's seed, 0, gives `page`.'''

    pattern: str = "+"
    page: float = 0.9

    def run(self, seed):
        won = self.pattern[(seed - 1) % len(self.pattern)] == "+"
        return {"value": float(won) if seed else self.page, "seed": seed}

@dataclass(frozen=True)
class Constant:
    value: float = 0.9

    def run(self, seed):
        return {"value": self.value}

@dataclass(frozen=True)
class Seedless(Constant):
    seedless: ClassVar[bool] = True
"""

TOY_CHECKS = """
import pytest
from lesson_claims import beats, claim, depends_on_seed, equivalent, refuted, that
from toy import Constant, Seedless, Toy

"""


def toy_check(name: str, body: str, marks: str = "", parameters: str = "") -> str:
    """Return a check of the claim `course.day1.NAME` with this body."""
    taken = ", ".join(["measure", "decide", "evidence", *([parameters] if parameters else [])])
    lines = "".join(f"    {line}\n" for line in textwrap.dedent(body).strip().splitlines())
    return f'@claim("course.day1.{name}")\n{marks}def test_{name}({taken}):\n{lines}\n'


def more_than_half(pattern: str) -> str:
    """Return the body of a check: that a toy wins in more than half of all seeds."""
    return f'decide(beats(evidence(Toy("{pattern}"))["value"], 0.5))'


def forget_the_checks(_snapshot: object) -> None:
    """Stand in for pytester's forgetting of all that a run imported.

    Compiled modules do not survive a second import. The checks must go, for the next project has others of the same
    names.
    """
    for name in [name for name in sys.modules if name.startswith("claims.test_") or name in ("conftest", "toy")]:
        del sys.modules[name]


class Project:
    """The small project: change a file, run pytest, look at the report."""

    def __init__(self, pytester: pytest.Pytester) -> None:
        self.pytester = pytester
        self.write("claims/course.toml", LESSON)
        self.write("claims/course_day1.toml", CLAIMS)
        self.write("claims/course_figures.csv", FIGURES)
        self.write("claims/test_course_day1.py", CHECKS)
        self.write("conftest.py", (ROOT / "conftest.py").read_text(encoding="utf-8"))
        self.write(
            "pytest.ini",
            f"[pytest]\npythonpath = {ROOT}\ntestpaths = claims\n"
            "addopts = --import-mode=importlib -p no:cacheprovider\n",
        )

    def write(self, name: str, content: str) -> Path:
        path = self.pytester.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(content), encoding="utf-8")
        return path

    def toy(self, claims: dict[str, str], checks: str, figures: str = "") -> None:
        """Put other claims in the place of those there are, about runs of recipes that a test can foresee.

        Args:
            claims: what is on record for each, by its name.
            checks: source of their checks; those of corrected claims, which a refuted claim has, are made here.
            figures: rows of the figures file.
        """
        entries, corrected = [], ""
        for name, expect in claims.items():
            entry = f'[[claim]]\nid = "course.day1.{name}"\nwhere = "here"\nsays = "{name}"\nkind = "ordering"\n'
            entry += f'expect = "{expect}"\n'
            if expect == "refuted":
                entry += 'reason = "So."\n[claim.corrected]\nsays = "Not so."\nkind = "ordering"\nsuggest = "Not so."\n'
                corrected += f'@claim("course.day1.{name}.corrected")\ndef test_{name}__corrected(decide):\n'
                corrected += '    decide(that(True, "It is not so."))\n\n'
            entries.append(entry)
        self.write("lessons/toy.py", TOY)
        self.write("claims/course_day1.toml", CLAIMS.split("[[claim]]")[0] + "\n".join(entries))
        self.write("claims/course_figures.csv", f"claim,figure,printed,kind,where,tolerance\n{figures}")
        self.write("claims/test_course_day1.py", TOY_CHECKS + checks + corrected)
        ini = self.pytester.path / "pytest.ini"
        ini.write_text(ini.read_text().replace(f"pythonpath = {ROOT}\n", f"pythonpath = {ROOT} lessons\n"))

    def replace(self, name: str, old: str, new: str) -> None:
        path = self.pytester.path / name
        text = path.read_text(encoding="utf-8")
        assert old in text
        path.write_text(text.replace(old, new), encoding="utf-8")

    def run(self, *arguments: str) -> pytest.RunResult:
        """Run in this process, which saves a fresh import of torch."""
        return self.pytester.runpytest_inprocess(*arguments)

    def run_apart(self, *arguments: str) -> pytest.RunResult:
        """Run in a process of its own, as workers need."""
        return self.pytester.runpytest_subprocess(*arguments)

    @property
    def report(self) -> Path:
        return self.pytester.path / "reports" / "latest"

    def rows(self, table: str) -> list[dict[str, str]]:
        with (self.report / f"{table}.csv").open(newline="", encoding="utf-8") as file:
            return list(csv.DictReader(file))

    def verdicts(self) -> dict[str, str]:
        return {row["claim"]: row["verdict"] for row in self.rows("claims")}

    def claim(self, name: str) -> dict[str, str]:
        """Return the row of the claim `course.day1.NAME`."""
        (row,) = [row for row in self.rows("claims") if row["claim"] == f"course.day1.{name}"]
        return row

    def agreements(self) -> dict[str, str]:
        return {row["figure"]: row["agreement"] for row in self.rows("measurements")}

    @property
    def info(self) -> dict[str, Any]:
        content: dict[str, Any] = json.loads((self.report / "run.json").read_text(encoding="utf-8"))
        return content

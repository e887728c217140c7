"""A small project with controls of every kind, for the tests of `lesson-claims controls`."""

from __future__ import annotations

import csv
from pathlib import Path

PYPROJECT = '[tool.pytest.ini_options]\ntestpaths = ["claims"]\naddopts = ["--import-mode=importlib"]\n'
CONFTEST = 'pytest_plugins = ["lesson_claims.plugin"]\n'

CODE = '''"""The lesson's code."""

import math
from dataclasses import dataclass

PATTERN = "+"  # for the ordering
TURNS = "+-"  # for the draw
VALUE = 0.5  # for the figure


def after(x):
    return x + 1


def half(x):
    return x / 2


def root(x):
    return math.sqrt(x)


@dataclass(frozen=True)
class Toy:
    """Wins at the seeds whose sign in the pattern, which repeats, is +; the page's seed, 0, gives `page`."""

    pattern: str
    page: float

    def run(self, seed):
        won = self.pattern[(seed - 1) % len(self.pattern)] == "+"
        return {"value": math.fabs(won) if seed else self.page, "seed": seed}
'''

STAND_INS = '''"""What stands in for the libraries' functions."""


def halved(original):
    return lambda x: original(x) / 2


def nothing(original):
    return lambda x: 0.0
'''

CLAIMS = {"after": "holds", "more": "holds", "always": "refuted", "wins": "holds", "draw": "depends",
          "printed": "holds", "run": "holds", "both": "holds", "root": "holds", "never": "holds"}  # fmt: skip

FIGURES = """claim,figure,printed,kind,where
a.printed,half of 3,1.5,exact,here
a.always,after 3,4,exact,here
a.run,value,0.50,trained,here
a.both,value,0.50,trained,here
"""

CHECKS = """
from lesson_claims import beats, claim, depends_on_seed, refuted, that
from lessons.code import PATTERN, TURNS, VALUE, Toy, after, half, root

@claim("a.after")
def test_after(decide):
    decide(that(after(1) == 2, "2 comes after 1."))

@claim("a.more")
def test_more(decide):
    decide(that(after(1) > 1, "It is more."))

@claim("a.always")
@refuted
def test_always(decide, measure):
    measure("after 3", after(3))
    decide(that(after(3) == 5, "5 comes after 3."))

@claim("a.always")
def test_always__beside(decide):
    decide(that(True, "This says nothing."))

@claim("a.always.corrected")
def test_always__corrected(decide):
    decide(that(after(3) == 4, "4 comes after 3."))

@claim("a.wins")
def test_wins(decide, evidence):
    decide(beats(evidence(Toy(PATTERN, 1.0))["value"], 0.5))

@claim("a.draw")
@depends_on_seed
def test_draw(decide, evidence):
    decide(beats(evidence(Toy(TURNS, 1.0))["value"], 0.5))

@claim("a.draw")
def test_draw__beside(decide):
    decide(that(half(2) == 1, "Half of 2 is 1."))

@claim("a.printed")
def test_printed(measure):
    measure("half of 3", half(3))

@claim("a.run")
def test_run(measure, evidence):
    measure("value", evidence(Toy("+", VALUE))["value"])

@claim("a.both")
def test_both(measure, decide, evidence):
    sample = evidence(Toy("+", VALUE))["value"]
    measure("value", sample)
    decide(beats(sample, 0.5))

@claim("a.root")
def test_root(decide):
    decide(that(root(9) == 3, "The root of 9 is 3."))

@claim("a.never")
def test_never(decide):
    decide(that(True, "Nothing can change this."))
"""

CONTROLS = {
    "after": [
        ("is one too much", "return x + 1", "return x + 2", "a.printed"),
        ("is the same", "return x + 1", "return 1 + x", ""),
        ("breaks down", "return x + 1", "return x + None", ""),
        ("cannot be imported", "return x + 1", "return x +", ""),
        ("does not end", "return x + 1", "while True: pass", ""),
        ("is one too little", "return x + 1", "return x - 1", "a.more"),
    ],
    "always": [("is two", "return x + 1", "return x + 2", "")],
    "always.corrected": [("is two", "return x + 1", "return x + 2", "")],
    "wins": [
        ("loses", 'PATTERN = "+"', 'PATTERN = "-"', ""),
        ("is as good", 'PATTERN = "+"', 'PATTERN = "+-"', ""),
    ],
    "draw": [("wins", 'TURNS = "+-"', 'TURNS = "+"', ""), ("is as before", "x / 2", "x * 0.5", "")],
    "printed": [("is a third", "return x / 2", "return x / 3", "")],
    "run": [("is another number", "VALUE = 0.5", "VALUE = 0.9", "")],
    "both": [("is another number", "VALUE = 0.5", "VALUE = 0.9", "")],
}

STAND_IN = """
[[claim.control]]
breaks = "the root is half as long"
stand_in = "math.sqrt"
with = "claims.stand_ins:halved"

[[claim.control]]
breaks = "there is no such function"
stand_in = "math.no_such.function"
with = "claims.stand_ins:halved"
"""


def control(breaks: str, replace: str, by: str, also: str = "", table: str = "claim.control") -> str:
    text = f"[[{table}]]\nbreaks = '{breaks}'\nin = 'lessons/code.py'\nreplace = '{replace}'\nwith = '{by}'\n"
    return text + (f'also = ["{also}"]\n' if also else "")


def claims_file(controls: dict[str, list[tuple[str, str, str, str]]], stand_in: str = STAND_IN) -> str:
    text = '[lesson]\nid = "a"\ntitle = "A"\n'
    for name, expect in CLAIMS.items():
        text += f'[[claim]]\nid = "a.{name}"\nwhere = "here"\nsays = "{name}"\nkind = "exact"\nexpect = "{expect}"\n'
        text += 'reason = "So."\n' if expect == "refuted" else ""
        text += "".join(control(*each) for each in controls.get(name, ()))
        if expect == "refuted":
            text += '[claim.corrected]\nsays = "Not so."\nkind = "exact"\nsuggest = "Not so."\n'
            corrected = controls.get(f"{name}.corrected", ())
            text += "".join(control(*each, table="claim.corrected.control") for each in corrected)
        text += stand_in if name == "root" else ""
    return text


def write_project(root: Path, claims: str) -> Path:
    files = {
        "pyproject.toml": PYPROJECT,
        "conftest.py": CONFTEST,
        "lessons/__init__.py": "",
        "lessons/code.py": CODE,
        "claims/stand_ins.py": STAND_INS,
        "claims/a.toml": claims,
        "claims/a_figures.csv": FIGURES,
        "claims/test_a.py": CHECKS,
    }
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return root


def results(file: Path) -> dict[tuple[str, str], dict[str, str]]:
    with file.open(newline="", encoding="utf-8") as lines:
        return {(row["claim"].removeprefix("a."), row["breaks"]): row for row in csv.DictReader(lines)}

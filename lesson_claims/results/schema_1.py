"""Runs of schema 1, which are still read: their tables and `run.json` become those of today.

In schema 1 the part of a lesson was the beginning of a claim's `where` ("Day 3, pooling"), a part was one text
("Day 3 — pooling"), a corrected claim was known by its id, a check's source by its name without parameters, and the
changes of a night in trends.csv were one text. Nowhere else is a text taken apart to learn what it is about.
"""

import re
from collections.abc import Mapping
from typing import Any

import msgspec
import pandas as pd

from lesson_claims.results import schema_2
from lesson_claims.results.columns import JUDGEMENTS as JUDGEMENTS_2
from lesson_claims.results.columns import TRENDS as TRENDS_2
from lesson_claims.results.columns import Column
from lesson_claims.results.files import checked
from lesson_claims.results.run_info import Common
from lesson_claims.results.run_name import kept_name

_CORRECTED = ".corrected"
_CLAIMS = ("claim", "lesson", "where", "statement", "kind", "verdict", "expected", "changed", "seeds", "evidence",
           "controls", "checks", "seconds")  # fmt: skip


def _named(columns: tuple[Column, ...], names: tuple[str, ...]) -> tuple[Column, ...]:
    known = {column.name: column for column in columns}
    return tuple(known.get(name, Column(name)) for name in names)


TABLES: dict[str, tuple[Column, ...]] = {
    **schema_2.TABLES,
    "claims": _named(schema_2.TABLES["claims"], _CLAIMS),
    "errata": tuple(column for column in schema_2.TABLES["errata"] if column.name != "part"),
}
JUDGEMENTS = tuple(column for column in JUDGEMENTS_2 if column.name != "when")
TRENDS = (
    *(column for column in TRENDS_2 if column.name not in ("environment", "accepted", "drifted")),
    Column("note"),
)


class _Lesson(msgspec.Struct):
    title: str
    parts: list[str]


class _Info(Common, kw_only=True):
    lessons: dict[str, _Lesson] = msgspec.field(default_factory=dict)
    since: dict[str, Any] = msgspec.field(default_factory=dict)
    withheld: list[dict[str, Any]] = msgspec.field(default_factory=list)


def convert_run(
    content: Any, tables: Mapping[str, pd.DataFrame], where: str
) -> tuple[dict[str, Any], dict[str, pd.DataFrame], str]:
    """Return run.json and the tables in the form of today, and the name that histories know the run by.

    `tables` have the columns of `TABLES` here. The name is empty where the run does not say when it started.
    Raises ReportError where run.json does not fit schema 1.
    """
    info = checked(content, _Info, where)
    name = kept_name(info, tables)
    parts = {lesson: [_part(text) for text in about["parts"]] for lesson, about in info["lessons"].items()}
    lesson_of = dict(zip(tables["claims"]["claim"], tables["claims"]["lesson"], strict=True))

    def placed(row: Mapping[str, Any]) -> dict[str, Any]:
        """Take the part out of `where`."""
        part, _, rest = str(row.get("where", "")).partition(",")
        known = [each["name"] for each in parts.get(lesson_of.get(row.get("claim", ""), ""), ())]
        return {**row, "part": part, "where": rest.strip()} if part in known else {**row, "part": ""}

    claims = [
        {**placed(row), "instead_of": _corrected_by(row["claim"], lesson_of)}
        for row in tables["claims"].to_dict("records")
    ]
    errata = [placed(row) for row in tables["errata"].to_dict("records")]
    converted = {
        **tables,
        "claims": _frame("claims", claims, tables["claims"]),
        "errata": _frame("errata", errata, tables["errata"]),
    }
    lessons = {lesson: {**about, "parts": parts[lesson]} for lesson, about in info["lessons"].items()}
    checks = [check for table in ("measurements", "decisions") for check in tables[table]["check"] if check]
    source = {check: place for check in checks if (place := info["source"].get(check.partition("[")[0]))}
    since = info.pop("since")
    info = {**info, "lessons": lessons, "previous": since or None, "source": {**info["source"], **source}}
    today, columns, _ = schema_2.convert_run(info, converted, where)
    return today, columns, name


def convert_judgements(judgements: pd.DataFrame) -> pd.DataFrame:
    """Return a table of today's columns: the time of a change was part of the name of the run."""
    return judgements.assign(when=judgements["since"].map(_time))[[column.name for column in JUDGEMENTS_2]]


def convert_trends(trends: pd.DataFrame) -> pd.DataFrame:
    """Return a table of today's columns from one whose `note` says all: environment, acceptances, drift."""
    notes = trends["note"].astype(str)
    drifted = notes.str.fullmatch(r"(.*; )?drifted", flags=re.DOTALL).astype(bool)
    before = notes.str.removesuffix("drifted").str.removesuffix("; ").where(drifted, notes)
    split = [_split(note) for note in before]
    return trends.assign(
        environment=pd.Series([environment for environment, _ in split], index=trends.index, dtype=object),
        accepted=pd.Series([accepted for _, accepted in split], index=trends.index, dtype=object),
        drifted=drifted,
    )[[column.name for column in TRENDS_2]]


def _part(text: str) -> dict[str, str]:
    name, _, title = text.partition(" — ")
    return {"name": name.strip(), "title": title.strip()}


def _corrected_by(claim: str, known: Mapping[str, str]) -> str:
    """Return the id of the claim in whose place this one stands; empty for a claim of the page."""
    page = claim.removesuffix(_CORRECTED)
    return page if page != claim and page in known else ""


def _frame(name: str, rows: list[dict[str, Any]], like: pd.DataFrame) -> pd.DataFrame:
    """Build a table of today's columns; columns that schema 1 has keep their type."""
    columns = [column.name for column in schema_2.TABLES[name]]
    return pd.DataFrame(
        {key: pd.Series([row[key] for row in rows], dtype=like[key].dtype if key in like else object)
         for key in columns}
    )  # fmt: skip


def _time(run: str) -> str:
    """Return the time in the name of a run, ISO 8601; other text as it is."""
    found = re.match(r"(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)", run)
    return "{}-{}-{}T{}:{}:{}+00:00".format(*found.groups()) if found else run


def _split(note: str) -> tuple[str, str]:
    """Split a note into what it says of the environment and the reasons of acceptance."""
    found = re.search(r"(?:^|; )accepted: ", note)
    if not found:
        return note, ""
    return note[: found.start()], note[found.end() :].replace("; accepted: ", "; ")

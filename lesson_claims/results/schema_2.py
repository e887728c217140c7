"""Runs of schema 2, which are still read: their tables and `run.json` become those of today.

Their verdicts were corrected for multiple tests over the whole run: decisions.csv kept what each test said alone, and
run.json the errata that had to wait. A verdict is now what its own test says, so both are left out. Wins, the platforms
of a trained figure and the type of a measured value were not kept.
"""

from collections.abc import Mapping
from typing import Any

import msgspec
import pandas as pd

from lesson_claims.results.columns import TABLES as TABLES_3
from lesson_claims.results.columns import Column
from lesson_claims.results.files import checked
from lesson_claims.results.run_info import SCHEMA, Common, Lesson, Previous, checked_info
from lesson_claims.results.run_name import kept_name

_NEW = {
    "claims": ("ours", "wins", "facts", "controls"),
    "measurements": ("type", "page_low", "page_high", "platforms", "digits"),
    "decisions": ("wins",),
    "errata": ("remark", "evidence_for_truth"),
}
_RETIRED = {"decisions": (Column("needed", "integer"), Column("alone"), Column("alone_sentence"))}

TABLES: dict[str, tuple[Column, ...]] = {
    name: (*(column for column in columns if column.name not in _NEW.get(name, ())), *_RETIRED.get(name, ()))
    for name, columns in TABLES_3.items()
}


class _Info(Common, kw_only=True):
    withheld: list[dict[str, Any]] = msgspec.field(default_factory=list)
    lessons: dict[str, Lesson] = msgspec.field(default_factory=dict)
    previous: Previous | None = None
    see: dict[str, list[str]] = msgspec.field(default_factory=dict)
    repository: str = ""


def convert_run(
    content: Any, tables: Mapping[str, pd.DataFrame], where: str
) -> tuple[dict[str, Any], dict[str, pd.DataFrame], str]:
    """Return run.json and the tables in the form of today, and the name that histories know the run by.

    `tables` have the columns of `TABLES` here. The name is empty where the run does not say when it started.
    Raises ReportError where run.json does not fit schema 2.
    """
    info = checked(content, _Info, where)
    name = kept_name(info, tables)
    del info["withheld"]
    info = {**info, "schema": SCHEMA, "partial": bool(info["selected"])}
    return checked_info(info, where), {each: _todays(each, table) for each, table in tables.items()}, name


def _todays(name: str, table: pd.DataFrame) -> pd.DataFrame:
    """Return a table of today's columns, in which what was not kept is missing."""
    missing = {
        column.name: pd.Series(
            [{"text": "", "flag": False}.get(column.type)] * len(table),
            table.index,
            dtype=bool if column.type == "flag" else object,
        )
        for column in TABLES_3[name]
        if column.name not in table
    }
    return table.assign(**missing)[[column.name for column in TABLES_3[name]]]

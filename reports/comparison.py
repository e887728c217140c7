"""What `python -m reports drift` leaves beside a run's tables, written and read back for the run's pages.

`drift.json` says what was compared with what, `drift.csv` what was found, `trends.csv` how the figures went. They are
about one run: beside the tables of another one, which a later session has written over them, they say nothing.
"""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import pandas as pd

from reports.errors import ReportError
from reports.history import run_name
from reports.tables import Column, Run, read_json, read_table

SCHEMA = 1
AGAIN = "run python -m reports drift again, or delete drift.json"
FINDINGS = (
    Column("claim", needed=True),
    *(Column(name) for name in ("figure", "kind")),
    Column("state", needed=True),
    Column("new", "flag", needed=True),
    *(Column(name) for name in ("sentence", "since", "cause")),
)
TRENDS = (
    *(Column(name, needed=True) for name in ("claim", "figure", "run", "when")),
    Column("value", "number", needed=True),
    *(Column(name, "number") for name in ("low", "high", "baseline_low", "baseline_high")),
    Column("note"),
)
_INFO: dict[str, type] = {"run": str, "compared": int, "baseline": str, "environment": list}

Row = Mapping[str, Any]


@dataclass(frozen=True)
class Comparison:
    """A run compared with its history.

    Attributes:
        run: the run's name in the history.
        compared: how many earlier runs there were; with none, nothing was compared.
        baseline: when the newest of the claims' baselines began, ISO 8601.
        environment: what differs from the run before, a text each.
        findings: rows of `FINDINGS`, one per claim and figure, in the run's order.
        trends: a table of `TRENDS`, one row per figure and run, oldest first.
    """

    run: str
    compared: int
    baseline: str
    environment: Sequence[str]
    findings: Sequence[Row]
    trends: pd.DataFrame

    @property
    def new(self) -> list[Row]:
        """The findings that are new in this run and need a look."""
        return [finding for finding in self.findings if finding["new"]]

    @property
    def open(self) -> list[Row]:
        """Older changes that nobody has accepted yet."""
        return [finding for finding in self.findings if finding["state"] == "drifted" and not finding["new"]]

    @property
    def numerics(self) -> list[Row]:
        """Figures that moved on the same numerics, by no more than is allowed."""
        return [finding for finding in self.findings if finding["state"] == "numerics changed"]

    @property
    def headline(self) -> str:
        """The result in a sentence or two."""
        if not self.compared:
            return "Nothing to compare with yet: the history has no other run of this kind of device."
        runs = f"{self.compared} earlier run{'' if self.compared == 1 else 's'}"
        new, older = len(self.new), len(self.open)
        if not new and not older:
            return f"Nothing drifted since the baseline of {day(self.baseline)} (compared with {runs})."
        said = [f"{new} change{' is' if new == 1 else 's are'} new in this run"] if new else ["Nothing new drifted"]
        if older:
            said.append(f"{older} older change{' is' if older == 1 else 's are'} not accepted yet")
        return f"{'; '.join(said)} (compared with {runs})."


def day(text: str) -> str:
    """Return the day, as 2026-01-31, of a time in ISO 8601 or of the name of a run; other text as it is."""
    found = re.match(r"(\d{4})-?(\d\d)-?(\d\d)T", text)
    return "-".join(found.groups()) if found else text


def read_comparison(path: str | Path, run: Run) -> Comparison | None:
    """Return what `path` says of `run` compared with its history, or None if it says nothing.

    Raises ReportError, in one line, where it is damaged, incomplete or not ours.
    """
    path = Path(path)
    file = path / "drift.json"
    try:
        info = _checked(read_json(file, AGAIN), str(file))
    except FileNotFoundError:
        return None
    if info["run"] != run_name(run):
        return None
    tables = []
    for name, columns in (("drift.csv", FINDINGS), ("trends.csv", TRENDS)):
        try:
            tables.append(read_table(path / name, columns, AGAIN))
        except FileNotFoundError:
            raise ReportError(f"{path / name}: missing, though drift.json is there; {AGAIN}") from None
    findings, trends = tables
    _check_trends(trends, path / "trends.csv")
    return Comparison(
        run=info["run"],
        compared=info["compared"],
        baseline=info["baseline"],
        environment=[str(text) for text in info["environment"]],
        findings=findings.to_dict("records"),
        trends=trends,
    )


def _checked(info: Any, where: str) -> Mapping[str, Any]:
    if not isinstance(info, Mapping):
        raise ReportError(f"{where}: expected an object, found {type(info).__name__}; {AGAIN}")
    if type(info.get("schema")) is not int or info["schema"] != SCHEMA:
        raise ReportError(
            f"{where}: schema version {info.get('schema')!r:.60}, but this program reads version {SCHEMA}; {AGAIN}"
        )
    for key, kind in _INFO.items():
        if type(info.get(key)) is not kind:
            raise ReportError(f"{where}: {key!r} cannot be {info.get(key)!r:.60}; {AGAIN}")
    return info


def _check_trends(trends: pd.DataFrame, file: Path) -> None:
    for number in trends.index[trends.duplicated(["claim", "figure", "run"])][:1]:
        label = " / ".join(str(trends[name][number]) for name in ("claim", "figure", "run"))
        raise ReportError(f"{file}, row {number + 1}: a second row for {label:.120}; {AGAIN}")
    for number, value in enumerate(trends["value"].tolist(), start=1):
        if not math.isfinite(value):
            raise ReportError(f"{file}, row {number}, column 'value': {value} is not finite; {AGAIN}")
    for when in trends["when"].unique():
        try:
            datetime.fromisoformat(when)
        except ValueError:
            number = trends.index[trends["when"] == when][0] + 1
            raise ReportError(
                f"{file}, row {number}, column 'when': {when!r:.60} is no ISO 8601 time; {AGAIN}"
            ) from None

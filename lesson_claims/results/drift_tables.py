"""What `lesson-claims drift` leaves beside a run's tables, read back for the run's pages.

`drift.json` says what was compared with what, `drift.csv` what was found, `trends.csv` how the figures went. They are
about one run: beside the tables of another one, which a later session has written over them, they say nothing.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec
import pandas as pd

from lesson_claims.results import schema_1
from lesson_claims.results.columns import JUDGEMENTS, TRENDS
from lesson_claims.results.csv_files import read_table
from lesson_claims.results.errors import ReportError
from lesson_claims.results.files import checked, read_json, schema_of
from lesson_claims.results.numbers import count
from lesson_claims.results.run_info import Count
from lesson_claims.results.tables import Run
from lesson_claims.results.vocabulary import OPEN, DriftState

SCHEMA = 2
AGAIN = "run lesson-claims drift again, or delete drift.json"

Row = Mapping[str, Any]


class DriftInfo(msgspec.Struct, kw_only=True):
    """The content of drift.json, described in `DriftTables`."""

    schema: int = SCHEMA
    run: str
    compared: Count
    baseline: str
    environment: list[str]
    failures: list[str] = []
    again: list[str] = []


@dataclass(frozen=True)
class DriftTables:
    """A run compared with its history.

    Attributes:
        run: the run's name in the history.
        compared: how many earlier runs there were; with none, nothing was compared.
        baseline: when the newest of the claims' baselines began, ISO 8601.
        environment: what differs from the run before, a text each.
        failures: why the run did not measure, or a night could not keep, what it should, a text each.
        again: an earlier night's seeds with this run's versions and code, a text each; empty where they were not run.
        judgements: rows of drift.csv, one per claim and figure, in the run's order.
        trends: the table trends.csv, one row per figure and run, oldest first.
    """

    run: str
    compared: int
    baseline: str
    environment: Sequence[str]
    failures: Sequence[str]
    again: Sequence[str]
    judgements: Sequence[Row]
    trends: pd.DataFrame

    @property
    def new(self) -> list[Row]:
        """What is new in this run and needs a look."""
        return [row for row in self.judgements if row["new"]]

    @property
    def open(self) -> list[Row]:
        """Older changes that nobody has accepted yet."""
        return [row for row in self.judgements if row["state"] in OPEN and not row["new"]]

    @property
    def numerics(self) -> list[Row]:
        """Figures that moved on the same numerics, by no more than is allowed."""
        return [row for row in self.judgements if row["state"] == DriftState.NUMERICS]

    @property
    def headline(self) -> str:
        """The result in a sentence or two."""
        if self.failures:
            return f"Not everything was measured or kept: {'; '.join(self.failures)}."
        if not self.compared:
            return "Nothing to compare with yet: the history has no other night of this kind of device."
        runs = count(self.compared, "earlier run")
        new, older = len(self.new), len(self.open)
        if not new and not older:
            return f"Nothing drifted since the baseline of {day(self.baseline)} (compared with {runs})."
        said = [f"{new} change{' is' if new == 1 else 's are'} new in this run"] if new else ["Nothing new drifted"]
        if older:
            said.append(f"{older} older change{' is' if older == 1 else 's are'} not accepted yet")
        return f"{'; '.join(said)} (compared with {runs})."


def day(when: str) -> str:
    """Return the day, as 2026-01-31, of a time in ISO 8601; other text as it is."""
    try:
        return datetime.fromisoformat(when).date().isoformat()
    except ValueError:
        return when


def changes_in_words(environment: str, accepted: str, drifted: bool) -> str:
    """Say what changed in a night, from the three columns of trends.csv; empty where nothing did."""
    reason = f"accepted: {accepted}" if accepted else ""
    return "; ".join(filter(None, (environment, reason, "drifted" if drifted else "")))


def read_drift_tables(path: str | Path, run: Run) -> DriftTables | None:
    """Return what `path` says of `run` compared with its history, or None if it says nothing.

    Raises ReportError, in one line, where a file is damaged, missing or of another schema version.
    """
    path = Path(path)
    file = path / "drift.json"
    try:
        content = read_json(file, AGAIN)
    except FileNotFoundError:
        return None
    old = schema_of(content, str(file), range(1, SCHEMA + 1)) == 1
    info = checked(content, DriftInfo, str(file), AGAIN)
    if info["run"] != run.name:
        return None
    tables = []
    for name, columns in (
        ("drift.csv", schema_1.JUDGEMENTS if old else JUDGEMENTS),
        ("trends.csv", schema_1.TRENDS if old else TRENDS),
    ):
        try:
            tables.append(read_table(path / name, columns, AGAIN))
        except FileNotFoundError:
            raise ReportError(f"{path / name}: missing, though drift.json is there; {AGAIN}") from None
    judgements, trends = tables
    if old:
        judgements, trends = schema_1.convert_judgements(judgements), schema_1.convert_trends(trends)
    _check_trends(trends, path / "trends.csv")
    return DriftTables(
        run=info["run"],
        compared=info["compared"],
        baseline=info["baseline"],
        environment=info["environment"],
        failures=info["failures"],
        again=info["again"],
        judgements=judgements.to_dict("records"),
        trends=trends,
    )


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

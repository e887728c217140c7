"""One run: its tables and `run.json`, read from a directory and written to one.

Everything goes through the same strict parser, whether it comes from a file or from Python rows, so a run that was
just measured and the same run read back are equal.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from lesson_claims.results import schema_1, schema_2
from lesson_claims.results.columns import KEYS, OPTIONAL_TABLES, TABLES, Column
from lesson_claims.results.csv_files import csv_text, frame, read_table
from lesson_claims.results.errors import ReportError
from lesson_claims.results.files import json_text, plain, read_json, schema_of, write_files
from lesson_claims.results.run_info import SCHEMA, checked_info
from lesson_claims.results.run_name import run_name

FILES = (*(f"{name}.csv" for name in TABLES), "run.json")
_STOPPED = "missing; this is no report directory, or its run was stopped early"


@dataclass
class Run:
    """One run: its seven tables, with the columns of `TABLES` typed as `csv_files.frame` says, and `info`.

    Attributes:
        info: the content of `run.json`, as `run_info.RunInfo` describes it.
        old_name: the name in histories of a run of an older schema, which cannot be made from the converted tables.
    """

    measurements: pd.DataFrame
    claims: pd.DataFrame
    samples: pd.DataFrame
    decisions: pd.DataFrame
    curves: pd.DataFrame
    errata: pd.DataFrame
    settings: pd.DataFrame
    info: dict[str, Any]
    old_name: str = ""

    @classmethod
    def from_rows(
        cls,
        info: Mapping[str, Any],
        measurements: Iterable[Mapping[str, Any]] = (),
        claims: Iterable[Mapping[str, Any]] = (),
        samples: Iterable[Mapping[str, Any]] = (),
        decisions: Iterable[Mapping[str, Any]] = (),
        curves: Iterable[Mapping[str, Any]] = (),
        errata: Iterable[Mapping[str, Any]] = (),
        settings: Iterable[Mapping[str, Any]] = (),
    ) -> "Run":
        """Build a run from plain rows; a key left out, or None, is a missing value.

        Raises ReportError where a value does not fit its column.
        """
        rows = {
            "measurements": measurements, "claims": claims, "samples": samples,
            "decisions": decisions, "curves": curves, "errata": errata, "settings": settings,
        }  # fmt: skip
        frames = {name: frame(TABLES[name], table, name) for name, table in rows.items()}
        return cls(**frames, info=checked_info({"schema": SCHEMA, **info}, "run.json"))

    @property
    def name(self) -> str:
        """The name of the run in a history. Raises ReportError where the run does not say when it started."""
        return self.old_name or run_name(self.info, (self.claims, self.measurements, self.samples))

    def tables(self) -> dict[str, pd.DataFrame]:
        """Return the seven tables by name, in the order in which they are written."""
        return {name: getattr(self, name) for name in TABLES}


def read_run(path: str | Path) -> Run:
    """Read the run in directory `path`.

    Raises ReportError, in one line, for anything missing, damaged, ambiguous or of another schema version.
    """
    path = Path(path)
    if not path.is_dir():
        raise ReportError(f"{path}: no such report directory; give the directory that --report-dir named")
    file = path / "run.json"
    try:
        content = read_json(file)
    except FileNotFoundError:
        raise ReportError(f"{file}: {_STOPPED}") from None
    schema = schema_of(content, str(file), range(1, SCHEMA + 1))
    if schema == SCHEMA:
        content = checked_info(content, str(file))
    columns = {1: schema_1.TABLES, 2: schema_2.TABLES}.get(schema, TABLES)
    tables = {name: _read_table(path, name, columns[name]) for name in TABLES}
    name = ""
    if schema == 1:
        content, tables, name = schema_1.convert_run(content, tables, str(file))
    elif schema < SCHEMA:
        content, tables, name = schema_2.convert_run(content, tables, str(file))
    run = Run(**tables, info=content, old_name=name)
    _check_keys(run, path)
    return run


def write_tables(run: Run, path: str | Path) -> None:
    """Write the tables and `run.json` of `run` into directory `path`, made if it is not there.

    All are written under temporary names before the first is renamed, so a full disk leaves an earlier run as it was.
    Raises ReportError where the disk refuses, or a directory is in the way.
    """
    texts = {f"{name}.csv": csv_text(TABLES[name], table) for name, table in run.tables().items()}
    texts["run.json"] = json_text(plain(run.info))
    write_files(Path(path), texts)


def _read_table(path: Path, name: str, columns: tuple[Column, ...]) -> pd.DataFrame:
    file = path / f"{name}.csv"
    try:
        return read_table(file, columns)
    except FileNotFoundError:
        if name in OPTIONAL_TABLES:
            return frame(columns, (), str(file))
        raise ReportError(f"{file}: {_STOPPED}") from None


def _check_keys(run: Run, path: Path) -> None:
    known = set(run.claims["claim"])
    for name, table in run.tables().items():
        strangers = table.index[~table["claim"].isin(known)] if "claim" in table else []
        for number in strangers[:1]:
            claim = table["claim"][number]
            raise ReportError(f"{path / name}.csv, row {number + 1}: claim {claim!r:.80} has no row in claims.csv")
        if key := KEYS.get(name):
            for number in table.index[table.duplicated(list(key))][:1]:
                label = " / ".join(str(table[column][number]) for column in key)
                raise ReportError(f"{path / name}.csv, row {number + 1}: a second row for {label:.80}")

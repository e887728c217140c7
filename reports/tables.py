"""The tables of one run: their columns, and reading and writing them without losing a digit.

A run is a directory of CSV files and a `run.json`. Everything goes through one strict parser, whether it
comes from a file or from Python rows, so a run that was just measured and the same run read back are equal.

Values are written as they are, also where a spreadsheet would take one for a formula (`=1+1`): a quote put before it
would be another value. Open the files as text.
"""

import csv
import io
import json
import math
import os
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import pandas as pd

from reports.errors import ReportError

SCHEMA = 1
VERDICTS = ("holds", "refuted", "inconclusive", "error", "not run")
AGREEMENTS = ("reproduced", "within", "outside", "not printed", "not measured")
FIGURE_KINDS = ("exact", "float", "trained", "stated")
CLAIM_KINDS = ("exact", "float", "trained", "behaviour", "ordering", "scaling")
KINDS = (*CLAIM_KINDS, "stated")


@dataclass(frozen=True)
class Column:
    """A column of a table.

    `text` is a string, empty where missing. `number` (float) and `integer` (int) are None where missing,
    which is not the same as a NaN that was measured. `flag` is a bool, False where missing. Without `needed`,
    a table may lack the column or leave it empty. With `least`, a number is finite and no smaller than that.
    """

    name: str
    type: Literal["text", "number", "integer", "flag"] = "text"
    needed: bool = False
    choices: tuple[str, ...] = ()
    least: float | None = None


def _texts(*names: str, needed: bool = False) -> tuple[Column, ...]:
    return tuple(Column(name, needed=needed) for name in names)


def _numbers(*names: str) -> tuple[Column, ...]:
    return tuple(Column(name, "number") for name in names)


_SECONDS = Column("seconds", "number", least=0.0)

TABLES: dict[str, tuple[Column, ...]] = {
    "measurements": (
        *_texts("claim", "figure", needed=True),
        Column("kind", choices=KINDS),
        *_texts("printed", "measured"),
        Column("tolerance", "number"),
        Column("agreement", choices=AGREEMENTS),
        Column("seeds", "integer"),
        *_numbers("low", "high"),
        *_texts("unit", "device", "check"),
        _SECONDS,
    ),
    "claims": (
        *_texts("claim", "lesson", needed=True),
        *_texts("where", "statement"),
        Column("kind", choices=CLAIM_KINDS),
        Column("verdict", needed=True, choices=VERDICTS),
        Column("expected", choices=(*VERDICTS, "open")),
        Column("changed", "flag"),
        Column("seeds", "integer"),
        *_texts("evidence", "controls"),
        Column("checks", "integer"),
        _SECONDS,
    ),
    "samples": (
        *_texts("claim", "figure", needed=True),
        Column("seed", "integer", needed=True),
        Column("value", "number", needed=True),
    ),
    "decisions": (
        *_texts("claim", needed=True),
        *_texts("check", "rule"),
        Column("verdict", needed=True, choices=VERDICTS),
        *_texts("sentence"),
        *_numbers("estimate", "low", "high", "p", "level"),
        Column("seeds", "integer"),
        Column("needed", "integer"),
        Column("alone", choices=VERDICTS),
        *_texts("alone_sentence"),
    ),
    "curves": (
        *_texts("claim", "picture", needed=True),
        Column("mark", needed=True, choices=("line", "bar", "limit")),
        *_texts("series", "x"),
        Column("y", "number", needed=True),
        *_numbers("low", "high"),
        *_texts("x_label", "y_label"),
        Column("x_scale", choices=("linear", "log")),
        Column("y_scale", choices=("linear", "log")),
    ),
    "errata": (
        *_texts("claim", needed=True),
        *_texts("figure", "where", "says", "truth", "evidence", "suggestion"),
    ),
}
CORRECTED = ".corrected"
"""What the id of a claim ends with that says what is true instead of a refuted one."""
OPTIONAL_TABLES = ("samples", "decisions", "curves", "errata")
FILES = (*(f"{name}.csv" for name in TABLES), "run.json")
PAGES = ("errata.md", "summary.md", "index.html")
KEYS = {"claims": ("claim",), "measurements": ("claim", "figure"), "samples": ("claim", "figure", "seed")}

AGAIN = "run the suite again"
_STOPPED = "missing; this is no report directory, or its run was stopped early"

_INFO: dict[str, tuple[type | tuple[type, ...], Any]] = {
    "started": (str, ""),
    "seconds": ((int, float), 0.0),
    "selected": (str, ""),
    "seeds": (int, 0),
    "options": (dict, {}),
    "counts": (dict, {}),
    "exit_status": (int, 0),
    "problems": (list, []),
    "commit": ((str, type(None)), None),
    "dirty": (bool, False),
    "environment": (dict, {}),
    "lessons": (dict, {}),
    "checklist": (list, []),
    "source": (dict, {}),
    "since": (dict, {}),
    "withheld": (list, []),
}


@dataclass
class Run:
    """One run: its six tables, typed as `TABLES` says, and `info`, the content of `run.json`.

    Text columns hold `str`; optional numbers hold `float` or None (dtype object, so that a measured NaN and a
    missing value stay apart); needed numbers are float64 or int64; flags are bool.
    """

    measurements: pd.DataFrame
    claims: pd.DataFrame
    samples: pd.DataFrame
    decisions: pd.DataFrame
    curves: pd.DataFrame
    errata: pd.DataFrame
    info: dict[str, Any]

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
    ) -> "Run":
        """Build a run from plain rows; a key left out, or None, is a missing value.

        Raises ReportError where a value does not fit its column.
        """
        rows = {
            "measurements": measurements, "claims": claims, "samples": samples,
            "decisions": decisions, "curves": curves, "errata": errata,
        }  # fmt: skip
        frames = {name: _frame(TABLES[name], *_text_rows(name, table), where=name) for name, table in rows.items()}
        return cls(**frames, info=_checked_info({"schema": SCHEMA, **info}, "run.json"))

    def tables(self) -> dict[str, pd.DataFrame]:
        """Return the six tables by name, in the order in which they are written."""
        return {name: getattr(self, name) for name in TABLES}


def read_run(path: str | Path) -> Run:
    """Read the run in directory `path`.

    Raises ReportError, in one line, for anything missing, damaged, ambiguous or of another schema version.
    """
    path = Path(path)
    if not path.is_dir():
        raise ReportError(f"{path}: no such report directory; give the directory that --report-dir named")
    info = _read_info(path / "run.json")
    run = Run(**{name: _read_table(path, name) for name in TABLES}, info=info)
    _check_keys(run, path)
    return run


def write_run(run: Run, path: str | Path) -> None:
    """Write tables, `run.json` and then the pages of `run` into directory `path`, made if it is not there.

    The tables are all written under temporary names before the first is renamed, so a full disk leaves an
    earlier report as it was; the pages follow the same way. Raises ReportError where the disk refuses, and before
    anything is written where a directory is in the way of a table or a page.
    """
    from reports.build import build  # the tables must be safe before the pages' libraries are even loaded

    _refuse_directories(Path(path), (*FILES, *PAGES))
    write_tables(run, path)
    build(path)


def write_tables(run: Run, path: str | Path) -> None:
    """Write the tables and `run.json` of `run` into directory `path`; see `write_run`."""
    texts = {f"{name}.csv": csv_text(TABLES[name], frame) for name, frame in run.tables().items()}
    texts["run.json"] = json.dumps(_plain(run.info), indent=1, ensure_ascii=False, allow_nan=False) + "\n"
    write_files(Path(path), texts)


def write_files(path: Path, texts: Mapping[str, str]) -> None:
    """Write each text as a file of directory `path`: all under temporary names first, then renamed in order.

    Raises ReportError, with no temporary file left behind, and nothing renamed where a directory is in the way.
    """
    _refuse_directories(path, texts)
    staged = {path / name: path / f".{name}.{os.getpid()}.tmp" for name in texts}
    try:
        path.mkdir(parents=True, exist_ok=True)
        for (_, temporary), text in zip(staged.items(), texts.values(), strict=True):
            with temporary.open("wb") as file:
                file.write(text.encode("utf-8", "backslashreplace"))
                file.flush()
                os.fsync(file.fileno())  # some file systems report a full disk no earlier
        for final, temporary in staged.items():
            temporary.replace(final)
    except OSError as error:
        _remove(staged.values())
        reason = error.strerror or str(error)
        advice = "make room or name another directory"
        raise ReportError(f"{path}: cannot write the report: {reason}; {advice}") from error
    except BaseException:
        _remove(staged.values())
        raise


def _refuse_directories(path: Path, names: Iterable[str]) -> None:
    """Refuse to write files of which one could not be renamed into its place, when others already were."""
    for file in (path / name for name in names):
        if file.is_dir() and not file.is_symlink():
            raise ReportError(f"{file}: is a directory, where a file has to go; move it or name another place")


def _remove(files: Iterable[Path]) -> None:
    for file in files:
        try:
            file.unlink(missing_ok=True)
        except OSError:  # the directory itself is unusable, and the first error already says so
            return


def read_json(file: Path, advice: str = AGAIN) -> Any:
    """Return the content of a file of strict JSON, without NaN.

    Raises FileNotFoundError, or, in one line that ends with `advice`, ReportError where it cannot be read.
    """

    def refuse(constant: str) -> None:
        raise ValueError(f"{constant} is not JSON")

    try:
        return json.loads(file.read_text(encoding="utf-8"), parse_constant=refuse)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise ReportError(f"{file}: cannot be read: {error.strerror or error}") from error
    except (ValueError, RecursionError) as error:
        raise ReportError(f"{file}: not valid JSON ({error}); {advice}") from error


def _read_info(file: Path) -> dict[str, Any]:
    try:
        return _checked_info(read_json(file), str(file))
    except FileNotFoundError:
        raise ReportError(f"{file}: {_STOPPED}") from None


def _checked_info(info: Any, where: str) -> dict[str, Any]:
    if not isinstance(info, Mapping):
        raise ReportError(f"{where}: expected an object, found {type(info).__name__}; run the suite again")
    schema = info.get("schema")
    if type(schema) is not int or schema != SCHEMA:
        raise ReportError(
            f"{where}: schema version {schema!r}, but this program reads version {SCHEMA};"
            " use the version of the suite that wrote it"
        )
    if type(info.get("complete")) is not bool:
        raise ReportError(f"{where}: 'complete' must be true or false; run the suite again")
    checked: dict[str, Any] = {"schema": schema, "complete": info["complete"]}
    for key, (types, default) in _INFO.items():
        value = info.get(key, default)
        wrong_number = isinstance(value, int | float) and not 0 <= value < math.inf
        if not isinstance(value, types) or (isinstance(value, bool) and types is not bool) or wrong_number:
            raise ReportError(f"{where}: {key!r} cannot be {value!r:.60}; run the suite again")
        checked[key] = _plain(value)
    checked.update({key: _plain(value) for key, value in info.items() if key not in checked})
    return checked


def _plain(value: Any) -> Any:
    """Copy a JSON-like value; numbers that strict JSON cannot hold become their text."""
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return repr(float(value))
    if value is None or isinstance(value, str | bool | int | float):
        return value
    return str(value)


def _read_table(path: Path, name: str) -> pd.DataFrame:
    file = path / f"{name}.csv"
    try:
        return read_table(file, TABLES[name])
    except FileNotFoundError:
        if name in OPTIONAL_TABLES:
            return _frame(TABLES[name], [column.name for column in TABLES[name]], [], str(file))
        raise ReportError(f"{file}: {_STOPPED}") from None


def read_table(file: Path, columns: Sequence[Column], advice: str = AGAIN) -> pd.DataFrame:
    """Read a CSV file as a table of these columns, typed as `Run` describes.

    Raises FileNotFoundError, or, in one line that says what to do, ReportError where the file is anything else.
    """
    csv.field_size_limit(sys.maxsize)  # a long label is no reason to refuse a run
    try:
        with file.open(encoding="utf-8", newline="") as lines:
            rows = list(csv.reader(lines, strict=True))
    except FileNotFoundError:
        raise
    except OSError as error:
        raise ReportError(f"{file}: cannot be read: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise ReportError(f"{file}: not UTF-8 text (byte {error.start}); {advice}") from error
    except csv.Error as error:
        raise ReportError(f"{file}: not a CSV file ({error}); {advice}") from error
    if not rows:
        raise ReportError(f"{file}: empty, not even a header; {advice}")
    return _frame(columns, rows[0], rows[1:], str(file), advice)


def _frame(
    table: Sequence[Column], header: Sequence[str], rows: Sequence[Sequence[str]], where: str, advice: str = AGAIN
) -> pd.DataFrame:
    """Parse rows of text into a typed table."""
    columns = {column.name: column for column in table}
    if unknown := [column for column in header if column not in columns]:
        raise ReportError(f"{where}: unknown column {unknown[0]!r}; the columns are {', '.join(columns)}")
    if len(set(header)) < len(header):
        raise ReportError(f"{where}: a column appears twice in the header {','.join(header)!r}")
    for number, row in enumerate(rows, start=1):
        if len(row) != len(header):
            raise ReportError(f"{where}, row {number}: {len(row)} fields under {len(header)} columns")
    for column in table:
        if column.needed and column.name not in header:
            raise ReportError(f"{where}: column {column.name!r} is missing; {advice}")
    cells = dict(zip(header, zip(*rows, strict=True), strict=True)) if rows else {}
    return pd.DataFrame(
        {key: _series(column, cells.get(key, [""] * len(rows)), where) for key, column in columns.items()}
    )


def _series(column: Column, cells: Sequence[str], where: str) -> pd.Series:
    values = _simple_values(column, cells)
    if values is None:
        values = []
        for number, cell in enumerate(cells, start=1):
            try:
                values.append(_value(column, cell))
            except ValueError as error:
                raise ReportError(f"{where}, row {number}, column {column.name!r}: {error}") from None
    dtype: Any = object
    if column.type == "flag":
        dtype = bool
    elif column.needed and column.type != "text":
        dtype = "float64" if column.type == "number" else "int64"
    return pd.Series(values, dtype=dtype)


def _simple_values(column: Column, cells: Sequence[str]) -> list[Any] | None:
    """Return what `_value` makes of every cell, a good deal faster, or None where it takes a closer look."""
    if column.choices or column.least is not None or (column.needed and "" in cells):
        return None
    if column.type == "text":
        return list(cells)
    if column.type == "number" and not re.search(r"[_\s]", "".join(cells)):
        try:
            return [float(cell) if cell else None for cell in cells]
        except ValueError:
            return None
    return None


def _value(column: Column, cell: str) -> str | float | int | bool | None:
    if not cell and column.needed:
        raise ValueError("empty, but it must not be")
    if not cell and column.type != "text":
        return False if column.type == "flag" else None
    if column.type == "text":
        if column.choices and cell and cell not in column.choices:
            raise ValueError(f"{cell!r:.60} is none of: {', '.join(column.choices)}")
        return cell
    if column.type == "flag":
        if cell not in ("True", "False"):
            raise ValueError(f"{cell!r:.60} is neither True nor False")
        return cell == "True"
    try:
        if "_" in cell or cell != cell.strip():  # Python's own literals allow this, no other reader of CSV does
            raise ValueError
        number = float(cell) if column.type == "number" else int(cell)
    except ValueError:
        wanted = "an integer" if column.type == "integer" else "a number"
        raise ValueError(f"{cell!r:.60} is not {wanted}") from None
    if column.least is not None and not column.least <= number < math.inf:
        raise ValueError(f"{cell!r:.60} is not a finite number of at least {column.least:g}")
    return number


def _text_rows(name: str, rows: Iterable[Mapping[str, Any]]) -> tuple[list[str], list[list[str]]]:
    header = [column.name for column in TABLES[name]]
    texts = []
    for number, row in enumerate(rows, start=1):
        if unknown := [key for key in row if key not in header]:
            raise ReportError(f"{name}, row {number}: unknown column {unknown[0]!r}")
        texts.append([_text(row.get(key), f"{name}, row {number}, column {key!r}") for key in header])
    return header, texts


def _text(value: Any, where: str) -> str:
    """Return the text of a cell: numbers by repr, so that they come back equal; None is empty."""
    value = value.item() if hasattr(value, "item") else value
    if value is None:
        return ""
    if isinstance(value, str):  # a StrEnum too; lone surrogates cannot be stored as UTF-8
        return str(value).encode("utf-8", "backslashreplace").decode("utf-8")
    if isinstance(value, bool | int | float):
        return repr(value)
    raise ReportError(f"{where}: expected text or a number, found {type(value).__name__}")


def csv_text(columns: Sequence[Column], frame: pd.DataFrame) -> str:
    """Write a table of these columns as CSV, every digit kept; None is an empty cell."""
    buffer = io.StringIO()
    plain = csv.writer(buffer, lineterminator="\n")
    quoted = csv.writer(buffer, lineterminator="\n", quoting=csv.QUOTE_ALL)
    header = [column.name for column in columns]
    plain.writerow(header)
    cells = [[_text(value, key) for value in frame[key].tolist()] for key in header]
    for row in zip(*cells, strict=True):
        # left unquoted by Python before 3.13, a carriage return would end the row
        (quoted if any("\r" in cell for cell in row) else plain).writerow(row)
    return buffer.getvalue()


def _check_keys(run: Run, path: Path) -> None:
    known = set(run.claims["claim"])
    for name, frame in run.tables().items():
        for number in frame.index[~frame["claim"].isin(known)][:1]:
            claim = frame["claim"][number]
            raise ReportError(f"{path / name}.csv, row {number + 1}: claim {claim!r:.80} has no row in claims.csv")
        if key := KEYS.get(name):
            for number in frame.index[frame.duplicated(list(key))][:1]:
                label = " / ".join(str(frame[column][number]) for column in key)
                raise ReportError(f"{path / name}.csv, row {number + 1}: a second row for {label:.80}")

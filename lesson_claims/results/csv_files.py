"""CSV files read and written without losing a digit, by one strict parser.

Values are written as they are, also where a spreadsheet would take one for a formula (`=1+1`): a quote put before it
would be another value. Open the files as text.
"""

import csv
import io
import math
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from lesson_claims.results.columns import Column
from lesson_claims.results.errors import ReportError
from lesson_claims.results.files import AGAIN


def read_table(file: Path, columns: Sequence[Column], advice: str = AGAIN) -> pd.DataFrame:
    """Read a CSV file as a table of these columns, typed as `frame` describes.

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
    return _parsed(columns, rows[0], rows[1:], str(file), advice)


def frame(columns: Sequence[Column], rows: Iterable[Mapping[str, Any]], where: str) -> pd.DataFrame:
    """Return plain rows as a table of these columns; a key left out, or None, is a missing value.

    Text columns hold `str`; optional numbers hold `float` or None (dtype object, so that a measured NaN and a
    missing value stay apart); needed numbers are float64 or int64; flags are bool. Raises ReportError where a value
    does not fit its column; `where` names the table.
    """
    header = [column.name for column in columns]
    texts = []
    for number, row in enumerate(rows, start=1):
        if unknown := [key for key in row if key not in header]:
            raise ReportError(f"{where}, row {number}: unknown column {unknown[0]!r}")
        texts.append([_text(row.get(key), f"{where}, row {number}, column {key!r}") for key in header])
    return _parsed(columns, header, texts, where)


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


def _parsed(
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

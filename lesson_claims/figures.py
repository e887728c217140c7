"""The figures that a lesson prints, read from `NAME_figures.csv` beside the lesson's `NAME.toml`.

Columns: `claim` (the id of the claim that the figure belongs to), `figure` (its name, unique within the claim),
`printed` (the page's own text), `kind`, `decimals` (how many digits the page prints: "4", "8 significant", or empty
where the figure is not rounded), `where` (where on the page it stands).
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, cast, get_args

COLUMNS = ["claim", "figure", "printed", "kind", "decimals", "where"]

FigureKind = Literal["exact", "float", "trained", "stated"]


class FigureFileError(ValueError):
    """A figure file cannot be used; the message says which file, which line, what is wrong and what to do."""


@dataclass(frozen=True)
class Figure:
    """One figure of a page.

    Attributes:
        claim: id of its claim.
        name: unique within the claim.
        printed: the page's own text.
        kind: "exact" (equal or wrong), "float" (equal at the printed digits), "trained" (the outcome of a training
            run), "stated" (said in prose, not printed by a program).
        digits: how many digits are printed, or None where the text is not a rounded number.
        significant: whether `digits` counts significant digits instead of decimals.
        where: where on the page it stands.
    """

    claim: str
    name: str
    printed: str
    kind: FigureKind
    digits: int | None
    significant: bool
    where: str


def load_figures(path: Path) -> list[Figure]:
    """Read one lesson's figures in the order of the page.

    Raises:
        FigureFileError: at the first line that is not a figure, or that repeats one.
    """
    figures: list[Figure] = []
    seen: dict[tuple[str, str], int] = {}
    try:
        with path.open(newline="", encoding="utf-8") as file:
            reader = csv.reader(file, strict=True)
            header = next(reader, [])
            if header != COLUMNS:
                raise FigureFileError(f"{path}:1: the header must be {','.join(COLUMNS)}; got {','.join(header)}")
            for row in reader:
                place = f"{path}:{reader.line_num}"
                figure = _figure(row, place)
                first = seen.setdefault((figure.claim, figure.name), reader.line_num)
                if first != reader.line_num:
                    raise FigureFileError(
                        f"{place}: figure {figure.name!r} of {figure.claim} stands on line {first} already; "
                        "remove or rename one"
                    )
                figures.append(figure)
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise FigureFileError(f"{path}: cannot be read: {error}") from error
    return figures


def _figure(row: list[str], place: str) -> Figure:
    if len(row) != len(COLUMNS):
        raise FigureFileError(
            f"{place}: {len(row)} fields where {len(COLUMNS)} are needed; quote a text that has a comma in it"
        )
    claim, name, printed, kind, decimals, where = row
    if kind not in get_args(FigureKind):
        raise FigureFileError(f"{place}: kind {kind!r} is none of {', '.join(get_args(FigureKind))}")
    for column, text in (("claim", claim), ("figure", name), ("printed", printed), ("where", where)):
        if not text.strip():
            raise FigureFileError(f"{place}: the field {column!r} is empty; fill it in")
    count, _, unit = decimals.partition(" ")
    if decimals and not (count.isascii() and count.isdigit() and unit in ("", "significant")):
        raise FigureFileError(
            f'{place}: decimals {decimals!r} is neither a count such as "4", nor "8 significant", nor empty'
        )
    if decimals:
        try:
            float(printed)
        except ValueError:
            raise FigureFileError(f"{place}: printed {printed!r} has decimals but is not a number") from None
    return Figure(
        claim,
        name,
        printed,
        cast("FigureKind", kind),
        int(count) if decimals else None,
        unit == "significant",
        where,
    )

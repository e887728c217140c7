"""The figures that a lesson prints, read from `NAME_figures.csv` beside the lesson's `NAME.toml`.

Columns: `claim` (the id of the claim that the figure belongs to), `figure` (its name, unique within the claim),
`printed` (the page's own text), `kind`, `where` (where on the page it stands); and, if wanted, `decimals` (how many
digits the page prints, to guard against a slip: the text says it already) and `tolerance` (of a trained figure).
"""

from __future__ import annotations

import csv
import re
import unicodedata
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

from lesson_claims.results.printed_numbers import FORMS, PrintedNumber, is_almost_number, read_number
from lesson_claims.results.vocabulary import Kind

COLUMNS = ["claim", "figure", "printed", "kind", "where"]
MAY_BE_ABSENT = ["decimals", "tolerance"]

FIGURE_KINDS = [Kind.EXACT, Kind.FLOAT, Kind.TRAINED, Kind.STATED, Kind.CLOCK]

TOLERANCE_OF_SHARES = Decimal("0.02")
"""How far a printed share may lie from what the page's seed gives, if the figure declares nothing else."""


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
            run), "stated" (said in prose, not printed by a program), "clock" (measured by a clock).
        where: where on the page it stands.
        number: what `printed` stands for; None if it is another text, which can be exact or trained alone.
        tolerance: of a trained figure, how far the printed number may lie from what the page's seed gives; 0 for a
            text, which has to be equal. Of a float figure, the same on another device than the processor, or None.
            None for the other kinds.
    """

    claim: str
    name: str
    printed: str
    kind: Kind
    where: str
    number: PrintedNumber | None = None
    tolerance: Decimal | None = None

    @property
    def value(self) -> Decimal:
        """What the printed number is worth.

        Raises:
            ValueError: if the figure is a text.
        """
        if self.number is None:
            raise ValueError(f"figure {self.name!r} of {self.claim} is no number: {self.printed!r}")
        return self.number.value


def load_figures(path: Path) -> list[Figure]:
    """Read one lesson's figures in the order of the page.

    Raises:
        FigureFileError: at the first line that is not a figure, or that repeats one.
    """
    figures: list[Figure] = []
    seen: dict[tuple[str, str], int] = {}
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            reader = csv.reader(file, strict=True)
            header = next(reader, [])
            if sorted(header) != sorted(set(header)) or not set(COLUMNS) <= set(header) <= {*COLUMNS, *MAY_BE_ABSENT}:
                raise FigureFileError(
                    f"{path}:1: the header must be {','.join(COLUMNS)}, and may have {' and '.join(MAY_BE_ABSENT)} as "
                    f"well; got {','.join(header)}"
                )
            for row in reader:
                place = f"{path}:{reader.line_num}"
                if len(row) != len(header):
                    raise FigureFileError(
                        f"{place}: {len(row)} fields where {len(header)} are needed; "
                        "quote a text that has a comma in it"
                    )
                figure = make_figure(**dict(zip(header, row, strict=True)), place=place)
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


def make_figure(
    *, claim: str, figure: str, printed: str, kind: str, where: str, decimals: str = "", tolerance: str = "", place: str
) -> Figure:
    """Return a figure from the fields of its row.

    Args:
        claim: id of its claim.
        figure: its name.
        printed: the page's own text.
        kind: one of `FIGURE_KINDS`.
        where: where on the page it stands.
        decimals: "4", "8 significant" or empty.
        tolerance: a number or empty.
        place: file and line, for messages.

    Raises:
        FigureFileError: if the row is no figure; one line.
    """
    if kind not in FIGURE_KINDS:
        raise FigureFileError(f"{place}: kind {kind!r} is none of {', '.join(FIGURE_KINDS)}")
    for column, text in (("claim", claim), ("figure", figure), ("printed", printed), ("where", where)):
        if not text.strip():
            raise FigureFileError(f"{place}: the field {column!r} is empty; fill it in")
        for sign in text:
            if unicodedata.category(sign) == "Cc" and sign not in "\t\r\n":
                raise FigureFileError(f"{place}: the field {column!r} has the control character {sign!r}; remove it")
    try:
        number = read_number(printed)
    except ValueError as error:
        raise FigureFileError(f"{place}: printed {printed[:40]!r} {error}; no measured number could equal it") from None
    if number is None:
        _check_text(printed, kind, decimals, tolerance, place)
    else:
        _check_number(number, printed, kind, decimals, place)
    return Figure(
        claim,
        figure,
        printed,
        Kind(kind),
        where,
        number,
        _tolerance(number, printed, kind, tolerance, place),
    )


def _check_text(printed: str, kind: str, decimals: str, tolerance: str, place: str) -> None:
    """Refuse a text that should be a number, or that may have been meant as one."""
    if kind in (Kind.EXACT, Kind.TRAINED) and not is_almost_number(printed):
        if kind == Kind.TRAINED and not tolerance and re.search("[0-9]", printed):
            raise FigureFileError(
                f"{place}: printed {printed!r} is not understood as a number ({FORMS}); "
                "if it is a text, which has to be equal, write 0 as its tolerance"
            )
        if decimals:
            raise FigureFileError(f"{place}: printed {printed!r} has decimals but is not a number")
        return
    raise FigureFileError(f"{place}: printed {printed!r} is not understood as a number; write it alone, {FORMS}")


def _check_number(number: PrintedNumber, printed: str, kind: str, decimals: str, place: str) -> None:
    """Refuse what the form of a number contradicts."""
    is_rounded = number.approximate or number.plus_minus is not None
    if is_rounded and (kind == Kind.EXACT or (kind == Kind.FLOAT and number.unit >= 1)):
        raise FigureFileError(
            f"{place}: printed {printed!r} does not claim its last digit, and a figure of kind {kind} is compared at "
            'it; such a figure is "stated", or "trained" if a run gives it'
        )
    count, _, unit = decimals.partition(" ")
    if decimals and not (re.fullmatch("[0-9]{1,4}", count) and unit in ("", "significant")):
        raise FigureFileError(
            f'{place}: decimals {decimals!r} is neither a count such as "4", nor "8 significant", nor empty'
        )
    # Formats such as .8g leave zeros at the end out, so that fewer significant digits may be seen than were asked for.
    if decimals and (int(count) < number.significant if unit else int(count) != number.places):
        shown = f"{number.significant} significant" if unit else str(number.places)
        raise FigureFileError(
            f"{place}: printed {printed!r} has {shown} decimals, and the column says {decimals!r}; "
            "correct one of them, or leave the column empty"
        )


def _tolerance(number: PrintedNumber | None, printed: str, kind: str, declared: str, place: str) -> Decimal | None:
    """Return the tolerance of a trained figure: the declared one, else the page's own ±, else that of shares.

    A float figure may declare one for other devices than the processor, where it is judged as a trained one.
    """
    if declared and kind not in (Kind.TRAINED, Kind.FLOAT):
        raise FigureFileError(
            f"{place}: tolerance {declared!r} of a figure of kind {kind}; only a trained one has it, or a float one for"
            " other devices than the processor"
        )
    if kind != Kind.TRAINED and not declared:
        return None
    if declared:
        try:
            found = read_number(declared)
        except ValueError:
            found = None
        if found is None or found.value < 0 or found.approximate or found.plus_minus is not None:
            raise FigureFileError(f"{place}: tolerance {declared!r} is no number of 0 or more, such as 0.05")
        return found.value
    if number is None:
        return Decimal(0)
    if number.plus_minus is not None:
        return number.plus_minus
    if number.is_share:
        return TOLERANCE_OF_SHARES
    raise FigureFileError(
        f"{place}: printed {printed!r} is trained and no share (0 to 1, or a percentage), so its column tolerance must "
        "say how far it may lie from what the page's seed gives (0 for a text, which has to be equal)"
    )

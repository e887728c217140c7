"""A printed figure against a measured value: equal at the printed digits, inside a tolerance, or outside."""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, Decimal
from typing import Literal

from lesson_claims.figures import Figure

Agreement = Literal["reproduced", "within", "outside", "not printed", "not measured"]
Plain = bool | int | float | str


@dataclass(frozen=True)
class Comparison:
    """How a measured value compares with a printed one.

    `tolerance` is what the comparison allows on either side beyond equality at the printed digits, if that is one
    number; an interval stands beside the measurement instead.
    """

    agreement: Agreement
    tolerance: float | None = None


def compare(figure: Figure, measured: Plain, interval: tuple[float, float] | None = None) -> Comparison:
    """Compare a measured value with a figure of the page.

    Args:
        figure: as the page prints it.
        measured: plain Python value; a NaN is outside of everything.
        interval: closed; for a trained or stated figure, where the printed value may lie. Without one, a trained
            number that is not reproduced counts as not measured, because one run says nothing about it.

    Returns:
        "reproduced" if the value is equal, or rounds to the printed digits; "within" if a float is within one unit of
        the last printed digit, or a printed number lies in the interval; else "outside".
    """
    if figure.digits is None and figure.kind == "exact":
        return Comparison("reproduced" if str(measured) == figure.printed else "outside")
    if isinstance(measured, (str, bool)):
        return Comparison("reproduced" if str(measured) == figure.printed else "outside")
    printed = stated_number(figure)
    unit = last_digit(figure)
    if not math.isfinite(measured):
        return Comparison("outside", unit)
    if unit is None:
        if float(measured) == printed:
            return Comparison("reproduced")
    elif _rounded(measured, unit) == _rounded(printed, unit):
        return Comparison("reproduced", unit if figure.kind == "float" else None)
    if figure.kind == "float" and unit is not None:
        # Half a unit of slack for the printed digit's own rounding is in the comparison of rounded values.
        near = abs(_rounded(measured, unit) - _rounded(printed, unit)) <= Decimal(repr(unit))
        return Comparison("within" if near else "outside", unit)
    if interval is None:
        return Comparison("not measured" if figure.kind == "trained" else "outside")
    return Comparison("within" if interval[0] <= printed <= interval[1] else "outside")


def stated_number(figure: Figure) -> float:
    """Return the number in a figure's text, such as 4000 in "4000 (roughly)".

    Raises:
        ValueError: if the text does not start with a number.
    """
    return float(figure.printed.split()[0])


def last_digit(figure: Figure) -> float | None:
    """Return the worth of the last printed digit, such as 0.0001 for ".5933"; None for a number that is not rounded."""
    if figure.digits is None:
        return None
    if not figure.significant:
        return float(f"1e{-figure.digits}")
    magnitude = Decimal(figure.printed).adjusted()
    return float(f"1e{magnitude - figure.digits + 1}")


def _rounded(value: float, unit: float) -> Decimal:
    """Round the exact binary value to a multiple of `unit`, a power of ten, as formatting a float does."""
    return Decimal(float(value)).quantize(Decimal(repr(unit)).normalize(), rounding=ROUND_HALF_EVEN)

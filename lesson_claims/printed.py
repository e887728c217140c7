"""A printed figure against a measured value: equal at the printed digits, inside a tolerance, or outside.

All arithmetic is exact, so any measured value has an answer: of any magnitude, infinite, NaN, a truth value or a text.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from lesson_claims.figures import Figure
from lesson_claims.results.printed_numbers import PrintedNumber, exact
from lesson_claims.results.vocabulary import Agreement, Kind

Plain = bool | int | float | str

MACHINE_LIMIT = 2.5
"""A figure that one seed moves between platforms by more tolerances than this depends on the machine. Of a share the
tolerance is .02, so that the limit is .05; other figures keep this proportion."""

THIS_RUN = "this run's"
"""The name of the only platform where no other is known."""


@dataclass(frozen=True)
class Comparison:
    """How a measured value compares with a printed one.

    Attributes:
        agreement: "reproduced", "within", "outside", "depends on the machine" or "not judged".
        tolerance: what the comparison allows on either side beyond equality at the printed digits, if that is one
            number; an interval stands beside the measurement instead.
        words: what to say of a trained figure that is outside or depends on the machine; else empty.
        unlike_record: what to say where this run's value lies further from those of all known platforms than the
            comparison allows; else empty. That is a finding about this run, not about the page.
    """

    agreement: Agreement
    tolerance: float | None = None
    words: str = ""
    unlike_record: str = ""


def compare(figure: Figure, measured: Plain, within: tuple[float, float] | None = None) -> Comparison:
    """Compare one measured value with a figure of the page.

    Args:
        figure: as the page prints it.
        measured: plain Python value. A percentage is measured as a share: 87% is printed for 0.87.
        within: closed and finite; for a stated figure, where the printed number may lie. Without it, a stated number
            must be equal at its printed digits.

    Returns:
        "reproduced" if the value is equal; for a float, a stated or a trained figure, if it rounds to the printed
        digits. "within" if a float is within one unit of the last printed digit, a stated number in the interval, a
        trained one within its tolerance. "not judged" for what a clock measures. Else "outside"; so is a NaN, whatever
        is printed.

    Raises:
        ValueError: if `within` is given for another kind, or is no finite interval.
    """
    if within is not None:
        _check_interval(figure, within)
    if figure.kind is Kind.CLOCK:
        return Comparison(Agreement.NOT_JUDGED)
    if figure.kind is Kind.TRAINED:
        return compare_trained(figure, measured, {})
    if figure.number is None or isinstance(measured, (str, bool)):
        return Comparison(_same_text(figure, measured))
    if figure.kind is Kind.EXACT:
        return Comparison(_equal(figure.number.value, measured))
    unit, value = float(figure.number.unit), exact(measured)
    if value is None:
        return Comparison(Agreement.OUTSIDE, unit if figure.kind is Kind.FLOAT else None)
    apart = _units_apart(figure.number, value)
    if figure.kind is Kind.FLOAT:
        # Half a unit of slack for the printed digit's own rounding is in the comparison of rounded values.
        near = Agreement.REPRODUCED if apart == 0 else Agreement.WITHIN if apart == 1 else Agreement.OUTSIDE
        return Comparison(near, unit)
    if apart == 0:
        return Comparison(Agreement.REPRODUCED)
    if within is not None and within[0] <= figure.number.value <= within[1]:
        return Comparison(Agreement.WITHIN)
    return Comparison(Agreement.OUTSIDE)


def compare_trained(figure: Figure, measured: Plain, platforms: Mapping[str, Plain]) -> Comparison:
    """Compare the outcome of a training run, at the page's own seed, with a figure of the page.

    The printed number may lie from the nearest of the platforms' values as far as the larger of the figure's tolerance
    and the platforms' spread; as far as both together where that spread is more than `MACHINE_LIMIT` tolerances, for
    there one more platform may well lie beyond the ones tried. Half a unit of its last digit is added for its rounding.
    A text must be equal.

    Args:
        figure: of kind "trained".
        measured: this run's value at the page's seed. Where platforms are known it decides no more than whether the
            figure is reproduced: a run of its own does not turn the page's verdict.
        platforms: the value at the page's seed on each platform, by its name, as kept with the baseline and measured
            with --platforms. If empty, this run's value is the only one.

    Returns:
        "outside" if the printed number is further away; else "depends on the machine" if the platforms lie that far
        apart, so that no digit can be judged; else "reproduced" if this run's value rounds to the printed digits, and
        "within" if not.
    """
    number = figure.number
    # A truth value or a text among the platforms' numbers is of another version of the check, and says nothing.
    values = {name: value for name, value in platforms.items() if not isinstance(value, (bool, str))}
    if number is None or figure.tolerance is None or isinstance(measured, (str, bool)):
        return Comparison(_same_text(figure, measured))
    tolerance, names = Fraction(figure.tolerance), list(values) or [THIS_RUN]
    own = exact(measured)
    known = [value for value in (map(exact, values.values()) if values else [own]) if value is not None]
    if not known:
        return Comparison(Agreement.OUTSIDE, float(tolerance), _not_reproduced(figure, names, "no finite number"))
    is_bounded = len(known) == len(names)
    spread = max(known) - min(known)
    unlike = ""
    if own is None or _distance(own, known) > max(tolerance, spread):
        here = "no finite number" if own is None else _range([own])
        unlike = f"{figure.name}: the page's seed gives {here} here, and {_range(known)} {_tried(names)}"
    rounding = Fraction(number.unit) / 2
    printed = Fraction(number.value)
    if unlike and own is not None and _distance(printed, [own]) <= tolerance + rounding:
        known.append(own)  # a run that gives what is printed is a platform on which it comes out
        spread = max(known) - min(known)
    moves = not is_bounded or spread > Fraction(MACHINE_LIMIT) * tolerance
    allowed = spread + tolerance if moves else max(tolerance, spread)
    agreement, words = Agreement.WITHIN, ""
    if _distance(printed, known) > allowed + rounding:
        agreement, words = Agreement.OUTSIDE, _not_reproduced(figure, names, _range(known))
    elif moves:
        agreement = Agreement.DEPENDS
        words = f"{figure.name} depends on the machine: the page's seed gives {_range(known)} {_tried(names)}"
    elif own is not None and _units_apart(number, own) == 0:
        agreement = Agreement.REPRODUCED
    return Comparison(agreement, _as_float(allowed), words, unlike)


def _distance(value: Fraction, others: Sequence[Fraction]) -> Fraction:
    """Return the distance to the nearest of others."""
    return min(abs(value - other) for other in others)


def _check_interval(figure: Figure, within: tuple[float, float]) -> None:
    if figure.kind is not Kind.STATED:
        raise ValueError(f"{figure.name!r} of {figure.claim} is of kind {figure.kind}: only a stated figure has within")
    low, high = within
    if not (math.isfinite(low) and math.isfinite(high) and low <= high):
        raise ValueError(
            f"within of {figure.name!r} of {figure.claim} is {low} to {high}: it takes two finite ends, the lower first"
        )


def _same_text(figure: Figure, measured: Plain) -> Agreement:
    """Compare as texts; a whole number equals no text that is not a number itself."""
    if figure.number is None and isinstance(measured, int) and not isinstance(measured, bool):
        return Agreement.OUTSIDE
    return Agreement.REPRODUCED if str(measured) == figure.printed else Agreement.OUTSIDE


def _equal(printed: Decimal, measured: float) -> Agreement:
    """Compare as numbers; a float equals the decimal number that it is the nearest float to."""
    value = exact(float(printed) if isinstance(measured, float) else printed)
    return Agreement.REPRODUCED if value is not None and value == exact(measured) else Agreement.OUTSIDE


def _units_apart(number: PrintedNumber, measured: Fraction) -> int:
    """Return how many of its units lie between a printed number and a measured one that is rounded to them.

    Halves are rounded to even, as formatting a float does.
    """
    unit = Fraction(number.unit)
    return abs(round(measured / unit) - round(Fraction(number.value) / unit))


def _not_reproduced(figure: Figure, names: Sequence[str], given: str) -> str:
    printed = f"{figure.name} is printed as {figure.printed} and not reproduced"
    return f"{printed} {_tried(names)}: the page's seed gives {given}"


def _tried(names: Sequence[str]) -> str:
    where = "the platform" if len(names) == 1 else f"the {len(names)} platforms"
    return f"on {where} tried ({', '.join(names)})"


def _range(values: Sequence[Fraction]) -> str:
    low, high = (f"{_as_float(end):.6g}" for end in (min(values), max(values)))
    return low if low == high else f"{low} to {high}"


def _as_float(value: Fraction) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf

"""Numbers as text for people: as many digits as the difference needs to be seen, and no more."""

import math
from collections.abc import Sequence
from decimal import Decimal, InvalidOperation

from lesson_claims.results.printed_numbers import PrintedNumber, read_number

SIGNIFICANT = 6
"""Digits of a number that is compared with nothing."""
NOISE = 1e-12
"""A difference smaller than this share of a number is rounding, and would only cost digits to show."""


def count(number: int, noun: str) -> str:
    """Write a number of things: `1 figure`, `2 figures`."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def parse(text: str) -> float | None:
    """Return the number that `text` writes out, or None if it is some other text."""
    try:
        return float(text) if "_" not in text and text == text.strip() else None
    except ValueError:
        return None


def parse_printed(text: str) -> float | None:
    """Return the number that a page's text stands for, such as 0.87 for 87%, or None if it is some other text."""
    number = _printed(text)
    return None if number is None else float(number.value)


def is_float(text: str) -> bool:
    """Say whether `text` is a float as a table stores it; integers, booleans and words are not."""
    value = parse(text)
    return value is not None and repr(value) == text


def decimals_of(text: str) -> int:
    """Return the decimal places of a number's text: 4 for .8760, 10 for 5.273e-07, 0 for 8000."""
    try:
        exponent = Decimal(text).as_tuple().exponent
    except InvalidOperation:
        return 0
    return max(0, -exponent) if isinstance(exponent, int) else 0


def _printed(text: str) -> PrintedNumber | None:
    try:
        return read_number(text)
    except ValueError:
        return None


def show(value: float, printed: str = "", extra: int = 0) -> str:
    """Write `value` so that its difference from `printed` can be seen.

    Where nothing is printed, six significant digits are shown; more where they would make it look like a rounder
    number than it is (1.00000001). `extra` asks for more digits. Never shows more than repr does, except zeros
    that the page prints as well.
    """
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "inf" if value > 0 else "-inf"
    number = _printed(printed)
    reference = None if number is None else float(number.value)
    least = 0
    if number is not None and reference is not None and math.isfinite(reference):
        least = max(0, -number.unit.adjusted())
        wanted = max(least, _places_to_see(value, reference))
    else:
        wanted = SIGNIFICANT - 1 - _exponent(value)
        rounded = round(value, wanted)
        value = rounded if abs(value - rounded) <= NOISE * abs(value) else value
        if len(f"{rounded:.{SIGNIFICANT - 1}e}".split("e")[0].strip("-0.").replace(".", "")) <= SIGNIFICANT // 2:
            wanted = max(wanted, _places_to_see(value, rounded))
    return _fixed(value, max(min(wanted + extra, decimals_of(repr(value))), least))


def show_all(values: Sequence[tuple[float, str]]) -> list[str]:
    """Write every (value, printed) pair as `show` does, with more digits where different values would look equal."""
    texts = [show(value, printed) for value, printed in values]
    for extra in range(1, 18):
        seen: dict[float, list[float]] = {}
        for (value, _), text in zip(values, texts, strict=True):
            if math.isfinite(value):
                seen.setdefault(float(text), []).append(value)
        alike = {shown for shown, own in seen.items() if max(own) - min(own) > NOISE * max(map(abs, own))}
        if not alike:
            break
        texts = [
            show(value, printed, extra) if float(text) in alike else text
            for (value, printed), text in zip(values, texts, strict=True)
        ]
    return texts


def interval(low: float | None, high: float | None, *, exact: bool = False) -> str:
    """Write an interval to two significant digits of its width, or with every digit; an open one in words.

    An end that is missing or infinite on its own side is open.
    """
    if low is None and high is None:
        return ""
    ends = [None if end is None or end == away else end for end, away in ((low, -math.inf), (high, math.inf))]
    below, above = ends
    if below is None or above is None:
        word, end = ("at most", above) if below is None else ("at least", below)
        return "any number" if end is None else f"{word} {repr(end) if exact else show(end)}".removesuffix(".0")
    return " to ".join((repr(below), repr(above)) if exact else show_ends(below, above))


def show_ends(low: float, high: float) -> tuple[str, str]:
    """Write both ends of an interval to two significant digits of its width."""
    places = _places_to_see(high, low) if math.isfinite(high - low) else 0
    first, second = (_fixed(end, places) if places and math.isfinite(end) else show(end) for end in (low, high))
    return first, second


def duration(seconds: float | None) -> str:
    """Write a duration in the two units that matter."""
    if seconds is None:
        return ""
    if not math.isfinite(seconds):
        return show(seconds)
    if seconds < 1:
        return f"{seconds * 1000:.0f} ms"
    if seconds < 60:
        return f"{seconds:.3g} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s"


def _exponent(value: float) -> int:
    return math.floor(math.log10(abs(value))) if value else 0


def _places_to_see(value: float, reference: float) -> int:
    """Return the decimal places at which the difference of two numbers shows with two digits."""
    difference = value - reference
    if abs(difference) <= NOISE * abs(value):
        return 0
    return max(0, 1 - _exponent(difference))


def _fixed(value: float, places: int) -> str:
    exponent = _exponent(value)
    if value and not -5 < exponent < 16:
        return f"{value:.{max(places + exponent, 0)}e}"
    return f"{value:.{max(places, 0)}f}"


def share_of_range(value: float, low: float, high: float) -> float:
    """Return where `value` stands between finite `low` and `high`: 0 to 1 inside, 0.5 if they are one.

    Halves are compared, because the distance between two floats may be too large for one.
    """
    width = high / 2 - low / 2
    return (value / 2 - low / 2) / width if width > 0 else 0.5

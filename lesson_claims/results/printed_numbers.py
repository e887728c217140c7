"""The number in a page's own text: its exact value, the worth of its last digit, and what else its form says.

    1,608   12 000   .5933   +3   −3.2e-4   3×10⁻⁴   10^-4   87%   1.2k   2 million   ~4000   40 (about)   3.4 ± 0.2

Nothing is rounded: values are decimal numbers of any length.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

LARGEST_EXPONENT = 400
"""Numbers from 1e400 on, or down to 1e-400, are refused: no float reaches beyond 1e308 or below 1e-324."""

SUFFIXES = {
    "": 0,
    "%": -2,
    "percent": -2,
    "per cent": -2,
    "k": 3,
    "K": 3,
    "thousand": 3,
    "M": 6,
    "million": 6,
    "B": 9,
    "billion": 9,
}
"""What may follow a number, and the power of ten that it stands for. A letter follows without a space: 5 K may be a
temperature."""

FORMS = "such as 1,608, .5933, −3.2e-4, 3×10⁻⁴, 87%, 1.2k, about 40, ~4000 or 3.4 ± 0.2"
"""Examples of what is understood, for messages."""

_ABOUT = r"about|around|roughly|approximately|approx\.?|circa|ca\.?"
_BEFORE = re.compile(rf"(?:[~≈∼≃≅]|(?:{_ABOUT})\s)\s*", re.IGNORECASE)
_BEHIND = re.compile(rf"(?:\s*\((?:{_ABOUT})\)|\s+(?:{_ABOUT}))$", re.IGNORECASE)
_MINUS = str.maketrans(dict.fromkeys("−–‐‑", "-"))
_RAISED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻", "0123456789+-")
_NUMBER = re.compile(
    r"""
    (?P<sign>[+-]?)
    (?: (?P<power>10(?:\^|\*\*)\{?(?P<alone>[+-]?[0-9]+)\}?)
      | (?P<whole>[1-9][0-9]{0,2}(?P<mark>[,'’_\u0020\u00a0\u2009\u202f])[0-9]{3}(?:(?P=mark)[0-9]{3})*
         | 0 | [1-9][0-9]* | (?=\.[0-9]))
        (?P<fraction>\.[0-9]*)?
        (?: [eE](?P<e>[+-]?[0-9]+) | \s?[×x·*]\s?10(?:\^|\*\*)\{?(?P<ten>[+-]?[0-9]+)\}? )?
    )
    (?P<suffix>[kKMB] | \s?% | \s(?:per\ ?cent|thousand|million|billion))?
    """,
    re.VERBOSE,
)
_ALMOST = re.compile(r"(?=.*[0-9½⅓⅔¼¾])(?=.*[,'’^×·±~≈½⅓⅔¼¾⁰¹²³⁴⁵⁶⁷⁸⁹%])[\s0-9.+*/%,'’^×·±~≈½⅓⅔¼¾⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻−–-]*")


@dataclass(frozen=True)
class PrintedNumber:
    """A number that a page prints.

    Attributes:
        value: exact. A percentage is a share: 87% is 0.87. 1.2k is 1200.
        unit: worth of the last printed digit, a power of ten: 0.0001 for .5933, 1 for 4000, 100 for 1.2k.
        places: digits behind the point, as printed: 1 for 87.5% and for 1.2e-3.
        significant: digits from the first that is not 0.
        approximate: whether the page says "about", "~" or the like.
        plus_minus: what the page allows on either side, if it says so with ±.
        percent: whether it is printed as a percentage.
    """

    value: Decimal
    unit: Decimal
    places: int
    significant: int
    approximate: bool = False
    plus_minus: Decimal | None = None
    percent: bool = False

    @property
    def is_share(self) -> bool:
        """Whether it may be a part of a whole: a percentage, or a number from 0 to 1."""
        return self.percent or 0 <= self.value <= 1


def read_number(text: str) -> PrintedNumber | None:
    """Return the number that a page's text stands for, or None if it is another text.

    Raises:
        ValueError: if it is a number that no measured one could equal, because its exponent is too large.
    """
    rest = text.strip()
    approximate = False
    if before := _BEFORE.match(rest):
        rest, approximate = rest[before.end() :], True
    elif behind := _BEHIND.search(rest):
        rest, approximate = rest[: behind.start()], True
    first, *others = (part.strip() for part in re.split(r"±|\+/-|\+-", rest))
    number = _match(first)
    if number is None or len(others) > 1:
        return None
    margin = _match(others[0]) if others else None
    if others and (margin is None or margin["sign"]):
        return None
    suffixes = {_suffix(match) for match in (number, margin) if match is not None} - {""}
    if len(suffixes) > 1:
        return None
    suffix = suffixes.pop() if suffixes else ""
    shift = SUFFIXES[suffix]
    try:
        value, unit = _decimal(number, shift)
        plus_minus = _decimal(margin, shift)[0] if margin is not None else None
    except OverflowError:
        if re.fullmatch("[0-9]+", text):
            return None  # a long row of digits is rather a text
        raise ValueError(f"is beyond 1e{LARGEST_EXPONENT} or below 1e-{LARGEST_EXPONENT}") from None
    digits = (_whole(number) + _fraction(number)).lstrip("0")
    return PrintedNumber(
        value, unit, len(_fraction(number)), max(1, len(digits)), approximate, plus_minus, shift == SUFFIXES["%"]
    )


def exact(value: float | Decimal) -> Fraction | None:
    """Return what a measured number is worth, however large; None if it is infinite or NaN."""
    return None if isinstance(value, float) and not math.isfinite(value) else Fraction(value)


def is_almost_number(text: str) -> bool:
    """Say whether a text that is no number has the signs of numbers alone, such as "12,34" or "½"."""
    return _ALMOST.fullmatch(text) is not None


def _match(text: str) -> re.Match[str] | None:
    """Match a number without words and without ±."""
    text = text.translate(_MINUS)
    text = re.sub("(?<=10)[⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻]+", lambda raised: f"^{raised[0].translate(_RAISED)}", text)
    return _NUMBER.fullmatch(text)


def _suffix(match: re.Match[str]) -> str:
    return (match["suffix"] or "").strip()


def _whole(match: re.Match[str]) -> str:
    return "1" if match["power"] else re.sub("[^0-9]", "", match["whole"])


def _fraction(match: re.Match[str]) -> str:
    return (match["fraction"] or "").removeprefix(".")


def _decimal(match: re.Match[str], shift: int) -> tuple[Decimal, Decimal]:
    """Return the value and the worth of the last digit.

    Raises:
        OverflowError: if one of them is too large or too small.
    """
    exponent = (match["alone"] or match["e"] or match["ten"] or "0").lstrip("+")
    places = len(_fraction(match))
    if len(exponent) > len(str(-LARGEST_EXPONENT)) + 1:
        raise OverflowError
    last = int(exponent) + shift - places
    # As text, which no context rounds.
    value = Decimal(f"{match['sign']}{_whole(match)}{_fraction(match)}E{last}")
    if max(abs(value.adjusted()), abs(last)) >= LARGEST_EXPONENT:
        raise OverflowError
    return value, Decimal(f"1E{last}")

"""A strip plot: all seeds of one figure on a line, with the printed value and the interval marked.

Only where things go is computed here; the template draws. (It has no axes, and a page has dozens: drawn by a
plotting library they would cost more time than the rest of the page.)
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from lesson_claims.results.numbers import interval, parse_printed, share_of_range, show, show_all, show_ends

WIDTH = 240.0
"""Width of the drawing in its own units; its height is fixed by the template."""
MARGIN = 9.0
STACK = 3
"""Dots that would cover each other are stacked this high, then they do cover each other."""
APART = 7.0


@dataclass(frozen=True)
class Dot:
    """One seed: where it stands (drawing units, level 0 upwards) and its value in words."""

    x: float
    level: int
    label: str


@dataclass(frozen=True)
class StripPlot:
    """A strip plot ready to be drawn; positions in drawing units from the left, None where there is nothing to mark."""

    dots: tuple[Dot, ...]
    printed: float | None
    low: float | None
    high: float | None
    left: str
    right: str
    description: str
    lost: str
    """What could not be drawn, in words; empty if all was."""


def domain(values: Sequence[float], printed: str, low: float | None, high: float | None) -> tuple[float, float] | None:
    """Return the range that a strip plot must cover, or None if there is no finite value to show."""
    ends = [*values, low, high, parse_printed(printed)]
    finite = [end for end in ends if end is not None and math.isfinite(end)]
    if not any(map(math.isfinite, values)):
        return None
    return min(finite), max(finite)


def strip_plot(
    samples: Sequence[tuple[int, float]],
    printed: str,
    low: float | None,
    high: float | None,
    over: tuple[float, float] | None,
) -> StripPlot:
    """Lay out the `samples`, pairs of seed and value, over a range of values as `domain` gives it."""
    finite = sorted((value, seed) for seed, value in samples if math.isfinite(value))
    lost = [f"seed {seed} is {show(value)}" for seed, value in samples if not math.isfinite(value)]
    start, end = over or (0.0, 0.0)

    def place(value: float | None) -> float | None:
        if value is None or math.isnan(value):
            return None
        share = min(max(share_of_range(value, start, end), 0.0), 1.0)
        return round(MARGIN + share * (WIDTH - 2 * MARGIN), 1)

    dots: list[Dot] = []
    for (value, seed), text in zip(finite, show_all([(value, printed) for value, _ in finite]), strict=True):
        x = place(value) or 0.0
        taken = {dot.level for dot in dots if x - dot.x < APART}
        level = next((level for level in range(STACK) if level not in taken), STACK - 1)
        dots.append(Dot(x, level, f"seed {seed}: {text}"))
    described = [f"{len(finite)} seeds"]
    if finite:
        least, most = show_all([(finite[0][0], ""), (finite[-1][0], "")])
        described[0] += f" from {least} to {most}"
    if printed:
        described.append(f"printed {printed}")
    if low is not None or high is not None:
        described.append(f"interval {interval(low, high)}")
    left, right = show_ends(start, end) if over else ("", "")
    return StripPlot(
        dots=tuple(dots),
        printed=place(parse_printed(printed)) if over else None,
        low=place(-math.inf if low is None and high is not None else low) if over else None,
        high=place(math.inf if high is None and low is not None else high) if over else None,
        left=left,
        right=right,
        description="; ".join([*described, *lost]) + ".",
        lost=", ".join(lost),
    )

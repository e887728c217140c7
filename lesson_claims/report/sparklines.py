"""A sparkline: one figure over the runs of its history, with its baseline band and what changed on the way.

Only where things go is computed here; the template draws. A page may have hundreds, so each is a few paths and no more.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import pairwise
from typing import NamedTuple

import pandas as pd

from lesson_claims.results.drift_tables import changes_in_words, day
from lesson_claims.results.numbers import interval, share_of_range, show_all

WIDTH, HEIGHT = 240.0, 34.0
"""Size of the drawing in its own units; the template puts one line of text below it."""
MARGIN = 5.0
TOLD = 6
"""How many changes are told in words, the latest ones; two machines that take turns make one every night."""


class Night(NamedTuple):
    """A figure in one run: the row of trends.csv, as far as it is drawn."""

    run: str
    when: str
    value: float
    baseline_low: float | None
    baseline_high: float | None
    environment: str
    accepted: str
    drifted: bool

    @property
    def changes(self) -> str:
        """What changed in this run, in words; empty if nothing did."""
        return changes_in_words(self.environment, self.accepted, self.drifted)


@dataclass(frozen=True)
class Sparkline:
    """A sparkline ready to be drawn; positions in drawing units from the left and from the top."""

    line: str
    """Path data of the means, broken where a run did not measure the figure."""
    last: tuple[float, float]
    band: tuple[float, float, float, float] | None
    """Left, top, width and height of the baseline band; None where there is no baseline."""
    environment: tuple[float, ...]
    """Where runs stand that had another environment than the run before them."""
    accepted: tuple[float, ...]
    drifted: tuple[float, ...]
    left: str
    right: str
    latest: str
    """The latest change, in words; empty if there was none."""
    description: str


def nights_of(trends: pd.DataFrame) -> dict[str, dict[str, list[Night]]]:
    """Return the nights of a table as trends.csv has it, by claim and figure, in the order of the table."""
    found: dict[str, dict[str, list[Night]]] = {}
    columns = [trends[name].tolist() for name in ("claim", "figure", *Night._fields)]
    for claim, figure, *night in zip(*columns, strict=True):
        found.setdefault(claim, {}).setdefault(figure, []).append(Night(*night))
    return found


def run_order(times: Mapping[str, str], newest: str) -> dict[str, int]:
    """Return the place of each run, by its time in ISO 8601; `newest` is the last, whatever its clock said."""
    earlier = sorted(times.keys() - {newest}, key=lambda run: (_moment(times[run]), run))
    return {run: place for place, run in enumerate([*earlier, newest])}


def _moment(when: str) -> datetime:
    moment = datetime.fromisoformat(when)
    return moment.replace(tzinfo=moment.tzinfo or UTC)


def sparkline(nights: Sequence[Night], order: Mapping[str, int]) -> Sparkline:
    """Lay out one figure's nights, at least one, over all runs as `run_order` gives them.

    All sparklines of a page share the places of the runs, so that a change stands at the same place in each.
    """
    nights = sorted(nights, key=lambda night: order[night.run])
    places = [order[night.run] for night in nights]
    values = [night.value for night in nights]
    least, most = min(values), max(values)
    band = _band(nights[-1])
    bottom, top = (min(least, band[0]), max(most, band[1])) if band else (least, most)
    steps = max(order.values())
    step = (WIDTH - 2 * MARGIN) / steps if steps else 0.0

    def down(value: float) -> float:
        return round(HEIGHT - MARGIN - share_of_range(value, bottom, top) * (HEIGHT - 2 * MARGIN), 1)

    across = [round(MARGIN + place * step if steps else WIDTH - MARGIN, 1) for place in places]
    points = [f"{x:g} {down(value):g}" for x, value in zip(across, values, strict=True)]
    pieces = [[points[0]]]
    for (before, after), point in zip(pairwise(places), points[1:], strict=True):
        if after == before + 1:
            pieces[-1].append(point)
        else:
            pieces.append([point])

    def where(changed: Callable[[Night], object]) -> tuple[float, ...]:
        return tuple(x for x, night in zip(across, nights, strict=True) if changed(night))

    drawn = None
    if band:
        left = across[next(place for place, night in enumerate(nights) if _band(night) == band)]
        upper = down(band[1])
        drawn = (left, upper, round(WIDTH - MARGIN - left, 1), round(down(band[0]) - upper, 1))
    return Sparkline(
        line="".join(f"M{'L'.join(piece)}" if len(piece) > 1 else f"M{piece[0]}h0" for piece in pieces),
        last=(across[-1], down(values[-1])),
        band=drawn,
        environment=where(lambda night: night.environment),
        accepted=where(lambda night: night.accepted),
        drifted=where(lambda night: night.drifted),
        left=" to ".join(_texts((least, most))) if _whole(values) else interval(least, most),
        right=f"since {day(nights[0].when)}",
        latest=next((_told(night) for night in reversed(nights) if night.changes), ""),
        description=_description(nights, least, most, band),
    )


def _description(nights: Sequence[Night], least: float, most: float, band: tuple[float, float] | None) -> str:
    first, last = nights[0], nights[-1]
    texts = _texts((first.value, last.value, least, most))
    said = f"{len(nights)} runs from {day(first.when)} to {day(last.when)}" if len(nights) > 1 else "1 run"
    parts = [f"{said}: {texts[0]} to {texts[1]}, between {texts[2]} and {texts[3]}"]
    if band:
        low, high = _texts(band)
        parts.append(f"baseline {low}" if low == high else f"baseline {low} to {high}")
    changed = [night for night in nights if night.changes]
    # Nights that moved the figure or its baseline are told first: machines that take turns may be too many.
    important = [night.run for night in changed if night.accepted or night.drifted]
    others = [night.run for night in changed if night.run not in important]
    told = {*(others + important)[-TOLD:]}
    parts += [_told(night) for night in changed if night.run in told]
    if len(changed) > len(told):
        parts.append(f"{len(changed) - len(told)} more changes")
    return "; ".join(parts) + "."


def _whole(values: Sequence[float]) -> bool:
    """Say whether they are whole numbers, such as counts, that floats hold exactly."""
    return all(value.is_integer() and abs(value) < 1e15 for value in values)


def _texts(values: Sequence[float]) -> list[str]:
    return [f"{value:.0f}" for value in values] if _whole(values) else show_all([(value, "") for value in values])


def _told(night: Night) -> str:
    return f"{day(night.when)}: {night.changes}"


def _band(night: Night) -> tuple[float, float] | None:
    low, high = night.baseline_low, night.baseline_high
    if low is None or high is None or not (math.isfinite(low) and math.isfinite(high)):
        return None
    return min(low, high), max(low, high)

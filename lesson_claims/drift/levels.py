"""The levels that a series of nights was at: alarms, the new level after each, and the way back.

After an alarm the nights since the change are the new level, and later nights are compared with those alone. So a
second change is found as the first one was, and one bad night is no level for ever. The change stays open until later
nights look again like those before it. That is noticed in two ways:

- The next alarm is no new change if its nights are like an earlier level; then that level goes on.
- Until then, the last nights are compared with both sides of the change, every night. A false alarm has extreme nights
  by definition, and so has a single bad night: what follows differs from them, and is like what was before.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from lesson_claims.drift.rank_tests import WINDOWS, Alarm

Floats = NDArray[np.float64]

ALIKE = 0.001
"""Nights are like others if no test finds such a difference less likely than this."""

UNLIKE = 3e-4
"""Nights are not like others if a test finds such a difference less likely than this. It is a compromise: with a
larger one, changes that are there are sometimes taken for gone; with a smaller one, false alarms stay open."""


class Series(Protocol):
    """The nights of one figure or claim, and its tests."""

    nights: int

    def first_alarm(self, line: Sequence[int], after: int) -> Alarm | None:
        """Return the first alarm later than the night `after`; only the nights of `line` are there, in this order.

        Nights in the alarm are places in `line`.
        """

    def features(self, reference: Sequence[int], alarm: Alarm) -> Floats:
        """Return what tells each night's values apart from those of `reference`, as sums over its values.

        Shape (features, 3, nights): how many values, their sum and their sum of squares. The first feature is the one
        that moved in `alarm`.
        """


@dataclass(frozen=True)
class Change:
    """A change that was found.

    Attributes:
        alarm: its statistics, with the nights as they are in the series.
        before: the nights of the level before it.
        during: the nights from its first one up to that of the alarm.
    """

    alarm: Alarm
    before: tuple[int, ...]
    during: tuple[int, ...]


@dataclass(frozen=True)
class Event:
    """What a night told.

    Attributes:
        night: when it was told.
        change: the change that was found; or the oldest of those that are gone.
        back: whether it is gone.
        first: the first night after the change or the way back.
    """

    night: int
    change: Change
    back: bool
    first: int


@dataclass(frozen=True)
class Levels:
    """What happened, in order, and the changes that are open after the last night, oldest first."""

    events: list[Event]
    open: list[Change]

    def new_on(self, night: int) -> bool:
        """Say whether a change was found on that night, the last one."""
        return bool(self.events) and self.events[-1].night == night and not self.events[-1].back

    def back_on(self, night: int) -> bool:
        """Say whether a change was gone on that night, the last one."""
        return bool(self.events) and self.events[-1].night == night and self.events[-1].back


def levels(series: Series) -> Levels:
    """Follow a series from its first night to its last."""
    events: list[Event] = []
    changes: list[Change] = []
    line, after = list(range(series.nights)), -1
    while True:
        found = series.first_alarm(line, after)
        alarmed = line[found.night] if found else series.nights
        watched = changes[-1] if events and not events[-1].back else None
        back, first = _way_back(series, watched) if watched else (series.nights, 0)
        if back < series.nights and back <= alarmed:
            change = changes.pop()
            line, after = [*change.before, *range(first, series.nights)], back
            events.append(Event(back, change, back=True, first=first))
            continue
        if found is None:
            return Levels(events, changes)
        during = tuple(line[found.first : found.night + 1])
        place = _like_before(series, during, found, changes)
        if place is None:
            alarm = replace(found, night=alarmed, first=during[0])
            change = Change(alarm, tuple(line[: found.first]), during)
            changes.append(change)
            line = line[found.first :]
        else:
            change = changes[place]
            del changes[place:]
            line = [*change.before, *line[found.first :]]
        events.append(Event(alarmed, change, back=place is not None, first=during[0]))
        after = alarmed


def _like_before(series: Series, nights: Sequence[int], alarm: Alarm, changes: Sequence[Change]) -> int | None:
    """Return the newest of the changes before which it was as in `nights`, or None."""
    for place in reversed(range(len(changes))):
        before = list(changes[place].before)
        sums = series.features(before, alarm)
        if (_p(sums[..., list(nights)].sum(-1), sums[..., before].sum(-1)) > ALIKE).all():
            return place
    return None


def _way_back(series: Series, change: Change) -> tuple[int, int]:
    """Return the night that tells that the change is gone, else how many nights there are; and the first night after.

    It ends a window of nights that are like those before the change and, in what the alarm was about, not like those
    since the change.
    """
    sums = series.features(change.before, change.alarm)
    before, during = (sums[..., list(nights)].sum(-1)[..., None] for nights in (change.before, change.during))
    start = change.alarm.night + 1
    total = np.concatenate([np.zeros((*sums.shape[:2], 1)), sums[..., start:].cumsum(-1)], axis=-1)
    ends = np.arange(1, series.nights - start + 1)
    first = np.full(len(ends), series.nights)
    for stops, starts in ((ends[w:], ends[w:] - w) for w in WINDOWS):
        window = total[..., stops] - total[..., starts]
        told = (_p(window, during + total[..., starts])[0] < UNLIKE) & (_p(window, before) > ALIKE).all(0)
        first[stops[told] - 1] = starts[told] + start  # longer windows come later
    window = total[..., 1:]
    told = (_p(window, during)[0] < UNLIKE) & (_p(window, before) > ALIKE).all(0)
    first[told] = start
    nights = np.flatnonzero(first < series.nights)
    return (start + int(nights[0]), int(first[nights[0]])) if len(nights) else (series.nights, 0)


def _p(x: Floats, y: Floats) -> Floats:
    """Return how likely such a difference of two means is if nothing differs, by the normal approximation.

    `x` and `y` have the shape (features, 3, …): how many values, their sum and their sum of squares.
    """
    n, m = np.maximum(x[:, 0], 1), np.maximum(y[:, 0], 1)
    mean = (x[:, 1] + y[:, 1]) / (n + m)
    variance = np.maximum((x[:, 2] + y[:, 2]) / (n + m) - mean**2, 0) * (1 / n + 1 / m)
    difference = np.abs(x[:, 1] / n - y[:, 1] / m)
    known = (x[:, 0] > 0) & (y[:, 0] > 0) & (variance > 0)
    return np.where(known, 2 * ndtr(-difference / np.sqrt(np.where(known, variance, 1))), 1.0)

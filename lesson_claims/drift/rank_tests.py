"""The drift test of samples over seeds: ranks, and windows of nights over them; and the rates of all drift tests.

Each new value is ranked among all values before it, ties broken at random. While nothing changes, those ranks are
independent and uniform, whatever the distribution, however many ties it has and however short the history is (the
smoothed conformal p-values of Vovk, Gammerman and Shafer, "Algorithmic Learning in a Random World", 2005, section
2.3). Turned into normal scores they are independent standard normal numbers. So the scores of the last w nights, of n
values in all, have a sum that is normal with variance n and a sum of squares that is chi-squared with n degrees of
freedom, exactly; the first tells that the level moved, the second that the spread did. Windows from one night to many
find large changes at once and small or slow ones in time. `tails` tells that some seeds collapsed.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtr, chdtrc, ndtr, ndtri

from lesson_claims.drift.tails import LEAST_REFERENCE, TESTS, tails

Floats = NDArray[np.float64]

WINDOWS = (*range(1, 11), 12, 14, 16, 20, 24, 28, 32, 40, 48, 64, 80, 96, 128)
"""Lengths, in nights, of the windows that end tonight. Neighbours share most of their nights, so that a dense row of
them costs little (`OVERLAP`), and a change is not left waiting for the next length."""

SUITE_RATE = 0.008
"""False alarms a night, over all figures that have samples; the promise is at most 0.01."""

OVERLAP = 3.2
"""How many times the windows' levels may add up to the rate. Windows overlap, so first alarms are rarer than the sum
of their levels: over a year of nights 5.2 times at a level of 1e-4 and 3.4 times at 3e-6, between which those of this
suite lie (the first of them again in `tests/test_drift_rank_tests.py`)."""

LEVEL_SHARE, SPREAD_SHARE, TAIL_SHARE = 0.55, 0.15, 0.3
"""The parts of the rate that are spent on the level, on the spread and on the tails."""

TAIL_OVERLAP = 7.0
"""The same as `OVERLAP` for the tests of tails."""

LEAST_EFFECT = 0.005
"""Smallest move, of mean or standard deviation, that is ever an alarm, as a part of the baseline's mean magnitude."""

CHUNK = 256
"""Values that are ranked at a time: with fewer, the sorting of all before them costs more, with more, the comparing."""


@dataclass(frozen=True)
class Nights:
    """Sums over each night's new values; arrays of shape (..., nights).

    Attributes:
        count: how many values were new.
        score, score2: sums of their normal scores, and of the squares of these.
        value, value2, size: sums of the values themselves, of their squares and of their magnitudes.
        tail_p, tail_start, tail_low, tail_before, tail_after, tail_edge: what `tails` found.
    """

    count: Floats
    score: Floats
    score2: Floats
    value: Floats
    value2: Floats
    size: Floats
    tail_p: Floats
    tail_start: Floats
    tail_low: Floats
    tail_before: Floats
    tail_after: Floats
    tail_edge: Floats

    @classmethod
    def from_samples(cls, samples: Sequence[Floats], ties: Sequence[Floats]) -> "Nights":
        """Score the nights of one figure.

        `samples` holds each night's new finite values, `ties` a number in (0, 1) for each, to break ties with.
        """
        night = np.repeat(np.arange(len(samples)), [len(x) for x in samples])
        x, z = (np.concatenate([np.empty(0), *parts]) for parts in (samples, conformal_scores(samples, ties)))
        columns = (np.ones(len(x)), z, z**2, x, x**2, np.abs(x))
        found = tails(samples, ties, LEAST_EFFECT)
        return cls(
            *(np.bincount(night, column, len(samples)).astype(np.float64) for column in columns),
            *(np.asarray(getattr(found, field.name), dtype=np.float64) for field in fields(found)),
        )


class Quantity(StrEnum):
    """What of a distribution over seeds changed."""

    LEVEL = "level"
    SPREAD = "spread"
    LOW = "low values"
    HIGH = "high values"


@dataclass(frozen=True)
class Alarm:
    """A change that was found.

    Attributes:
        night: the night on which it was found.
        first: the first night after the change, as far as the scores tell.
        what: what changed.
        p: chance of such scores in this window if nothing had changed.
        before, after: mean (of a level), standard deviation (of a spread), or the share of the values beyond `edge`.
        edge: the value beyond which low or high values were counted; else NaN.
    """

    night: int
    first: int
    what: Quantity
    p: float
    before: float
    after: float
    edge: float = np.nan


def conformal_scores(samples: Sequence[Floats], ties: Sequence[Floats]) -> list[Floats]:
    """Return the normal score of each value among all values before it.

    The rank of x among m earlier values, of which L are smaller and E equal, is (L + t(E + 1)) / (m + 1). The values of
    one night come one after another, too.
    """
    values, tie = (np.concatenate([np.empty(0), *parts]) for parts in (samples, ties))
    smaller, equal = _earlier(values)
    rank = (smaller + tie * (equal + 1)) / (np.arange(len(values)) + 1)
    scores = ndtri(np.clip(rank, 1e-15, 1 - 1e-15))
    return np.split(scores, np.cumsum([len(x) for x in samples])[:-1]) if samples else []


def _earlier(values: Floats) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Count, for each of the values, how many of those before it are smaller, and how many are equal to it.

    A chunk at a time: among all chunks before it by bisection, within it by comparing all with all.
    """
    smaller, equal = np.empty((2, len(values)), dtype=np.int64)
    seen = np.empty(0)
    for start in range(0, len(values), CHUNK):
        chunk = slice(start, start + CHUNK)
        x = values[chunk]
        before = np.tri(len(x), k=-1, dtype=bool)
        left, right = (np.searchsorted(seen, x, side) for side in ("left", "right"))
        smaller[chunk] = left + (before & (x[None, :] < x[:, None])).sum(1)
        equal[chunk] = right - left + (before & (x[None, :] == x[:, None])).sum(1)
        new = np.sort(x)
        seen = np.insert(seen, np.searchsorted(seen, new), new)
    return smaller, equal


def tie_breakers(seeds: NDArray[np.int64]) -> Floats:
    """Return a fixed number in (0, 1) for each seed, so that the same history always gives the same scores.

    SplitMix64 of the seed (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014).
    """
    with np.errstate(over="ignore"):
        x = (seeds.astype(np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)  # 0 would stay 0
        x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        x = x ^ (x >> np.uint64(31))
    return ((x >> np.uint64(12)).astype(np.float64) + 0.5) / 2**52


def alarms(nights: Nights, figures: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return for each night whether any of the windows that end there alarms; shape (..., nights).

    `figures`, shape (nights,), says over how many figures each night's rate is shared.
    """
    found = np.asarray(nights.tail_p < _tail_level(figures))
    for w in WINDOWS:
        if w < len(figures):
            window = _Window(nights, w)
            level, spread = _levels(figures[w:])
            moved = (window.level_p < level) & (window.mean_move >= window.least)
            spread_out = (window.spread_p < spread) & (window.spread_move >= window.least)
            found[..., w:] |= (moved | spread_out) & window.usable
    return found


def first_alarm(nights: Nights, figures: NDArray[np.int64], after: int = -1) -> Alarm | None:
    """Return the first alarm later than the night `after` over the nights of one figure (arrays of shape (nights,))."""
    found = alarms(nights, figures)
    found[: after + 1] = False
    if not found.any():
        return None
    night = int(found.argmax())
    upto = Nights(*(getattr(nights, name)[: night + 1] for name in Nights.__annotations__))
    best: dict[Quantity, Alarm] = {}
    for w in range(1, min(night, WINDOWS[-1]) + 1):  # every length here: the window that is clearest dates the change
        window = _Window(upto, w)
        if not window.usable[-1]:
            continue
        for what, p, before, after_, move in (
            (Quantity.LEVEL, window.level_p, window.mean_before, window.mean_after, window.mean_move),
            (Quantity.SPREAD, window.spread_p, window.deviation_before, window.deviation_after, window.spread_move),
        ):
            if move[-1] >= window.least[-1] and (what not in best or p[-1] < best[what].p):
                best[what] = Alarm(night, night + 1 - w, what, float(p[-1]), float(before[-1]), float(after_[-1]))
    # A level that moves far widens the scores and fills a tail as well: each is named where none before it tells.
    (level,), (spread,) = _levels(figures[night : night + 1])
    for what, threshold in ((Quantity.LEVEL, level), (Quantity.SPREAD, spread)):
        if what in best and best[what].p < threshold:
            return best[what]
    return Alarm(
        night, int(nights.tail_start[night]), Quantity.LOW if nights.tail_low[night] else Quantity.HIGH,
        *(float(values[night]) for values in (nights.tail_p, nights.tail_before, nights.tail_after, nights.tail_edge)),
    )  # fmt: skip


def _levels(figures: NDArray[np.int64]) -> tuple[Floats, Floats]:
    """Return the levels of one window's tests of level and of spread."""
    level = SUITE_RATE * OVERLAP / len(WINDOWS) / np.maximum(figures, 1)
    return LEVEL_SHARE * level, SPREAD_SHARE * level


def _tail_level(figures: NDArray[np.int64]) -> Floats:
    """Return the level of each test of a tail."""
    return SUITE_RATE * TAIL_SHARE * TAIL_OVERLAP / TESTS / np.maximum(figures, 1)


class _Window:
    """The tests of every window of w nights that has a night before it; arrays of shape (..., nights - w)."""

    def __init__(self, nights: Nights, w: int) -> None:
        def split(sums: Floats) -> tuple[Floats, Floats]:
            total = np.cumsum(sums, axis=-1)
            return total[..., :-w], total[..., w:] - total[..., :-w]

        m, n = split(nights.count)
        score, score2 = split(nights.score)[1], split(nights.score2)[1]
        self.usable = (n > 0) & (m >= LEAST_REFERENCE)
        n1, m1 = np.maximum(n, 1), np.maximum(m, 1)
        self.level_p = 2 * ndtr(-np.abs(score) / np.sqrt(n1))
        self.spread_p = 2 * np.minimum(chdtr(n1, score2), chdtrc(n1, score2))
        (value, after), (value2, after2) = split(nights.value), split(nights.value2)
        self.mean_before, self.mean_after = value / m1, after / n1
        self.deviation_before = np.sqrt(np.maximum(value2 / m1 - self.mean_before**2, 0))
        self.deviation_after = np.sqrt(np.maximum(after2 / n1 - self.mean_after**2, 0))
        self.mean_move = np.abs(self.mean_after - self.mean_before)
        self.spread_move = np.abs(self.deviation_after - self.deviation_before)
        self.least = LEAST_EFFECT * split(nights.size)[0] / m1

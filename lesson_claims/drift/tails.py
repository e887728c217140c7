"""Tests of a distribution's ends: do more seeds than before lie beyond what was nearly its lowest or highest value?

A training that sometimes collapses moves neither the mean nor the spread much. What tells is a handful of values where
there were none. So the values of a window of nights are compared with those of all nights before it: how many lie
below the r-th lowest of those, or above the r-th highest, for some r. With m values before and n in the window, and
while nothing changes, all orders of the m + n values are equally likely. At least k of the n are below the r-th lowest
of the m exactly if at least k of the n are among the r + k - 1 lowest of all; so the chance is hypergeometric, whatever
the distribution. Equal values are put in an order at random.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import hypergeom

Floats = NDArray[np.float64]

TAIL_WINDOWS = (*range(1, 11), 12, 14, 16, 20, 24, 28, 32, 40, 48, 64)
"""Lengths, in nights, of the windows that end tonight."""

DEPTHS = (0.0, 0.005, 0.02, 0.05, 0.1, 0.2)
"""Which value before the window is the edge: the lowest itself, or the one that this share of the values lies below."""

TESTS = 2 * len(TAIL_WINDOWS) * len(DEPTHS)
"""Tests of one night."""

LEAST_REFERENCE = 20
"""Fewest values before a window that it is compared with."""

_SURELY_NOT = 3.0
"""A count less than so many standard deviations above its mean is no alarm at any level in use; it costs no test."""

_WORTH_NAMING = 1e-3
"""A test with a larger chance is no alarm at any level in use."""

_LENGTHS, _DEPTHS = np.array(TAIL_WINDOWS), np.array(DEPTHS)


@dataclass(frozen=True)
class Tails:
    """The clearest test of each night; arrays of shape (nights,).

    Attributes:
        p: its chance if nothing changed; 1 where no count was worth a test.
        start: the first night of its window.
        low: whether it counts low values (or high ones).
        before, after: the shares of the values beyond the edge, in the nights before the window and in it.
        edge: the value beyond which was counted.
    """

    p: Floats
    start: NDArray[np.int64]
    low: NDArray[np.bool_]
    before: Floats
    after: Floats
    edge: Floats


def tails(samples: Sequence[Floats], ties: Sequence[Floats], least_effect: float) -> Tails:
    """Test both ends of each night's windows.

    `samples` holds each night's new finite values, `ties` a number in (0, 1) for each, to break ties with. A window is
    left aside where neither mean nor standard deviation moved by `least_effect`, a part of the mean magnitude before.
    """
    nights = len(samples)
    x, tie = (np.concatenate([np.empty(0), *parts]) for parts in (samples, ties))
    offsets = np.concatenate([[0], np.cumsum([len(part) for part in samples])]).astype(np.int64)
    order = np.lexsort((tie, x))
    rank = np.empty(len(x), dtype=np.int64)
    rank[order] = np.arange(len(x))
    start, stop, low, r, count, edge = _worth_a_test(rank, offsets)
    m, n = offsets[start], offsets[stop] - offsets[start]
    p = hypergeom.sf(count - 1, m + n, n, r + count - 1)
    kept = np.flatnonzero(p < _WORTH_NAMING)
    kept = kept[_moved(x, offsets[start[kept]], offsets[stop[kept]], least_effect)]
    kept = kept[np.argsort(-p[kept], kind="stable")]  # the clearest of a night is written last, and stays
    night = stop[kept] - 1
    found = Tails(np.ones(nights), np.arange(nights), np.ones(nights, dtype=np.bool_), *np.full((3, nights), np.nan))
    found.p[night], found.start[night], found.low[night] = p[kept], start[kept], low[kept]
    found.before[night], found.after[night] = ((r - 1) / np.maximum(m, 1))[kept], (count / np.maximum(n, 1))[kept]
    found.edge[night] = x[order][edge[kept]]
    return found


def _worth_a_test(rank: NDArray[np.int64], offsets: NDArray[np.int64]) -> tuple[NDArray[np.int64], ...]:
    """Return the counts that are far above their mean: start and stop night, low or not, r, the count and the edge."""
    nights = len(offsets) - 1
    found = [np.empty((6, 0), dtype=np.int64)]
    seen = np.empty(0, dtype=np.int64)
    for start in range(1, nights):
        new = np.sort(rank[offsets[start - 1] : offsets[start]])
        seen = np.insert(seen, np.searchsorted(seen, new), new)
        m = len(seen)
        stops = start + _LENGTHS[: np.searchsorted(_LENGTHS, nights - start, "right")]
        n = offsets[stops] - offsets[start]
        if m < LEAST_REFERENCE or not n[-1]:
            continue
        r = np.maximum((_DEPTHS * m).astype(np.int64), 1)
        edges = np.stack([seen[r - 1], seen[m - r]])
        window = rank[offsets[start] : offsets[stops[-1]]]
        counted = np.zeros((2, len(r), len(window) + 1), dtype=np.int64)
        np.cumsum(window < edges[0, :, None], axis=1, out=counted[0, :, 1:])
        np.cumsum(window > edges[1, :, None], axis=1, out=counted[1, :, 1:])
        k = counted[:, :, n]
        mean = n * (r / (m + 1))[:, None]
        high, depth, length = np.nonzero((k >= 2) & (k > mean + _SURELY_NOT * np.sqrt(mean)))
        if len(high):
            places = (np.full(len(high), start), stops[length], 1 - high, r[depth])
            found.append(np.stack([*places, k[high, depth, length], edges[high, depth]]))
    return tuple(np.concatenate(found, axis=1))


def _moved(x: Floats, start: NDArray[np.int64], stop: NDArray[np.int64], least_effect: float) -> NDArray[np.bool_]:
    """Say which windows differ enough from all before, in mean or standard deviation; places of values."""
    sums = np.concatenate([np.zeros((3, 1)), np.cumsum(np.stack([x, x**2, np.abs(x)]), axis=1)], axis=1)
    before, after = sums[:, start] / start, (sums[:, stop] - sums[:, start]) / (stop - start)
    deviations = [np.sqrt(np.maximum(part[1] - part[0] ** 2, 0)) for part in (before, after)]
    moves = np.maximum(np.abs(after[0] - before[0]), np.abs(deviations[1] - deviations[0]))
    return np.asarray(moves >= least_effect * before[2])

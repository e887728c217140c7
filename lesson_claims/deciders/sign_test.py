"""The exact sign test behind most deciders: whether something happens in more than half of all seeds.

It assumes that seeds are independent draws and nothing about the shape of what they yield, which suits
trained accuracies: bounded, discrete, often in two clusters. Five unanimous seeds decide at the default
level (p = 1/32).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import stats

from lesson_claims.decisions import Verdict

LEVEL = 0.05
"""The one-sided error rate allowed to each direction of each test."""

MOST_SEEDS = 1_000
"""No claim is worth more runs than this: where more would be needed, no number is named."""

Floats = npt.NDArray[np.float64]


class Majority(NamedTuple):
    """A verdict on "in more than half of all seeds", its one-sided p-value and the seeds still needed."""

    verdict: Verdict
    p: float
    needed: int | None


def sample(values: npt.ArrayLike, what: str, *, dimensions: int = 1) -> Floats:
    """Return `values` as a float64 array of `dimensions` axes; ValueError where empty, not finite, or of others."""
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != dimensions or array.size == 0:
        raise ValueError(f"{what} must be a non-empty array of {dimensions} axes, not of shape {array.shape}")
    return finite(array, what)


def finite(array: Floats, what: str) -> Floats:
    """Return `array` as it is; ValueError naming the first NaN or infinity where there is one."""
    wrong = np.argwhere(~np.isfinite(array))
    if len(wrong):
        index = tuple(int(i) for i in wrong[0])
        place = f" at index {index}" if index else ""
        raise ValueError(
            f"{what} is {array[index]}{place}: a run that gave no finite number cannot be compared by size, "
            "find out why it did, or count such runs with share()"
        )
    return array


def check_level(level: float) -> float:
    """Return `level`; ValueError unless 0 < level < 0.5, where both directions of a test exclude each other."""
    if not 0 < level < 0.5:
        raise ValueError(f"level must lie between 0 and 0.5, not {level}")
    return float(level)


def sign_p(successes: Any, seeds: Any) -> Any:
    """Return P(at least `successes` of `seeds`) for a fair coin, elementwise: the one-sided p-value."""
    return stats.binom.sf(np.asarray(successes) - 1, seeds, 0.5)


def majority(yes: int, no: int, seeds: int, *, level: float = LEVEL) -> Majority:
    """Decide whether more than half of all seeds say yes.

    `yes` + `no` may fall short of `seeds`: ties count against both directions, so that for each direction
    the error rate stays at or below `level` whatever the share of ties.
    """
    check_level(level)
    p_yes, p_no = float(sign_p(yes, seeds)), float(sign_p(no, seeds))
    if p_yes <= level:
        return Majority(Verdict.HOLDS, p_yes, None)
    if p_no <= level:
        return Majority(Verdict.REFUTED, p_no, None)
    ahead = max(yes, no)
    needed = seeds_needed(lambda later: sign_p(ahead * later // seeds, later) <= level, seeds)
    return Majority(Verdict.INCONCLUSIVE, min(p_yes, p_no), needed)


def seeds_needed(decided: Callable[[npt.NDArray[np.int64]], Any], seeds: int) -> int | None:
    """Return the smallest number of seeds above `seeds` for which `decided`, None above MOST_SEEDS.

    `decided` maps an array of seed numbers to booleans, supposing that the observed shares persist.
    """
    later = np.arange(seeds + 1, MOST_SEEDS + 1)
    true = np.flatnonzero(decided(later))
    return int(later[true[0]]) if len(true) else None


def median_interval(values: npt.ArrayLike, *, level: float = LEVEL) -> tuple[float, float] | None:
    """Return the exact order-statistic interval of the median, each end erring at most at the rate `level`.

    Its bounds are the values that the sign test of the same level can just not exclude: the smallest and
    largest of five seeds, the sixth from either end of twenty. None where too few values (fewer than five
    at 0.05) bound nothing. Source: Conover, Practical Nonparametric Statistics, section 3.2.
    """
    ordered = np.sort(sample(values, "the sample"))
    # The k-th smallest bounds the median from below: k is the largest with P(Bin(n, 1/2) < k) <= level.
    k = np.count_nonzero(stats.binom.cdf(np.arange(len(ordered)), len(ordered), 0.5) <= check_level(level))
    return None if k == 0 else (float(ordered[k - 1]), float(ordered[-k]))


def number(value: float) -> str:
    """Write a number for a sentence, to four significant digits."""
    return f"{value:.4g}"


def bounds(interval: tuple[float, float] | None) -> str:
    """Write an interval for a sentence."""
    return "too few seeds for an interval" if interval is None else f"{number(interval[0])} to {number(interval[1])}"

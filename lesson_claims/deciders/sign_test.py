"""The sign test behind most deciders: whether something happens in more than half of all seeds.

It assumes that seeds are independent draws and nothing about the shape of what they yield, which suits
trained accuracies: bounded, discrete, often in two clusters.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import stats

from lesson_claims.deciders.e_values import majority_e
from lesson_claims.decisions import LEVEL, Decision, Tested

Floats = npt.NDArray[np.float64]


def in_most_seeds(happened: npt.ArrayLike, *, what: str) -> Decision:
    """Decide whether something happens in more than half of all seeds.

    `happened` has shape (seeds,), booleans: whether it did, by seed; `what` names it. Sign test in each direction,
    exact where the number of seeds is fixed, by e-values where seeds are added until it decides. Assumes independent
    seeds, nothing else. The estimate is the share of seeds with its Clopper–Pearson interval.

    Raises ValueError where there are no seeds, TypeError where a value is no boolean.
    """
    yes = np.asarray(happened)
    if yes.ndim != 1 or not yes.size:
        raise ValueError(f"{what}: needs one value per seed, not an array of shape {yes.shape}")
    if yes.dtype != np.bool_:
        raise TypeError(f"{what}: expected True or False for each seed, not {yes.dtype}")
    wins, seeds = int(yes.sum()), len(yes)
    tested = majority(wins, seeds - wins, seeds)
    sentence = f"{what}: in {wins} of {seeds} seeds."
    return Decision.of_test(tested, sentence, "sign test", wins / seeds, share_interval(wins, seeds), seeds)


def majority(yes: int, no: int, seeds: int, *, ties_refute: bool = False) -> Tested:
    """Test whether more than half of all seeds say yes.

    `yes` + `no` may fall short of `seeds`. The rest are ties, which count against both directions, so that for each of
    them the error rate is kept whatever the share of ties; with `ties_refute` they count as no: what never happens is
    refuted, also where its opposite never does.
    """
    no = seeds - yes if ties_refute else no
    return Tested(
        p_holds=float(sign_p(yes, seeds)),
        p_refuted=float(sign_p(no, seeds)),
        e_holds=float(majority_e(yes, seeds - yes)),
        e_refuted=float(majority_e(no, seeds - no)),
        wins=yes,
    )


def share_interval(successes: int, trials: int) -> tuple[float, float]:
    """Return an exact interval of a probability, each end erring at most at the rate of 0.05.

    Source: Clopper and Pearson, "The use of confidence or fiducial limits", 1934.
    """
    k, n = successes, trials
    low = float(stats.beta.ppf(LEVEL, k, n - k + 1)) if k else 0.0
    return low, float(stats.beta.isf(LEVEL, k + 1, n - k)) if k < n else 1.0


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
            "find out why it did, or count such runs with in_most_seeds()"
        )
    return array


def sign_p(successes: Any, seeds: Any) -> Any:
    """Return P(at least `successes` of `seeds`) for a fair coin, elementwise: the one-sided p-value."""
    return stats.binom.sf(np.asarray(successes) - 1, seeds, 0.5)


def median_interval(values: npt.ArrayLike) -> tuple[float, float] | None:
    """Return the exact order-statistic interval of the median, each end erring at most at the rate of 0.05.

    Its bounds are the values that the sign test can just not exclude: the smallest and largest of five
    seeds, the sixth from either end of twenty. None where too few values (fewer than five) bound nothing.
    Source: Conover, Practical Nonparametric Statistics, section 3.2.
    """
    ordered = np.sort(sample(values, "the sample"))
    # The k-th smallest bounds the median from below: k is the largest with P(Bin(n, 1/2) < k) <= level.
    k = np.count_nonzero(stats.binom.cdf(np.arange(len(ordered)), len(ordered), 0.5) <= LEVEL)
    return None if k == 0 else (float(ordered[k - 1]), float(ordered[-k]))


def number(value: float) -> str:
    """Write a number for a sentence, to four significant digits."""
    return f"{value:.4g}"


def bounds(interval: tuple[float, float] | None) -> str:
    """Write an interval for a sentence."""
    return "too few seeds for an interval" if interval is None else f"{number(interval[0])} to {number(interval[1])}"

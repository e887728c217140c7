"""Shares of many trials against a stated share, and statistics against shuffled labels: exact tests both."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy import stats

from lesson_claims.deciders.sign_test import LEVEL, check_level, finite, number, sample, seeds_needed
from lesson_claims.decisions import Decision, Verdict

PERMUTATION = "permutation test"


def share(
    successes: int,
    trials: int,
    *,
    at_least: float | None = None,
    at_most: float | None = None,
    equals: float | None = None,
    margin: float | None = None,
    seeds: int | None = None,
    level: float = LEVEL,
    what: str = "the share",
) -> Decision:
    """Decide where the probability of success lies: at least, at most, or within `margin` of a stated share.

    Exactly one of `at_least`, `at_most` and `equals` is given, and `margin` with `equals` alone. Assumes
    independent trials of one probability. Exact binomial tests: holds when the Clopper–Pearson interval,
    each end of which errs with probability at most `level`, lies where the claim says; refuted when it lies
    wholly elsewhere. `seeds` says over how many runs the trials were spread evenly (default: each trial is
    a run); `needed` counts the same.

    Raises ValueError for impossible counts, shares outside [0, 1] or another combination of arguments.
    """
    low_limit, high_limit = _limits(at_least, at_most, equals, margin)
    if low_limit <= 0 and high_limit >= 1:
        raise ValueError(f"{what}: every share lies between 0 and 1, a claim that cannot fail shows nothing")
    if not 0 <= successes <= trials or trials < 1:
        raise ValueError(f"{what}: {successes} successes in {trials} trials is impossible")
    runs = trials if seeds is None else seeds
    low, high = (float(end) for end in _clopper_pearson(successes, trials, check_level(level)))
    if low_limit <= low and high <= high_limit:
        verdict = Verdict.HOLDS
    elif high < low_limit or low > high_limit:
        verdict = Verdict.REFUTED
    else:
        verdict = Verdict.INCONCLUSIVE

    def decided(later: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
        ends = _clopper_pearson(successes * later // runs, trials * later // runs, level)
        inside = (low_limit <= ends[0]) & (ends[1] <= high_limit)
        return np.asarray(inside | (ends[1] < low_limit) | (ends[0] > high_limit))

    needed = seeds_needed(decided, runs) if verdict is Verdict.INCONCLUSIVE else None
    stated = " and ".join(
        words
        for words in (
            f"at least {number(low_limit)}" if low_limit > 0 else "",
            f"at most {number(high_limit)}" if high_limit < 1 else "",
        )
        if words
    )
    sentence = (
        f"{what} is {number(successes / trials)} ({successes} of {trials}; {number(low)} to {number(high)}); "
        f"stated: {stated}."
    )
    p = _p(successes, trials, low_limit, high_limit)
    return Decision(verdict, sentence, "binomial test", successes / trials, low, high, p, level, runs, needed)


def better_than_shuffled(
    statistic: npt.ArrayLike, permuted: npt.ArrayLike, *, level: float = LEVEL, what: str = "the statistic"
) -> Decision:
    """Decide whether a statistic exceeds what shuffled labels give: an exact permutation test.

    `statistic` is one number with `permuted` of shape (permutations,), or of shape (seeds,) with `permuted`
    of shape (seeds, permutations), shuffled independently; the means over seeds are compared. Assumes that
    labels are exchangeable where they mean nothing. Holds when at most a share `level` of the shuffles
    (this one counted among them) reaches the statistic; refuted when as few stay at or below it. The
    estimate is the statistic less the mean shuffle. Source of the p-value (1 + hits) / (1 + permutations):
    Phipson and Smyth 2010.

    Raises ValueError for NaN, unlike shapes, and too few permutations ever to reach `level`.
    """
    observed = finite(np.asarray(statistic, dtype=np.float64), "the statistic")
    shuffles = sample(permuted, "the permuted statistics", dimensions=observed.ndim + 1)
    if observed.ndim > 1 or shuffles.shape[:-1] != observed.shape:
        raise ValueError(f"a statistic of shape {observed.shape} does not go with permutations of {shuffles.shape}")
    count = shuffles.shape[-1]
    if 1 / (1 + count) > check_level(level):
        raise ValueError(f"{count} permutations can never reach p = {level}: draw at least {round(1 / level) - 1}")
    mean, reference = float(observed.mean()), shuffles.mean(0) if observed.ndim else shuffles
    p_above = (1 + int(np.sum(reference >= mean))) / (1 + count)
    p_below = (1 + int(np.sum(reference <= mean))) / (1 + count)
    verdict = Verdict.INCONCLUSIVE
    if p_above <= level:
        verdict = Verdict.HOLDS
    elif p_below <= level:
        verdict = Verdict.REFUTED
    low, high = (float(end) for end in np.quantile(mean - reference, [level, 1 - level]))
    sentence = (
        f"{what} is {number(mean)}; {count} shuffles give {number(float(reference.mean()))} on average and at most "
        f"{number(float(reference.max()))} (p = {min(p_above, p_below):.2g})."
    )
    effect = mean - float(reference.mean())
    return Decision(
        verdict,
        sentence,
        PERMUTATION,
        effect,
        low,
        high,
        min(p_above, p_below),
        level,
        max(observed.size, 1),
    )


def _limits(
    at_least: float | None, at_most: float | None, equals: float | None, margin: float | None
) -> tuple[float, float]:
    """Return the interval in which the claim puts the share, 0 and 1 where it sets no limit."""
    given = [value for value in (at_least, at_most, equals) if value is not None]
    if len(given) != 1 or not 0 <= given[0] <= 1:
        raise ValueError(f"give one of at_least, at_most and equals, between 0 and 1, not {given}")
    if (equals is None) != (margin is None) or (margin is not None and not margin > 0):
        raise ValueError(f"equals needs a positive margin and nothing else does, not {margin}")
    if equals is not None and margin is not None:
        return max(0.0, equals - margin), min(1.0, equals + margin)
    return (given[0], 1.0) if at_least is not None else (0.0, given[0])


def _clopper_pearson(successes: npt.ArrayLike, trials: npt.ArrayLike, level: float) -> npt.NDArray[np.float64]:
    """Return both ends, each erring with probability at most `level`. Source: Clopper and Pearson 1934."""
    k, n = np.asarray(successes), np.asarray(trials)
    low = np.where(k == 0, 0.0, stats.beta.ppf(level, np.maximum(k, 1), n - k + 1))
    high = np.where(k == n, 1.0, stats.beta.isf(level, k + 1, np.maximum(n - k, 1)))
    return np.stack([low, high])


def _p(successes: int, trials: int, low_limit: float, high_limit: float) -> float:
    """Return the p-value of the likelier verdict: every limit kept, or one limit broken."""
    kept, broken = [], []
    if low_limit > 0:
        kept.append(stats.binom.sf(successes - 1, trials, low_limit))
        broken.append(stats.binom.cdf(successes, trials, low_limit))
    if high_limit < 1:
        kept.append(stats.binom.cdf(successes, trials, high_limit))
        broken.append(stats.binom.sf(successes - 1, trials, high_limit))
    return min(float(max(kept)), float(min(broken)))

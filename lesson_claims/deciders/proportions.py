"""Shares of many trials against a stated share, and statistics against shuffled labels."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy import stats

from lesson_claims.deciders.e_values import share_e
from lesson_claims.deciders.sign_test import finite, in_most_seeds, number, sample, share_interval
from lesson_claims.decisions import LEVEL, Decision, Tested


def share(
    successes: int,
    trials: int,
    *,
    at_least: float | None = None,
    at_most: float | None = None,
    equals: float | None = None,
    margin: float | None = None,
    of_seeds: bool = False,
    what: str = "the share",
) -> Decision:
    """Decide where the probability of success lies: at least, at most, or within `margin` of a stated share.

    Exactly one of `at_least`, `at_most` and `equals` is given, and `margin` with `equals` alone. Assumes
    independent trials of one probability: rows of fresh data, or runs at seeds of their own (`of_seeds`);
    rows that one trained model scores are none. Exact binomial tests where the number of trials is fixed, as that
    of rows is, and where seeds are added the mixture of Robbins (1970). Where there are two limits, the tests that
    one of them is broken share the level. The interval is that of Clopper and Pearson (1934).

    Raises ValueError for impossible counts, shares outside [0, 1] or another combination of arguments.
    """
    low_limit, high_limit = _limits(at_least, at_most, equals, margin)
    if low_limit <= 0 and high_limit >= 1:
        raise ValueError(f"{what}: every share lies between 0 and 1, a claim that cannot fail shows nothing")
    if not 0 <= successes <= trials or trials < 1:
        raise ValueError(f"{what}: {successes} successes in {trials} trials is impossible")
    stated = " and ".join(
        words
        for words in (
            f"at least {number(low_limit)}" if low_limit > 0 else "",
            f"at most {number(high_limit)}" if high_limit < 1 else "",
        )
        if words
    )
    low, high = share_interval(successes, trials)
    sentence = (
        f"{what} is {number(successes / trials)} ({successes} of {trials}; {number(low)} to {number(high)}); "
        f"stated: {stated}."
    )
    wins = None if not of_seeds or equals is not None else successes if at_least is not None else trials - successes
    tested = _tested(successes, trials, low_limit, high_limit, of_seeds=of_seeds, wins=wins)
    return Decision.of_test(
        tested, sentence, "binomial test", successes / trials, (low, high), trials if of_seeds else 0
    )


def better_than_shuffled(statistic: npt.ArrayLike, permuted: npt.ArrayLike, *, what: str = "the statistic") -> Decision:
    """Decide whether a statistic exceeds what shuffled labels give: a permutation test.

    `statistic` is one number with `permuted` of shape (permutations,): holds when at most a share of 0.05 of the
    shuffles (this one counted among them) reaches it, refuted when as few stay at or below it. Or it has shape
    (seeds,), with `permuted` of shape (seeds, permutations), shuffled independently: the claim is that it does so in
    more than half of all seeds, by the sign test, though by chance alone it would in one of twenty. Assumes
    that labels are exchangeable where they mean nothing. The estimate is the statistic less the mean shuffle.
    Source of the p-value (1 + hits) / (1 + permutations): Phipson and Smyth 2010.

    Raises ValueError for NaN, unlike shapes, and too few permutations ever to reach 0.05.
    """
    observed = finite(np.asarray(statistic, dtype=np.float64), "the statistic")
    shuffles = sample(permuted, "the permuted statistics", dimensions=observed.ndim + 1)
    if observed.ndim > 1 or shuffles.shape[:-1] != observed.shape:
        raise ValueError(f"a statistic of shape {observed.shape} does not go with permutations of {shuffles.shape}")
    count = shuffles.shape[-1]
    if 1 / (1 + count) > LEVEL:
        raise ValueError(f"{count} permutations can never reach p = {LEVEL}: draw at least {round(1 / LEVEL) - 1}")
    p_above = (1 + np.sum(shuffles >= observed[..., None], axis=-1)) / (1 + count)
    p_below = (1 + np.sum(shuffles <= observed[..., None], axis=-1)) / (1 + count)
    if observed.ndim:
        return in_most_seeds(p_above <= LEVEL, what=f"{what} exceeds what {count} shuffles of the labels give")
    mean, reference = float(observed), float(shuffles.mean())
    sentence = (
        f"{what} is {number(mean)}; {count} shuffles give {number(reference)} on average and at most "
        f"{number(float(shuffles.max()))}."
    )
    low, high = (float(end) for end in np.quantile(mean - shuffles, [LEVEL, 1 - LEVEL]))
    # The data are what they are: there is no second look at more of them.
    tested = Tested(float(p_above), float(p_below), _inverse(float(p_above)), _inverse(float(p_below)))
    return Decision.of_test(tested, sentence, "permutation test", mean - reference, (low, high))


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


def _tested(
    successes: int, trials: int, low_limit: float, high_limit: float, *, of_seeds: bool, wins: int | None
) -> Tested:
    """Test that every limit is kept, and that one is broken; two tests of one kind share what they may err."""

    def beyond(limit: float, *, above: bool) -> tuple[float, float]:
        tail = stats.binom.sf(successes - 1, trials, limit) if above else stats.binom.cdf(successes, trials, limit)
        return float(tail), float(share_e(successes, trials, limit, above=above)) if of_seeds else _inverse(float(tail))

    kept: list[tuple[float, float]] = []
    broken: list[tuple[float, float]] = []
    if low_limit > 0:
        kept.append(beyond(low_limit, above=True))
        broken.append(beyond(low_limit, above=False))
    if high_limit < 1:
        kept.append(beyond(high_limit, above=False))
        broken.append(beyond(high_limit, above=True))
    p_refuted = min(1.0, len(broken) * min(p for p, _ in broken))
    return Tested(
        p_holds=max(p for p, _ in kept),
        p_refuted=p_refuted,
        e_holds=min(e for _, e in kept),
        e_refuted=sum(e for _, e in broken) / len(broken) if of_seeds else _inverse(p_refuted),
        wins=wins,
    )


def _inverse(p: float) -> float:
    """Return what stands for the e-value of data that are looked at once, so that their exact p-value decides."""
    return 1 / p if p else np.inf

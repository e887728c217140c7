"""Paired comparisons over seeds: A beats B, A equals B within a margin."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from lesson_claims.deciders.sign_test import Floats, bounds, finite, majority, median_interval, number, sample
from lesson_claims.decisions import Decision, Tested


def beats(
    a: npt.ArrayLike,
    b: npt.ArrayLike,
    *,
    by: float = 0.0,
    names: tuple[str, str] = ("A", "B"),
    unit: str = "",
) -> Decision:
    """Decide whether A exceeds B by more than `by` in more than half of all seeds: P(A − B > by) > 1/2.

    `a` has shape (seeds,); `b` too, paired by seed, or it is one number such as chance. A negative `by` asks
    for no harm: A falls short of B by less than that. Sign test in each direction: refuted when
    A − B ≤ by is shown for more than half of all seeds. Assumes independent seeds, nothing else. A tie
    (A − B equal to `by` up to rounding) is no win. The estimate is the median of A − B with its
    order-statistic interval.

    Raises ValueError for NaN, and for seeds that do not pair.
    """
    if not math.isfinite(by):
        raise ValueError(f"by must be a finite number, not {by}")
    difference, slack = _differences(a, b)
    excess = difference - by
    wins, losses = int(np.sum(excess > slack)), int(np.sum(excess < -slack))
    if by < 0:
        relation = f"falls short of {names[1]} by less than {_with_unit(-by, unit)}, or not at all,"
    else:
        relation = f"exceeds {names[1]}" + (f" by more than {_with_unit(by, unit)}" if by else "")
    finding = f"{names[0]} {relation} in {wins} of {len(difference)} seeds"
    found = majority(wins, losses, len(difference), ties_refute=True)
    return _decision("paired sign test", finding, found, difference, len(difference) - wins - losses, unit)


def equivalent(
    a: npt.ArrayLike,
    b: npt.ArrayLike,
    *,
    margin: float,
    names: tuple[str, str] = ("A", "B"),
    unit: str = "",
) -> Decision:
    """Decide whether A and B differ by less than `margin` in more than half of all seeds.

    The claim is P(|A − B| < margin) > 1/2. Where it holds, the median of A − B lies within the margin: it is
    at least as strict as two one-sided sign tests (TOST) on that median, and unlike those it does not let
    pluses balance minuses. Refuted when |A − B| > margin is shown for more than half of all seeds; a tie
    (equal to the margin) counts against both. Shapes, assumptions, estimate and errors are those of
    `beats`; `margin` must be positive.
    """
    if not 0 < margin < math.inf:
        raise ValueError(f"margin must be a positive number, not {margin}: no runs are equal to the last digit")
    difference, slack = _differences(a, b)
    excess = np.abs(difference) - margin
    inside, outside = int(np.sum(excess < -slack)), int(np.sum(excess > slack))
    within = f"within {_with_unit(margin, unit)} of {names[1]}"
    finding = f"{names[0]} is {within} in {inside} of {len(difference)} seeds"
    found = majority(inside, outside, len(difference))
    ties = len(difference) - inside - outside
    return _decision("equivalence sign test", finding, found, difference, ties, unit)


def _differences(a: npt.ArrayLike, b: npt.ArrayLike) -> tuple[Floats, Floats]:
    """Return A − B per seed, and how far rounding alone can move each: .52 − .50 is not more than .02."""
    first = sample(a, "A, the first sample,")
    second = finite(np.asarray(b, dtype=np.float64), "B, the second sample,")
    if second.ndim and second.shape != first.shape:
        raise ValueError(f"samples pair by seed, yet A has shape {first.shape} and B {second.shape}")
    return first - second, 4 * np.finfo(np.float64).eps * np.maximum(np.abs(first), np.abs(second))


def _with_unit(value: float, unit: str) -> str:
    return f"{number(value)} {unit}".rstrip()


def _decision(rule: str, finding: str, tested: Tested, difference: Floats, ties: int, unit: str) -> Decision:
    """Complete a finding with its ties and effect size."""
    interval = median_interval(difference)
    median = float(np.median(difference))
    sentence = (
        f"{finding}{f', {ties} tied' if ties else ''}; the first minus the second: median {_with_unit(median, unit)} "
        f"({bounds(interval)})."
    )
    return Decision.of_test(tested, sentence, rule, median, interval, len(difference))

"""Paired comparisons over seeds: A beats B, A equals B within a margin."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from claims.deciders.majority import (
    LEVEL,
    Floats,
    bounds,
    majority,
    median_interval,
    number,
    sample,
    without_nan,
)
from claims.decisions import Decision, Verdict


def beats(
    a: npt.ArrayLike,
    b: npt.ArrayLike,
    *,
    by: float = 0.0,
    names: tuple[str, str] = ("A", "B"),
    unit: str = "",
    level: float = LEVEL,
) -> Decision:
    """Decide whether A exceeds B by more than `by` in more than half of all seeds: P(A − B > by) > 1/2.

    `a` has shape (seeds,); `b` too, paired by seed, or it is one number such as chance. A negative `by`
    asks for no harm: A falls short of B by less than that. Exact sign test in each direction: refuted when
    A − B < by is shown for more than half of all seeds. Assumes independent seeds, nothing else. Ties (A −
    B equal to `by` up to rounding) count against both directions. The estimate is the median of A − B with
    its order-statistic interval.

    Raises ValueError for NaN, for seeds that do not pair, and for a `level` outside (0, 0.5).
    """
    difference, slack = _differences(a, b)
    excess = difference - float(without_nan(np.asarray(by, dtype=np.float64), "by"))
    wins, losses = int(np.sum(excess > slack)), int(np.sum(excess < -slack))
    found = majority(wins, losses, len(difference), level=level)
    verb = "exceeds" if by >= 0 else "falls short of"
    limit = "" if by == 0 else f" by {'more' if by > 0 else 'less'} than {_with_unit(abs(by), unit)}"
    if by < 0:
        limit += " or not at all"
    return _decision(
        found.verdict,
        f"{names[0]} {verb} {names[1]}{limit} in {wins} of {len(difference)} seeds",
        difference,
        unit,
        "paired sign test",
        found.p,
        level,
        found.needed,
        ties=len(excess) - wins - losses,
    )


def equivalent(
    a: npt.ArrayLike,
    b: npt.ArrayLike,
    *,
    margin: float,
    names: tuple[str, str] = ("A", "B"),
    unit: str = "",
    level: float = LEVEL,
) -> Decision:
    """Decide whether A and B differ by less than `margin` in more than half of all seeds.

    P(|A − B| < margin) > 1/2. `a` and `b` are as for `beats`. Where this holds,
    the median of A − B lies within the margin: it is at least as strict as two one-sided sign tests (TOST)
    on that median, and unlike those it refuses pluses that balance minuses. Refuted when |A − B| > margin
    is shown for more than half of all seeds. Assumptions, ties, estimate and errors as in `beats`; `margin`
    must be positive.
    """
    if not margin > 0:
        raise ValueError(f"margin must be positive, not {margin}: nothing is shown to be equal to the last digit")
    difference, slack = _differences(a, b)
    excess = np.abs(difference) - margin
    inside, outside = int(np.sum(excess < -slack)), int(np.sum(excess > slack))
    found = majority(inside, outside, len(difference), level=level)
    return _decision(
        found.verdict,
        f"{names[0]} is within {_with_unit(margin, unit)} of {names[1]} in {inside} of {len(difference)} seeds",
        difference,
        unit,
        "equivalence sign test",
        found.p,
        level,
        found.needed,
        ties=len(excess) - inside - outside,
    )


def _differences(a: npt.ArrayLike, b: npt.ArrayLike) -> tuple[Floats, Floats]:
    """Return A − B per seed, and how far rounding alone can move each: .52 − .50 is not more than .02."""
    first = sample(a, "A, the first sample,")
    second = without_nan(np.asarray(b, dtype=np.float64), "B, the second sample,")
    if second.ndim and second.shape != first.shape:
        raise ValueError(f"samples pair by seed, yet A has shape {first.shape} and B {second.shape}")
    difference = without_nan(first - second, "A − B")
    return difference, 4 * np.finfo(np.float64).eps * np.maximum(np.abs(first), np.abs(second))


def _with_unit(value: float, unit: str) -> str:
    return f"{number(value)} {unit}".rstrip()


def _decision(
    verdict: Verdict,
    finding: str,
    difference: Floats,
    unit: str,
    rule: str,
    p: float,
    level: float,
    needed: int | None,
    ties: int,
) -> Decision:
    """Complete the finding with ties, p-value and effect size."""
    interval = median_interval(difference, level=level)
    median = float(np.median(difference))
    tied = f", {ties} tied" if ties else ""
    low, high = interval or (None, None)
    sentence = (
        f"{finding}{tied} (p = {p:.2g}); median difference {_with_unit(median, unit)} ({bounds(interval)}), "
        f"mean {_with_unit(float(np.mean(difference)), unit)}."
    )
    return Decision(verdict, sentence, rule, median, low, high, p, level, len(difference), needed)

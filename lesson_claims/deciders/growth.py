"""How something grows: exponentially, linearly, quadratically or not at all."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from lesson_claims.deciders.sign_test import Floats, bounds, finite, majority, median_interval, number, sample
from lesson_claims.decisions import Decision, Verdict

DEGREES = {"constant": 0, "linear": 1, "quadratic": 2}
SLOPES = {
    "constant": (-0.1, 0.1),
    "linear": (0.9, 1.1),
    "quadratic": (1.8, 2.2),
    "exponential": (0.0, math.inf),
}
"""Ranges for the slope where a check gives none: of log y over log x, or over x for exponential growth."""


def grows(
    x: npt.ArrayLike,
    y: npt.ArrayLike,
    *,
    law: str,
    slope: tuple[float, float] | None = None,
    fit: float = 0.95,
    what: str = "it",
) -> Decision:
    """Decide whether y follows a law of growth in x: "exponential", "linear", "quadratic" or "constant".

    `x` has shape (points,), increasing. With `y` of shape (seeds, points), each seed's line is fitted by
    least squares to log y over log x, or over x for "exponential". The claim: in more than half of all
    seeds its slope lies strictly within `slope` and R² is at least `fit` (R² is not asked of "constant": a
    flat line explains nothing). Decay is a negative range, such as (-inf, -0.1). Sign test, as `beats`, except
    that a slope equal to a limit counts against both directions; the estimate is the median slope.

    With `y` of shape (points,) there is nothing to infer. Counts (integers) and no `slope`: the law must
    hold exactly, y being a polynomial in x of exactly that degree with a positive leading coefficient.
    Otherwise the one fitted line is judged.

    Raises ValueError for NaN, for too few points to contradict the law, x that does not increase, and
    values whose logarithm does not exist.
    """
    if law not in SLOPES:
        raise ValueError(f"law must be one of {', '.join(SLOPES)}, not {law!r}")
    across = sample(x, "x")
    along = finite(np.asarray(y, dtype=np.float64), "y")
    fewest = DEGREES.get(law, 1) + 2
    if len(across) < fewest or np.any(np.diff(across) <= 0):
        raise ValueError(f"x must hold at least {fewest} increasing values to contradict {law} growth, not {across}")
    if along.ndim not in (1, 2) or along.shape[-1] != len(across) or along.size == 0:
        raise ValueError(f"y must have shape (seeds, {len(across)}) or ({len(across)},), not {along.shape}")
    if along.ndim == 1 and slope is None and law in DEGREES and _are_counts(across) and _are_counts(along):
        return _exact(across, along, law, what)

    slopes, fits = _lines(across, np.atleast_2d(along), law)
    low, high = slope or SLOPES[law]
    fitted = fits >= fit if law != "constant" else np.ones(len(slopes), dtype=bool)
    inside = (slopes > low) & (slopes < high)
    # A slope that equals a limit up to rounding is a tie, lest rounding decide a deterministic case.
    tied = np.isclose(slopes, low, rtol=1e-9, atol=1e-9) | np.isclose(slopes, high, rtol=1e-9, atol=1e-9)
    follows, departs = fitted & inside & ~tied, ~fitted | ~(inside | tied)
    axes = "log y over x" if law == "exponential" else "log y over log x"
    wanted = f"a slope of {axes} {_between(low, high)}"
    if law != "constant":
        wanted += f" with R² ≥ {fit:g}"
    seeds, yes, no = len(slopes), int(follows.sum()), int(departs.sum())
    median, worst = float(np.median(slopes)), float(fits.min())
    if along.ndim == 1:
        verdict = Verdict.HOLDS if yes else Verdict.REFUTED
        sentence = f"{what} has slope {number(median)} (R² {worst:.4f}); claimed is {wanted}."
        return Decision(verdict, sentence, "growth fit", median, level=0.0)
    interval = median_interval(slopes)
    sentence = (
        f"{what} has {wanted} in {yes} of {seeds} seeds; median slope {number(median)} ({bounds(interval)}), "
        f"smallest R² {worst:.4f}."
    )
    return Decision.of_test(majority(yes, no, seeds), sentence, "growth sign test", median, interval, seeds)


def _between(low: float, high: float) -> str:
    """Write a range of slopes for a sentence."""
    if math.isinf(low):
        return f"below {number(high)}"
    return f"above {number(low)}" if math.isinf(high) else f"between {number(low)} and {number(high)}"


def _are_counts(values: Floats) -> bool:
    return bool(np.all(values == np.round(values)))


def _exact(x: Floats, y: Floats, law: str, what: str) -> Decision:
    """Decide exact polynomial growth by Newton's divided differences, in rational arithmetic."""
    degree = DEGREES[law]
    places = [Fraction(int(value)) for value in x]
    differences = [Fraction(int(value)) for value in y]
    for order in range(1, degree + 2):
        leading = differences[0]
        differences = [
            (after - before) / (places[i + order] - places[i])
            for i, (before, after) in enumerate(pairwise(differences))
        ]
    holds = not any(differences) and (degree == 0 or leading > 0)
    finding = (
        f"{what} grows from {int(y[0])} at {int(x[0])} to {int(y[-1])} at {int(x[-1])}, "
        f"{'exactly' if holds else 'not'} {law} over {len(x)} points"
    )
    finding += f" (leading coefficient {number(float(leading))})." if holds else "."
    return Decision(Verdict.HOLDS if holds else Verdict.REFUTED, finding, "exact growth", float(leading), level=0.0)


def _lines(x: Floats, y: Floats, law: str) -> tuple[Floats, Floats]:
    """Return each row's least-squares slope on the law's axes, and its R² (1 where a row is exactly flat)."""
    _need_logarithm(y, "y")
    if law != "exponential":
        _need_logarithm(x, "x")
    across = x if law == "exponential" else np.log(x)
    along = np.log(y)
    across = across - across.mean()
    along = along - along.mean(-1, keepdims=True)
    slopes = along @ across / (across @ across)
    total = np.square(along).sum(-1)
    left = np.square(along - slopes[:, None] * across).sum(-1)
    return slopes, 1 - np.divide(left, total, out=np.zeros_like(left), where=total > 0)


def _need_logarithm(values: Floats, name: str) -> None:
    wrong = values[values <= 0]
    if len(wrong):
        raise ValueError(f"{name} must be positive to be seen on a logarithmic axis, not {wrong[0]}")

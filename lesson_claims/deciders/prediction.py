"""Printed figures of training runs, judged as draws from what the same recipe yields over seeds."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
from scipy import stats

from lesson_claims.deciders.sign_test import Floats, finite, number, sample
from lesson_claims.decisions import Decision, Verdict

RULE = "prediction interval"
FEWEST_FOR_INTERVAL = 3
"""Two seeds make an interval 18 standard deviations wide to either side: it would call anything plausible."""


def prediction_interval(
    values: npt.ArrayLike, coverage: float = 0.95, bounds: tuple[float, float] | None = None
) -> tuple[float, float] | None:
    """Return where one further seed falls with probability `coverage`, None below three seeds.

    `values` has shape (seeds,). Student's prediction interval, mean ± t·s·√(1 + 1/n), clipped to `bounds`
    where the quantity has some (an accuracy: 0 and 1), and never narrower than the values seen. The
    coverage is exact for normal values and simulated for others in docs/statistics.md; the smallest and
    largest of five seeds alone would hold the next one only two times in three. Source: Hahn and Meeker,
    Statistical Intervals, section 4.7.

    Raises ValueError for NaN, a coverage outside (0, 1), or values outside `bounds`.
    """
    seen = sample(values, "the sample")
    low, high = bounds or (-math.inf, math.inf)
    if np.any((seen < low) | (seen > high)):
        raise ValueError(f"the sample reaches from {seen.min()} to {seen.max()}, beyond its bounds {low} and {high}")
    if len(seen) < FEWEST_FOR_INTERVAL:
        return None
    ends = student_interval(seen, coverage)
    return max(low, float(ends[0])), min(high, float(ends[1]))


def plausible_draw(
    printed: str | float,
    values: npt.ArrayLike,
    *,
    platforms: npt.ArrayLike | None = None,
    coverage: float = 0.95,
    bounds: tuple[float, float] | None = None,
) -> Decision:
    """Decide whether a printed figure is a plausible draw: within the prediction interval over seeds.

    `printed` as text ("0.9960") stands for every number that rounds to it. `values` has shape (seeds,);
    `platforms`, of any length, holds the page's own run repeated with other instruction sets and thread
    numbers, and extends the interval to the smallest and largest of them. Holds within the interval,
    refuted outside, inconclusive below three seeds. Holding means "not shown to be implausible"; a true
    draw is refuted at the rate 1 − coverage. The p-value is that of Student's predictive distribution; the
    estimate is the median seed. Assumes that the page's run and the seeds are draws of one distribution.
    Raises ValueError for NaN or what is no number, and as `prediction_interval`.
    """
    value, half_unit = _read(printed)
    seen = sample(values, "the sample")
    level, median = round(1 - coverage, 12), float(np.median(seen))
    interval = prediction_interval(seen, coverage, bounds)
    below, above = int(np.sum(seen < value - half_unit)), int(np.sum(seen > value + half_unit))
    place = f"{below} of {len(seen)} seeds are below it and {above} above"
    if interval is None:
        sentence = f"{printed} cannot be placed among fewer than {FEWEST_FOR_INTERVAL} seeds: {place}."
        needed = FEWEST_FOR_INTERVAL
        return Decision(Verdict.INCONCLUSIVE, sentence, RULE, median, level=level, seeds=len(seen), needed=needed)
    low, high = interval
    span = f"{100 * coverage:.3g} % prediction interval"
    if platforms is not None:
        spread = sample(platforms, "the platform spread")
        low, high = min(low, float(spread.min())), max(high, float(spread.max()))
        span += f" joined with {len(spread)} platforms"
    inside = low - half_unit <= value <= high + half_unit
    sentence = (
        f"{printed} is {'a' if inside else 'no'} plausible draw: the {span} reaches from {number(low)} "
        f"to {number(high)} (median {number(median)}); {place}."
    )
    p = _predictive_p(max(abs(value - float(seen.mean())) - half_unit, 0.0), seen)
    verdict = Verdict.HOLDS if inside else Verdict.REFUTED
    return Decision(verdict, sentence, RULE, median, low, high, p, level, len(seen))


def student_interval(values: Floats, coverage: float) -> tuple[Floats, Floats]:
    """Return both ends of `prediction_interval` before clipping, over the last axis of `values`."""
    if not 0 < coverage < 1:
        raise ValueError(f"coverage must lie between 0 and 1, not {coverage}")
    n = values.shape[-1]
    mean = values.mean(-1)
    reach = stats.t.ppf((1 + coverage) / 2, n - 1) * math.sqrt(1 + 1 / n) * values.std(-1, ddof=1)
    return np.minimum(mean - reach, values.min(-1)), np.maximum(mean + reach, values.max(-1))


def _predictive_p(distance: float, seen: Floats) -> float:
    """Return the probability that a further normal draw lies at least `distance` from the mean."""
    scale = math.sqrt(1 + 1 / len(seen)) * float(seen.std(ddof=1))
    if scale == 0:
        return float(distance == 0)
    return float(2 * stats.t.sf(distance / scale, len(seen) - 1))


def _read(printed: str | float) -> tuple[float, float]:
    """Return a figure's value and half a unit of its last printed digit, 0 for a plain number."""
    try:
        value = float(finite(np.asarray(float(printed)), "the printed figure"))
    except (TypeError, ValueError) as error:
        raise ValueError(f"the printed figure {printed!r} is not a number: {error}") from None
    if not isinstance(printed, str):
        return value, 0.0
    digits, _, exponent = printed.strip().lower().partition("e")
    decimals = len(digits.partition(".")[2])
    return value, 0.5 * 10.0 ** (int(exponent or 0) - decimals)

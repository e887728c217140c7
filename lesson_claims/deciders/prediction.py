"""Where one more seed would fall: the interval beside a printed figure of a training run."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
from scipy import stats

from lesson_claims.deciders.sign_test import Floats, sample

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


def student_interval(values: Floats, coverage: float) -> tuple[Floats, Floats]:
    """Return both ends of `prediction_interval` before clipping, over the last axis of `values`."""
    if not 0 < coverage < 1:
        raise ValueError(f"coverage must lie between 0 and 1, not {coverage}")
    n = values.shape[-1]
    mean = values.mean(-1)
    reach = stats.t.ppf((1 + coverage) / 2, n - 1) * math.sqrt(1 + 1 / n) * values.std(-1, ddof=1)
    return np.minimum(mean - reach, values.min(-1)), np.maximum(mean + reach, values.max(-1))

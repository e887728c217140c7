"""Correction for multiplicity: many statistical verdicts in one run, few of them false."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy import stats

from claims.deciders.majority import LEVEL


def corrected(p_values: npt.ArrayLike, level: float = LEVEL) -> npt.NDArray[np.float64]:
    """Return Benjamini–Hochberg adjusted p-values (q-values), shape as given.

    A verdict whose q exceeds `level` is to be reported as inconclusive.
    """
    p = np.asarray(p_values, dtype=np.float64)
    if np.any(np.isnan(p)) or np.any((p < 0) | (p > 1)):
        raise ValueError("p-values must lie between 0 and 1, and NaN is none")
    return np.asarray(stats.false_discovery_control(p, method="bh")) if p.size else p

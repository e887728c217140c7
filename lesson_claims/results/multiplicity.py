"""Correction for multiple tests: a run makes many statistical tests, and few of their verdicts may be false.

Benjamini and Hochberg's procedure on the p-value behind each verdict, inconclusive ones included. It keeps the
expected share of false holds among the verdicts, and that of false refutations, at or below the level each: in
theory under independence, in simulation (docs/statistics.md) also where checks share runs. Benjamini and
Yekutieli's bound for any dependence would let no claim through at five seeds.

It works on rows of decisions.csv, so that one run and the same run put together from shards are corrected alike.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import stats

from lesson_claims.results.vocabulary import ClaimVerdict

LEVEL = 0.05
PREDICTION = "prediction interval"
"""The rule of the test of a printed figure against its seeds; only a refutation is a result there."""
PERMUTATION = "permutation test"
"""The rule of a test whose p-value more seeds do not change."""

Row = dict[str, Any]


def q_values(p_values: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """Return Benjamini–Hochberg q-values, in the order given, for p-values of shape (tests,).

    A test whose q exceeds the level decides nothing. Raises ValueError for NaN and for values outside [0, 1].
    """
    p = np.asarray(p_values, dtype=np.float64)
    if p.ndim != 1 or not np.all((p >= 0) & (p <= 1)):
        raise ValueError(f"p-values must be a list of numbers between 0 and 1, without NaN, not {p}")
    return np.asarray(stats.false_discovery_control(p)) if p.size else p


def corrected(rows: Sequence[Mapping[str, Any]]) -> list[Row]:
    """Return a run's decisions, in order, with those that do not survive the correction made inconclusive.

    Such a row keeps as `alone` and `alone_sentence` what its test says by itself; `uncorrected` puts it back. Rows
    without a p-value are deterministic, and stay. Prediction intervals form a family of their own, because there only
    a refutation is a result. `needed` of a decision that becomes inconclusive counts the seeds at which it would stand
    if all tests of the run had them: its p-value shrinks geometrically, exactly so for unanimous seeds. It is None
    where more seeds would not help (permutation tests, prediction intervals). Raises ValueError as `q_values` does.
    """
    result = [dict(row) for row in rows]
    for intervals in (False, True):
        family = [row for row in result if row["p"] is not None and (row["rule"] == PREDICTION) is intervals]
        p_values = [row["p"] for row in family]
        # What a p-value must reach if the tests that pass one by one are all to pass together.
        target = LEVEL * max(1, sum(p <= LEVEL for p in p_values)) / max(1, len(family))
        for row, q in zip(family, q_values(p_values), strict=True):
            if row["verdict"] in (ClaimVerdict.HOLDS, ClaimVerdict.REFUTED) and q > LEVEL and not _still_held(row):
                _make_inconclusive(row, float(q), len(family), target)
    return result


def uncorrected(rows: Sequence[Mapping[str, Any]]) -> list[Row]:
    """Return corrected decisions as they were before the correction, each by itself."""
    return [
        {**row, "verdict": row["alone"], "sentence": row["alone_sentence"], "needed": None, "alone": "",
         "alone_sentence": ""} if row["alone"] else dict(row)
        for row in rows
    ]  # fmt: skip


def _still_held(row: Row) -> bool:
    """Tell whether it is a printed figure not shown to be implausible, which a large p-value supports."""
    return bool(row["rule"] == PREDICTION and row["verdict"] == ClaimVerdict.HOLDS)


def _make_inconclusive(row: Row, q: float, tests: int, target: float) -> None:
    verdict, sentence, seeds, needed = row["verdict"], row["sentence"], row["seeds"] or 0, None
    if row["rule"] not in (PREDICTION, PERMUTATION):
        needed = max(seeds + 1, math.ceil(seeds * math.log(target) / math.log(row["p"]) - 1e-9))
    row |= {
        "verdict": ClaimVerdict.INCONCLUSIVE.value, "needed": needed, "alone": verdict, "alone_sentence": sentence,
        "sentence": f"{sentence} Alone it would count as {verdict}; among {tests} tests it does not"
        f" (corrected p = {q:.2g}, above {LEVEL:g}).",
    }  # fmt: skip

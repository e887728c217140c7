"""Correction for multiplicity: a run gives many statistical verdicts, and few of them shall be false.

Benjamini and Hochberg's procedure on the p-value behind each verdict, inconclusive ones included. It keeps the
expected share of false holds among the verdicts, and that of false refutations, at or below the level each: in
theory under independence, in simulation (docs/statistics.md) also where checks share runs. Benjamini and
Yekutieli's bound for any dependence would let no claim through at five seeds.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt
from scipy import stats

from claims.deciders import draws, proportions
from claims.deciders.majority import LEVEL, Floats, check_level
from claims.decisions import Decision, Verdict


def corrected(p_values: npt.ArrayLike) -> Floats:
    """Return Benjamini–Hochberg q-values, in the order given, for p-values of shape (tests,).

    A test whose q exceeds the level decides nothing. Raises ValueError for NaN and for values outside [0, 1].
    """
    p = np.asarray(p_values, dtype=np.float64)
    if p.ndim != 1 or not np.all((p >= 0) & (p <= 1)):
        raise ValueError(f"p-values must be a list of numbers between 0 and 1, without NaN, not {p}")
    return np.asarray(stats.false_discovery_control(p)) if p.size else p


def settled(decisions: Sequence[Decision], *, level: float = LEVEL) -> list[Decision]:
    """Return a run's decisions, in order, with those that do not survive the correction made inconclusive.

    Decisions without a p-value are facts, and stay. Prediction intervals form a family of their own, for there
    only a refutation is a finding. `needed` of a decision that falls counts the seeds at which it would stand
    if all tests of the run had them: its p-value shrinks geometrically, exactly so for unanimous seeds. It is
    None where more seeds are not what is missing (shuffles, prediction intervals).
    """
    check_level(level)
    result = list(decisions)
    for of_draws in (False, True):
        family = [i for i, d in enumerate(decisions) if d.p is not None and (d.rule == draws.RULE) is of_draws]
        p_values = [p for i in family if (p := decisions[i].p) is not None]
        # What a p-value must reach if the tests that pass one by one are all to pass together.
        target = level * max(1, sum(p <= level for p in p_values)) / max(1, len(family))
        for i, p, q in zip(family, p_values, corrected(p_values), strict=True):
            if decisions[i].verdict is not Verdict.INCONCLUSIVE and q > level and not _still_held(decisions[i]):
                result[i] = _demoted(decisions[i], p, float(q), level, len(family), target)
    return result


def _still_held(decision: Decision) -> bool:
    """Tell whether it is a printed figure not shown to be implausible, which a large p-value supports."""
    return decision.rule == draws.RULE and decision.verdict is Verdict.HOLDS


def _demoted(decision: Decision, p: float, q: float, level: float, tests: int, target: float) -> Decision:
    needed = None
    if decision.rule not in (draws.RULE, proportions.PERMUTATION):
        needed = max(decision.seeds + 1, math.ceil(decision.seeds * math.log(target) / math.log(p) - 1e-9))
    sentence = (
        f"{decision.sentence} Alone it would count as {decision.verdict.value}; among {tests} tests it does not "
        f"(corrected p = {q:.2g}, above {level:g})."
    )
    return replace(decision, verdict=Verdict.INCONCLUSIVE, sentence=sentence, needed=needed)

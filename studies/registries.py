"""How often a whole registry of claims publishes something false, and whether a verdict hangs on other claims.

Before, all tests of a run were corrected together by the procedure of Benjamini and Hochberg (1995), at 0.05. Now each
verdict must reach a level that follows from the registry alone.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import stats

from lesson_claims.deciders.sign_test import sign_p
from lesson_claims.decisions import LEVEL
from studies.seed_plans import Outcome

FAMILIES = 20_000


class Errors(NamedTuple):
    """Of a whole registry: the probability of at least one false hold, of at least one false refutation."""

    false_hold: float
    false_refutation: float


def now(border: Outcome, at_border: int) -> Errors:
    """Return the errors of a registry in which so many claims end as `border` says, and no other can err."""
    return Errors(*(1 - (1 - rate) ** at_border for rate in (border.holds, border.refuted)))


def before(claims: int, at_border: int, truth: float, seeds: int, seed: int = 0) -> Errors:
    """Return the errors under the correction over a run, of claims with one test each.

    Those at the border are true of the share `truth` of all seeds, the others of all. Simulated in FAMILIES runs; which
    of the two verdicts at the border is false is for the caller to say.
    """
    wins = np.full((FAMILIES, claims), seeds)
    wins[:, :at_border] = np.random.default_rng(seed).binomial(seeds, truth, (FAMILIES, at_border))
    verdicts = _corrected(wins, seeds)[:, :at_border]
    return Errors(float((verdicts > 0).any(1).mean()), float((verdicts < 0).any(1).mean()))


def standing(unanimous: int, undecided: int, seeds: int) -> int:
    """Return how many of the unanimous tests of a run held before, beside undecided ones that few seeds agree with."""
    wins = np.array([seeds] * unanimous + [seeds // 2 + 1] * undecided)[None]
    return int((_corrected(wins, seeds) > 0).sum())


def _corrected(wins: np.ndarray, seeds: int) -> np.ndarray:
    """Return 1 where a test holds, −1 where it is refuted, 0 where neither survives; shape (runs, tests)."""
    p_hold, p_refute = sign_p(wins, seeds), sign_p(seeds - wins, seeds)
    stands = stats.false_discovery_control(np.minimum(p_hold, p_refute), axis=1) <= LEVEL
    return np.where(stands, np.where(p_hold < p_refute, 1, -1), 0)

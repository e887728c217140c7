"""Exact error rates of rules that decide a claim from the seeds that agree with it, at one look or at several.

A plan says for each look which numbers of wins decide. Seeds win independently with one probability, so all
rates follow from the binomial distribution, step by step from look to look, without any simulation.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import special, stats

from lesson_claims.deciders.e_values import majority_e, share_e
from lesson_claims.deciders.sign_test import sign_p
from lesson_claims.decisions import LEVEL, Levels
from lesson_claims.looks import FIRST_LOOK, looks

Evidence = Callable[[npt.NDArray[np.int64], npt.NDArray[np.int64]], npt.NDArray[np.float64]]
"""E-values, of shape (n,), for numbers of wins and of other seeds."""

OLD_MOST_SEEDS = 1_000


class Look(NamedTuple):
    """What is decided at one look: `holds` and `refuted`, shape (seeds + 1,), say it for 0, 1, … wins."""

    seeds: int
    holds: npt.NDArray[np.bool_]
    refuted: npt.NDArray[np.bool_]


class Outcome(NamedTuple):
    """Probabilities of both verdicts, and the mean number of seeds used."""

    holds: float
    refuted: float
    seeds: float


def by_evidence(evidence: Evidence, cap: int, levels: Levels) -> list[Look]:
    """Return the plan that looks again and again until an e-value reaches 1 / level."""
    plan = []
    for seeds in looks(cap):
        wins = np.arange(seeds + 1)
        holds = evidence(wins, seeds - wins) >= 1 / levels.holds
        plan.append(Look(seeds, holds, evidence(seeds - wins, wins) >= 1 / levels.refuted))
    return plan


def by_p_value(seeds: int, levels: Levels) -> list[Look]:
    """Return the plan that looks once, at the exact p-values of the sign test."""
    wins = np.arange(seeds + 1)
    return [Look(seeds, sign_p(wins, seeds) <= levels.holds, sign_p(seeds - wins, seeds) <= levels.refuted)]


def made_for_its_looks(cap: int, levels: Levels) -> list[Look]:
    """Return a plan whose error rates are exact for these looks, and for no others.

    Up to n seeds it has spent the part 1 − 3.6/n of its level, whatever the cap: 0.4 of it at six seeds.
    """
    fewest = [_boundary(cap, level) for level in (levels.holds, levels.refuted)]
    plan = []
    for seeds, hold, refute in zip(looks(cap), *fewest, strict=True):
        wins = np.arange(seeds + 1)
        plan.append(Look(seeds, wins >= hold, seeds - wins >= refute))
    return plan


def outcome(plan: Sequence[Look], truth: float) -> Outcome:
    """Return what becomes of a claim that is true of the share `truth` of all seeds."""
    state, seen, holds, refuted, seeds = np.ones(1), 0, 0.0, 0.0, 0.0
    for look in plan:
        state = _more(state, look.seeds - seen, truth)
        seen = look.seeds
        holds += float(state[look.holds].sum())
        refuted += float(state[look.refuted & ~look.holds].sum())
        decided = look.holds | look.refuted
        seeds += seen * float(state[decided].sum())
        state = np.where(decided, 0.0, state)
    return Outcome(holds, refuted, seeds + seen * float(state.sum()))


def fewest_wins(decided: npt.NDArray[np.bool_]) -> int | None:
    """Return the smallest number of wins from which a look decides, None where it can't."""
    found = np.flatnonzero(decided)
    return int(found[0]) if len(found) else None


def bets(*parts: tuple[float, float]) -> Evidence:
    """Return the evidence of a gambler who bets parts of the capital at stakes: (part, stake), …"""

    def evidence(wins: npt.NDArray[np.int64], others: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
        grown = (part * (1 + stake) ** wins * (1 - stake) ** others for part, stake in parts)
        return np.asarray(sum(grown), dtype=np.float64)

    return evidence


def uniform_e(wins: npt.NDArray[np.int64], others: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
    """Return the evidence that weighs all shares above one half alike."""
    average = special.betaln(wins + 1, others + 1) + np.log(2 * special.betainc(others + 1, wins + 1, 0.5))
    return np.asarray(np.exp(average + (wins + others) * np.log(2)))


def jeffreys_e(wins: npt.NDArray[np.int64], others: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
    """Return the evidence with Jeffreys' weights on the shares above one half."""
    return np.asarray(share_e(wins, wins + others, 0.5, above=True))


def bold_and_uniform_e(wins: npt.NDArray[np.int64], others: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
    """Return the evidence of two parts of five staked wholly, and three spread over all shares above one half."""
    return np.asarray(0.4 * bets((1.0, 1.0))(wins, others) + 0.6 * uniform_e(wins, others))


RULES: dict[str, Evidence] = {
    "**in force**: 0.35 at stake 1, 0.5 at 0.65, 0.15 at 0.4": majority_e,
    "half at stake 1, half at 0.6": bets((0.5, 1.0), (0.5, 0.6)),
    "0.4 at stake 1, 0.6 at 0.6": bets((0.4, 1.0), (0.6, 0.6)),
    "0.3 at stake 1, 0.35 at 0.7, 0.35 at 0.4": bets((0.3, 1.0), (0.35, 0.7), (0.35, 0.4)),
    "a quarter each at 1, 0.8, 0.6, 0.4": bets((0.25, 1.0), (0.25, 0.8), (0.25, 0.6), (0.25, 0.4)),
    "0.4 at stake 1, 0.6 over all shares alike": bold_and_uniform_e,
    "all shares above one half alike": uniform_e,
    "Jeffreys' weights above one half": jeffreys_e,
}
"""Rules of one kind: fair bets whose capital depends on the numbers of wins and of other seeds alone."""


def followed_advice(truth: float, *, first: int = 5, most: int = 100, times: int | None = None) -> Outcome:
    """Return what became of a claim under the rule before: p ≤ 0.05, else "N seeds would decide it", and N were run.

    N was the smallest number that would decide if the observed share persisted; the first seeds were among
    the N. The advice is followed `times` times, or until it asks for more than `most` seeds.
    """
    holds = refuted = seeds = 0.0
    reached = {(first, 0, wins): float(chance) for wins, chance in enumerate(_chances(first, truth))}
    while reached:
        # The fewest seeds first: all ways to a state have met before it is left.
        now, step, wins = state = min(reached)
        chance, ahead = reached.pop(state), max(wins, now - wins)
        if sign_p(ahead, now) <= LEVEL:
            holds, refuted = (holds + chance, refuted) if wins == ahead else (holds, refuted + chance)
        else:
            needed = _needed(ahead, now)
            if needed is not None and needed <= most and step != times:
                for more, part in enumerate(_chances(needed - now, truth)):
                    key = (needed, step + 1, wins + more)
                    reached[key] = reached.get(key, 0.0) + chance * float(part)
                continue
        seeds += now * chance
    return Outcome(holds, refuted, seeds)


@cache
def _needed(ahead: int, seeds: int) -> int | None:
    later = np.arange(seeds + 1, OLD_MOST_SEEDS + 1)
    found = np.flatnonzero(sign_p(ahead * later // seeds, later) <= LEVEL)
    return int(later[found[0]]) if len(found) else None


def _boundary(cap: int, level: float) -> list[int]:
    state, seen, spent, fewest = np.ones(1), 0, 0.0, []
    for seeds in looks(cap):
        state = _more(state, seeds - seen, 0.5)
        seen = seeds
        allowed = level * (1 - 0.6 * FIRST_LOOK / seeds) - spent
        tail = np.cumsum(state[::-1])[::-1]
        affordable = np.flatnonzero(tail <= allowed)
        wins = int(affordable[0]) if len(affordable) else seeds + 1
        spent += float(state[wins:].sum())
        state[wins:] = 0.0
        fewest.append(wins)
    return fewest


def _more(state: npt.NDArray[np.float64], seeds: int, truth: float) -> npt.NDArray[np.float64]:
    return np.convolve(state, _chances(seeds, truth))


@cache
def _chances(seeds: int, truth: float) -> npt.NDArray[np.float64]:
    """Return the probabilities of 0, 1, … wins."""
    return np.asarray(stats.binom.pmf(np.arange(seeds + 1), seeds, truth))

"""The rules for the verdict of a claim.

A claim that was decided over seeds is judged by how many of them agreed with it: the wins of the last nights against
those of all nights before. Its verdict alone says too little, because a claim that is true in about half of all seeds
turns every few nights. What no seed decides, such as its printed figures, may turn it as well: that is drift at once,
as is any other verdict that changes, and an error.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import hypergeom

from lesson_claims.drift.environment import cause
from lesson_claims.drift.judgement import CAME_BACK, Judgement
from lesson_claims.drift.levels import levels
from lesson_claims.drift.rank_tests import WINDOWS, Alarm, Quantity
from lesson_claims.drift.tails import LEAST_REFERENCE
from lesson_claims.drift.values import changed, levels_of
from lesson_claims.results.vocabulary import ClaimVerdict, DriftState

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

VERDICT_RATE = 0.002
"""False alarms a night, over all claims that are decided over seeds."""

WINS_OVERLAP = 10.0
"""How many times the levels of the windows may add up to the rate: windows overlap, and a count seldom reaches a
level exactly. The rate that this gives is measured by `lesson-claims simulate`."""

LEAST_MOVE = 0.05
"""Smallest move of the share of seeds that agree that is ever an alarm."""

_SURELY_NOT = 3.0
"""A window whose wins are nearer to their mean than so many standard deviations is no alarm at any level in use."""


class Wins:
    """Each night's count of seeds that agreed with a claim.

    While nothing changes, and given how many agreed in a window and before it together, each split is as likely as the
    hypergeometric distribution says (Fisher's exact test), whatever the share is; that it was estimated from few nights
    is counted, and a share of 1 needs no smoothing. The same seeds with the same wins are no second night.
    """

    def __init__(self, wins: Integers, seeds: Integers, first_seeds: Integers, claims: Integers) -> None:
        """Take, for each night, wins, seeds, the first of them (-1 if unknown), and how many claims share the rate."""
        self.nights = len(wins)
        self._counts = np.stack([wins, seeds]).astype(np.float64)
        self._claims = claims
        keys = np.stack([wins, seeds, np.where(first_seeds < 0, -1 - np.arange(len(wins)), first_seeds)])
        self._codes = np.unique(keys, axis=1, return_inverse=True)[1].ravel()

    def first_alarm(self, line: Sequence[int], after: int) -> Alarm | None:
        """Return the first alarm later than the night `after`, as `levels.Series` says."""
        nights = list(line)
        new = np.zeros(len(nights))
        new[np.unique(self._codes[nights], return_index=True)[1]] = 1
        total = np.concatenate([np.zeros((2, 1)), np.cumsum(self._counts[:, nights] * new, axis=1)], axis=1)
        levels = VERDICT_RATE * WINS_OVERLAP / len(WINDOWS) / np.maximum(self._claims[nights], 1)
        found = np.zeros(len(nights), dtype=np.bool_)
        for w in WINDOWS:
            ends = np.arange(w, len(nights))
            found[ends] |= _chance(total, ends + 1 - w, ends + 1) < levels[ends]
        found[: np.searchsorted(nights, after, "right")] = False
        if not found.any():
            return None
        night = int(found.argmax())
        starts = np.arange(night, max(night - WINDOWS[-1], 0), -1)
        chances = _chance(total, starts, np.full(len(starts), night + 1))
        start = int(starts[chances.argmin()])
        before, now = (part[0] / part[1] for part in (total[:, start], total[:, night + 1] - total[:, start]))
        return Alarm(night, start, Quantity.LEVEL, float(chances.min()), float(before), float(now))

    def features(self, reference: Sequence[int], alarm: Alarm) -> Floats:
        """Return seeds and wins of each night, as `levels.Series` says; whatever the reference, the wins are all."""
        wins, seeds = self._counts
        return np.stack([seeds, wins, wins])[None]


def _chance(total: Floats, starts: Integers, ends: Integers) -> Floats:
    """Return, for each window, how likely such wins are if the share is what it was before; 1 where nothing is known.

    `total`, shape (2, nights + 1), are the sums of wins and seeds before each night.
    """
    won, of = total[:, starts]
    wins, seeds = total[:, ends] - total[:, starts]
    p = np.ones(len(starts))
    both, all_ = np.maximum(won + wins, 0), np.maximum(of + seeds, 2)
    share = both / all_
    deviation = np.sqrt(seeds * share * (1 - share) * of / (all_ - 1))
    moved = np.abs(wins / np.maximum(seeds, 1) - won / np.maximum(of, 1)) >= LEAST_MOVE
    worth = (of >= LEAST_REFERENCE) & (seeds > 0) & moved & (np.abs(wins - seeds * share) > _SURELY_NOT * deviation)
    numbers = [part[worth].astype(np.int64) for part in (wins, all_, both, seeds)]
    w, *rest = numbers
    p[worth] = 2 * np.minimum(hypergeom.cdf(w, *rest), hypergeom.sf(w - 1, *rest))
    return np.minimum(p, 1)


def claims_over_seeds(figures: pd.DataFrame, runs: int) -> Integers:
    """Return how many claims were decided over seeds in each run of a history."""
    rows = figures[(figures["figure"] == "") & figures["wins"].notna()]
    return np.bincount(rows["run"].to_numpy(), minlength=runs).astype(np.int64)


def judge_verdict(rows: pd.DataFrame, runs: pd.DataFrame, claims: Integers) -> Judgement:
    """Judge a claim by its rows of `History.figures` since its baseline began; the last one is tonight's.

    `claims` says how many claims were decided over seeds in each run, which share the rate of false alarms.
    """
    tonight = rows.iloc[-1]
    verdict = str(tonight["verdict"])
    judgement = Judgement(tonight["claim"], "", str(tonight["kind"]), DriftState.REPRODUCED)
    if verdict == ClaimVerdict.NOT_RUN:
        return replace(judgement, state=DriftState.NOT_MEASURED)
    rows = rows[rows["verdict"] != ClaimVerdict.NOT_RUN]
    if verdict == ClaimVerdict.ERROR:
        return _judge_text(judgement, rows, runs)
    counted = rows[rows["wins"].notna() & (rows["seeds"] > 0)]
    if len(counted) and counted["run"].iloc[-1] == tonight["run"]:
        by_seeds = _judge_wins(judgement, rows, counted, runs, claims)
    elif len(counted) or (rows["seeds"] > 0).any():
        turn = _turn(rows)
        said = turn and f"{turn}; how many seeds agree is not known"
        by_seeds = replace(judgement, state=DriftState.WITHIN, sentence=said)
    else:
        return _judge_text(judgement, rows, runs)
    facts = _judge_facts(judgement, rows, runs)
    if facts.state is not DriftState.DRIFTED:
        return by_seeds
    sentence = "; ".join(filter(None, (facts.sentence, by_seeds.sentence)))
    return replace(facts, new=facts.new or by_seeds.new, sentence=sentence)


def _judge_text(judgement: Judgement, rows: pd.DataFrame, runs: pd.DataFrame) -> Judgement:
    """Judge the verdict of a claim that no seed decides; one of fewer seeds than before may be undecided."""
    fewer = runs.loc[rows["run"], "seeds"] < runs.loc[rows["run"], "seeds"].cummax()
    decided = rows[~((rows["verdict"] == ClaimVerdict.INCONCLUSIVE).to_numpy() & fewer.to_numpy())]
    if not len(decided) or decided["run"].iloc[-1] != rows["run"].iloc[-1]:
        return replace(judgement, state=DriftState.WITHIN)
    if len(decided) == 1:
        return replace(judgement, state=DriftState.NO_BASELINE)
    return _judge_turns(judgement, decided, "verdict", runs, "verdict ")


def _judge_facts(judgement: Judgement, rows: pd.DataFrame, runs: pd.DataFrame) -> Judgement:
    """Judge what no seed decides of a claim over seeds."""
    known = rows[rows["facts"].notna() & (rows["facts"] != "")]
    if not len(known) or known["run"].iloc[-1] != rows["run"].iloc[-1]:
        return judgement
    return _judge_turns(judgement, known, "facts", runs, "what no seed decides: ")


def _judge_turns(judgement: Judgement, rows: pd.DataFrame, column: str, runs: pd.DataFrame, about: str) -> Judgement:
    """Judge a column of verdicts, each of which is a level of its own; `about` begins the sentence."""
    verdicts = rows[column].astype(str).tolist()
    level = levels_of(verdicts, [""] * len(verdicts), str.__ne__)[""]
    if len(level.places) == 1:
        return judgement
    judgement = changed(judgement, verdicts, rows["run"].tolist(), level.places, runs)
    return replace(judgement, sentence=about + judgement.sentence)


def _judge_wins(
    judgement: Judgement, rows: pd.DataFrame, counted: pd.DataFrame, runs: pd.DataFrame, claims: Integers
) -> Judgement:
    at = counted["run"].to_numpy()
    wins, seeds = (counted[name].to_numpy().astype(np.int64) for name in ("wins", "seeds"))
    told = levels(Wins(wins, seeds, runs.loc[at, "first_seed"].to_numpy(), claims[at]))
    turn = _turn(rows)
    returned = f"{CAME_BACK}: {wins[-1]} of {seeds[-1]} seeds agree" if told.back_on(len(at) - 1) else ""
    if told.open:
        alarm = told.open[-1].alarm
        said = f"agrees in {alarm.before:.0%} → {alarm.after:.0%} of seeds (p = {alarm.p:.1g})"
        return replace(
            judgement, state=DriftState.DRIFTED, new=told.new_on(len(at) - 1),
            sentence="; ".join(filter(None, (returned, turn, said))),
            cause=cause(runs.loc[at[max(alarm.first - 1, 0)]], runs.loc[at[alarm.first]]),
        ).dated(runs.loc[at[alarm.first]])  # fmt: skip
    if seeds[:-1].sum() < LEAST_REFERENCE:
        return replace(judgement, state=DriftState.NO_BASELINE)
    if returned or turn:
        said = "; ".join(filter(None, (returned, turn and f"{turn}, {wins[-1]} of {seeds[-1]} seeds agree")))
        return replace(judgement, state=DriftState.WITHIN, sentence=said)
    return judgement


def _turn(rows: pd.DataFrame) -> str:
    """Say how the verdict differs from the one before; empty where it does not."""
    last = rows["verdict"].astype(str).iloc[-2:].tolist()
    return "" if last[0] == last[-1] else f"verdict {last[0]} → {last[-1]}"

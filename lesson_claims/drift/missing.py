"""What a run lacks or has for the first time: claims and figures, and the seeds of a sample."""

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from lesson_claims.drift.environment import cause
from lesson_claims.drift.judgement import Judgement
from lesson_claims.drift.past import keys_of, there
from lesson_claims.results.acceptance import Key
from lesson_claims.results.history import History
from lesson_claims.results.vocabulary import OPEN, DriftState

APPEARED = "appeared"


@dataclass(frozen=True)
class SampleDefect:
    """What is wrong with the sample of a figure in this run.

    Attributes:
        sentence: what it is, in words.
        state: drifted where values are not finite, else seeds lost.
        new: the run before was not yet like that.
        first: the first run, as a place in `History.runs`, since which it is so.
    """

    sentence: str
    state: DriftState
    new: bool
    first: int


def absent(judgement: Judgement, seen: int, last: str, runs: pd.DataFrame) -> Judgement:
    """Return what is to be said of a claim or figure that the last of `runs` lacks.

    `judgement` is about `seen`, the last run that had it, and `last` is its verdict or value there. A run of some
    claims only, or an incomplete one, makes nothing vanish, and nothing that is open is closed by it.
    """
    lacking = [run for run in range(seen + 1, len(runs)) if not runs["partial"].iloc[run]]
    if not lacking:
        known = judgement.state in OPEN
        return replace(judgement, new=False) if known else _not_measured(judgement)
    sentence = f"{last} → not measured" if judgement.figure else f"verdict {last} → not run"
    return replace(
        _not_measured(judgement),
        state=DriftState.VANISHED,
        new=lacking[0] == len(runs) - 1,
        sentence=sentence,
        cause=cause(runs.loc[seen], runs.loc[lacking[0]]),
    ).dated(runs.loc[lacking[0]])


def told_by_claim(judgement: Judgement, claim: Judgement | None) -> Judgement:
    """Return the judgement of a figure, without words where that of its claim says already why it is not there."""
    if judgement.state is not DriftState.VANISHED or claim is None or claim.state not in OPEN:
        return judgement
    return _not_measured(judgement)


def gap(seen: list[int], runs: pd.DataFrame) -> str:
    """Return since which run a claim or figure was gone before the last one, or an empty text; `seen` are its runs."""
    if len(seen) < 2:
        return ""
    lacking = [run for run in range(seen[-2] + 1, seen[-1]) if not runs["partial"].iloc[run]]
    return str(runs["name"].iloc[lacking[0]]) if lacking else ""


def appeared(history: History) -> set[Key]:
    """Return the claims and figures that the last run of `history` has and no earlier one had."""
    last = len(history.runs) - 1
    if not last:
        return set()
    now, before = (history.figures[which] for which in (history.figures["run"] == last, history.figures["run"] < last))
    return set(keys_of(there(now))) - set(keys_of(there(before)))


def sample_defect(sample: pd.DataFrame, seen: list[int], runs: pd.DataFrame) -> SampleDefect | None:
    """Return what is wrong with the sample of a figure in its last run, or None.

    `sample` are its rows of `History.samples`; `seen` are the runs that measured the figure, with a sample or without.
    """
    values = sample.assign(bad=~np.isfinite(sample["value"])).groupby("run")["bad"].agg(["size", "sum"])
    counts = values.reindex([run for run in seen if run >= values.index[0]], fill_value=0)
    sizes, bad = counts["size"], counts["sum"]
    tonight = sizes.index[-1]
    if bad.iloc[-1]:
        sentence = f"{bad.iloc[-1]} of {sizes.iloc[-1]} seeds gave NaN or infinity"
        first = _first(bad > 0)
        return SampleDefect(sentence, DriftState.DRIFTED, bool(first == tonight), first)
    wanted = int(runs["seeds"].loc[tonight])
    alike = sizes[(runs["seeds"].loc[sizes.index] == wanted).to_numpy()]
    usual = _usual(sizes, alike, wanted)
    if sizes.iloc[-1] >= usual:
        return None
    first = _first(alike < usual)
    fewer = len(alike) > 1 and alike.iloc[-1] < alike.iloc[-2]
    sentence = f"{sizes.iloc[-1]} of {usual} seeds left"
    return SampleDefect(sentence, DriftState.SEEDS_LOST, bool(first == tonight or fewer), first)


def _usual(sizes: pd.Series, alike: pd.Series, wanted: int) -> int:
    """Return how many seeds the last run should have for a figure, from the sizes of the samples of its earlier runs.

    `alike` are those of runs that wanted as many. The page's own seed may be one more; a run that stops where a claim
    is decided has any number beyond what it wanted.
    """
    earlier = int(alike.iloc[:-1].max()) if len(alike) > 1 else 0
    if not earlier:
        return wanted if len(sizes) > 1 and not sizes.iloc[-1] else 0
    return earlier if earlier <= wanted + 1 else wanted


def _first(defect: pd.Series) -> int:
    """Return the first run of those at the end that have a defect; `defect` is a flag by run."""
    sound = np.flatnonzero(~defect.to_numpy())
    return int(defect.index[sound[-1] + 1 if len(sound) else 0])


def _not_measured(judgement: Judgement) -> Judgement:
    return Judgement(judgement.claim, judgement.figure, judgement.kind, DriftState.NOT_MEASURED)

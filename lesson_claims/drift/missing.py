"""What a run lacks or has for the first time: claims and figures, and the seeds of a sample."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd

from lesson_claims.drift.judgement import Judgement
from lesson_claims.results.history import History
from lesson_claims.results.vocabulary import ClaimVerdict, DriftState

Key = tuple[str, str]
"""A claim and a figure; no figure means the claim itself."""


@dataclass(frozen=True)
class SampleDefect:
    """What is wrong with the sample of a figure in this run.

    Attributes:
        sentence: what it is, in words.
        finite: whether all values are finite; if not, the figure has drifted, whatever the others say.
        new: the run before was not yet like that.
    """

    sentence: str
    finite: bool
    new: bool


def judge_missing(history: History, unmeasured: set[str]) -> Iterator[Judgement]:
    """Yield a judgement for every claim or figure that earlier runs had and the last run of `history` lacks.

    `unmeasured` are the claims that this run did not run. A run of some claims only, or an incomplete one, makes
    nothing vanish.
    """
    last = len(history.runs) - 1
    previous = _previous_whole(history)
    if previous is None:
        return
    now, before = (_measured(history.figures[history.figures["run"] == run]) for run in (last, previous))
    ever = _measured(history.figures[history.figures["run"] < last])
    partial = history.runs.loc[last, "partial"]
    for (claim, figure), kind in ever.items():
        if (claim, figure) in now:
            continue
        vanished = (claim, figure) in before and not partial
        if vanished and claim in unmeasured and figure and (claim, "") not in now:
            continue  # the claim's own judgement says it for its figures
        if not vanished:
            yield Judgement(claim, figure, kind, DriftState.NOT_MEASURED)
            continue
        sentence = "vanished: the run before had it" if figure else "not run, though the run before ran it"
        judgement = Judgement(claim, figure, kind, DriftState.NOT_MEASURED, new=True, sentence=sentence)
        yield judgement.dated(history.runs.loc[last])


def appeared(history: History) -> dict[Key, str]:
    """Return the claims and figures, with their kinds, that the last run of `history` has and no earlier one had."""
    last = len(history.runs) - 1
    if _previous_whole(history) is None:
        return {}
    now = _measured(history.figures[history.figures["run"] == last])
    ever = _measured(history.figures[history.figures["run"] < last])
    return {key: kind for key, kind in now.items() if key not in ever}


def sample_defect(sample: pd.DataFrame, runs: pd.DataFrame) -> SampleDefect | None:
    """Return what is wrong with the last run's sample of a figure, or None."""
    tonight = sample["run"].iloc[-1]
    sizes = sample.assign(bad=~np.isfinite(sample["value"])).groupby("run")["bad"].agg(["size", "sum"])
    sizes.columns = pd.Index(["seeds", "bad"])
    wanted = runs["seeds"].reindex(sizes.index)
    now = sizes.loc[tonight]
    before = sizes.iloc[-2] if len(sizes) > 1 else now * 0
    if now["bad"]:
        return SampleDefect(
            f"{now['bad']} of {now['seeds']} seeds gave NaN or infinity", finite=False, new=not before["bad"]
        )
    lost = wanted - sizes["seeds"]
    usual = lost.iloc[:-1].min() if len(lost) > 1 else lost.iloc[-1]
    if lost.iloc[-1] > max(usual, 0):
        return SampleDefect(
            f"{now['seeds']} of {wanted.iloc[-1]} seeds left", finite=True, new=bool(lost.iloc[-1] > lost.iloc[-2])
        )
    return None


def _measured(figures: pd.DataFrame) -> dict[Key, str]:
    """Return the claims that ran and the figures that were measured, with their kinds."""
    there = figures[((figures["figure"] == "") & (figures["verdict"] != ClaimVerdict.NOT_RUN))
                    | ((figures["figure"] != "") & (figures["measured"] != ""))]  # fmt: skip
    there = there.drop_duplicates(["claim", "figure"], keep="last")
    return {(c, f): k for c, f, k in zip(there["claim"], there["figure"], there["kind"].astype(str), strict=True)}


def _previous_whole(history: History) -> int | None:
    """Return the place of the last earlier run that was not of some claims only, or None."""
    whole = [run for run in range(len(history.runs) - 1) if not history.runs.loc[run, "partial"]]
    return whole[-1] if whole else None

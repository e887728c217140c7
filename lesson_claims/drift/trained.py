"""The rule for a figure that has a sample over seeds: the distribution decides, never one number."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from lesson_claims.drift.environment import cause
from lesson_claims.drift.judgement import CAME_BACK, Judgement
from lesson_claims.drift.levels import levels
from lesson_claims.drift.rank_tests import Alarm, Quantity
from lesson_claims.drift.seeds import Samples
from lesson_claims.drift.tails import LEAST_REFERENCE
from lesson_claims.drift.values import judge_numerics
from lesson_claims.results.vocabulary import DriftState, Kind


def judge_sample(
    sample: pd.DataFrame, page: pd.DataFrame, runs: pd.DataFrame, figures: NDArray[np.int64]
) -> tuple[Judgement, Alarm | None]:
    """Judge a figure by its samples since its baseline began; return the alarm of the newest open change, too.

    `sample` are its rows of `History.samples`, the last ones tonight's; `page` its rows of `History.figures` that have
    a measured value, which is the page's own seed's; `figures` how many figures had samples in each run. Values that
    are not finite are left out, because they have no rank (`missing.sample_defect` names them).
    """
    spanned = sample["run"].unique()
    last = len(spanned) - 1
    finite = sample[np.isfinite(sample["value"])]
    starts = np.searchsorted(finite["run"], [*spanned, spanned[-1] + 1])
    seeds, values = ([finite[name].to_numpy()[a:b] for a, b in pairwise(starts)] for name in ("seed", "value"))
    told = levels(Samples(seeds, values, figures[spanned]))
    judgement = Judgement(sample["claim"].iloc[-1], sample["figure"].iloc[-1], Kind.TRAINED, DriftState.WITHIN)
    back = f"{CAME_BACK}: {_told(told.events[-1].change.alarm)} is gone" if told.back_on(last) else ""
    if told.open:
        alarm = told.open[-1].alarm
        earlier = [f"open before: {_told(change.alarm)}" for change in told.open[-2::-1]]
        since = runs.loc[spanned[alarm.first]]
        return replace(
            judgement, state=DriftState.DRIFTED, new=told.new_on(last),
            sentence="; ".join(filter(None, (back, f"{_told(alarm)} (p = {alarm.p:.1g})", *earlier))),
            cause=cause(runs.loc[spanned[max(alarm.first - 1, 0)]], since),
        ).dated(since), alarm  # fmt: skip
    before = sum(len(part) for part in values[:-1])
    if before < LEAST_REFERENCE:
        return replace(
            judgement, state=DriftState.NO_BASELINE,
            sentence=f"{before} values over seeds so far, {LEAST_REFERENCE} are needed",
        ), None  # fmt: skip
    fixed = _same_seeds(sample, page)
    if len(fixed) > 1:
        numerics = judge_numerics(fixed, runs)
        judgement = replace(numerics, claim=judgement.claim, figure=judgement.figure, kind=Kind.TRAINED)
    return replace(judgement, sentence="; ".join(filter(None, (back, judgement.sentence)))), None


def _told(alarm: Alarm) -> str:
    if alarm.what in (Quantity.LEVEL, Quantity.SPREAD):
        quantity = "mean" if alarm.what is Quantity.LEVEL else "standard deviation"
        return f"{quantity} {alarm.before:.4g} → {alarm.after:.4g} over seeds"
    side = "below" if alarm.what is Quantity.LOW else "above"
    return f"values {side} {alarm.edge:.4g}: {alarm.before:.2g} → {alarm.after:.2g} of the seeds"


def _same_seeds(sample: pd.DataFrame, page: pd.DataFrame) -> pd.DataFrame:
    """Return rows with `run` and `measured`: per run the values at seeds that tonight's run has in common with it."""
    tonight = sample["run"].iloc[-1]
    if len(page) and page["run"].iloc[-1] == tonight:
        return page  # the page's own seed is run every night
    seeds = sample.loc[sample["run"] == tonight, "seed"]
    common = sample[sample["seed"].isin(seeds)]
    whole = common.groupby("run", observed=True).filter(lambda rows: len(rows) == len(seeds))
    texts = whole.sort_values(["run", "seed"]).groupby("run")["value"].agg(lambda x: ", ".join(map(repr, x.tolist())))
    labels = {"claim": sample["claim"].iloc[0], "figure": sample["figure"].iloc[0], "kind": Kind.TRAINED}
    return texts.rename("measured").reset_index().assign(**labels)

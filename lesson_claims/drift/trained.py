"""The rule for a figure that has a sample over seeds: the distribution decides, never one number."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from lesson_claims.drift.environment import cause
from lesson_claims.drift.judgement import Judgement
from lesson_claims.drift.rank_tests import LEAST_REFERENCE, Alarm, Nights, Quantity, first_alarm, tie_breakers
from lesson_claims.drift.values import judge_numerics
from lesson_claims.results.vocabulary import DriftState, Kind


def nights_of(sample: pd.DataFrame) -> tuple[NDArray[np.int64], Nights]:
    """Score the sample of one figure, rows of `History.samples` in order; return the runs that it spans, too.

    A seed that was run before adds nothing unless its value is another one now; values that are not finite are left
    out, because they have no rank (`missing.sample_defect` names them).
    """
    first = ~sample.duplicated(["seed", "value"]) & np.isfinite(sample["value"])
    runs = sample["run"].unique()
    fresh = sample[first]
    starts = np.searchsorted(fresh["run"], [*runs, runs[-1] + 1])
    values, ties = fresh["value"].to_numpy(), tie_breakers(fresh["seed"].to_numpy())
    slices = [slice(a, b) for a, b in pairwise(starts)]
    return runs, Nights.from_samples([values[part] for part in slices], [ties[part] for part in slices])


def judge_sample(
    sample: pd.DataFrame, page: pd.DataFrame, runs: pd.DataFrame, figures: NDArray[np.int64]
) -> tuple[Judgement, Alarm | None]:
    """Judge a figure by its samples since its baseline began.

    `sample` are its rows of `History.samples`, the last ones tonight's; `page` its rows of `History.figures` that have
    a measured value, which is the page's own seed's; `figures` how many figures had samples in each run.
    """
    spanned, nights = nights_of(sample)
    judgement = Judgement(sample["claim"].iloc[-1], sample["figure"].iloc[-1], Kind.TRAINED, DriftState.WITHIN)
    alarm = first_alarm(nights, figures[spanned])
    if alarm:
        since = runs.loc[spanned[alarm.first]]
        quantity = "mean" if alarm.what is Quantity.LEVEL else "standard deviation"
        return replace(
            judgement, state=DriftState.DRIFTED, new=alarm.night == len(spanned) - 1,
            sentence=f"{quantity} {alarm.before:.4g} → {alarm.after:.4g} over seeds (p = {alarm.p:.1g})",
            cause=cause(runs.loc[spanned[alarm.first - 1]], since),
        ).dated(since), alarm  # fmt: skip
    before = int(nights.count[:-1].sum())
    if before < LEAST_REFERENCE:
        return replace(
            judgement, state=DriftState.NO_BASELINE,
            sentence=f"{before} values over seeds so far, {LEAST_REFERENCE} are needed",
        ), None  # fmt: skip
    fixed = _same_seeds(sample, page)
    if len(fixed) > 1:
        numerics = judge_numerics(fixed, runs)
        return replace(numerics, claim=judgement.claim, figure=judgement.figure, kind=Kind.TRAINED), None
    return judgement, None


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

"""The last run against those before it: every rule applied to every claim and figure."""

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from lesson_claims.drift.environment import changes
from lesson_claims.drift.judgement import Judgement
from lesson_claims.drift.missing import Key, SampleDefect, appeared, judge_missing, sample_defect
from lesson_claims.drift.rank_tests import Alarm
from lesson_claims.drift.trained import judge_sample
from lesson_claims.drift.values import judge_value, judge_verdict
from lesson_claims.results.history import History
from lesson_claims.results.vocabulary import DriftState


@dataclass(frozen=True)
class Drift:
    """What was found of one run.

    Attributes:
        run, started: its name, and when it started.
        compared: how many earlier runs there were; with none, nothing was compared.
        baseline: when the newest of the claims' baselines began, ISO 8601.
        judgements: one per claim and figure, in the run's order; then those that are no longer there.
        environment: what differs from the run before, one line each.
        notes: what a reader should know of the comparison itself: unreadable files, clocks, reasons of acceptance.
        alarms: of the figures with samples that drifted, the statistics; by claim and figure.
    """

    run: str
    started: str
    compared: int
    baseline: str
    judgements: list[Judgement]
    environment: list[str]
    notes: list[str]
    alarms: dict[Key, Alarm]

    @property
    def new(self) -> list[Judgement]:
        """The judgements that are new in this run and need a look."""
        return [judgement for judgement in self.judgements if judgement.new]

    @property
    def open(self) -> list[Judgement]:
        """Older changes that nobody has accepted yet."""
        return [each for each in self.judgements if each.state is DriftState.DRIFTED and not each.new]


def compare(history: History, starts: dict[str, int] | None = None, notes: tuple[str, ...] = ()) -> Drift:
    """Judge the last run of `history`, called tonight's, against those before it.

    `starts` says at which run the baseline of a claim begins, by claim; without an entry it is the first run.
    """
    starts = starts or {}
    last = len(history.runs) - 1
    runs, figures, samples = history.runs, history.figures, history.samples
    begin = figures["claim"].map(starts).astype(float).fillna(0).astype(int)
    figures = figures[(figures["run"] >= begin).to_numpy()]
    begin = samples["claim"].map(starts).astype(float).fillna(0).astype(int)
    samples = samples[(samples["run"] >= begin).to_numpy()]
    share = _samples_to_test(history.samples, len(runs))

    by_figure = dict(tuple(figures.groupby(["claim", "figure"], observed=True, sort=False)))
    by_sample = dict(tuple(samples.groupby(["claim", "figure"], observed=True, sort=False)))
    judgements: dict[Key, Judgement] = {}
    alarms: dict[Key, Alarm] = {}
    tonight = figures[figures["run"] == last]
    for key in zip(tonight["claim"], tonight["figure"], strict=True):
        rows = by_figure[key]
        sample = by_sample.get(key)
        measured = rows[rows["measured"] != ""]
        if not key[1]:
            judgements[key] = judge_verdict(rows, runs)
        elif sample is not None and sample["run"].iloc[-1] == last:
            judgement, alarm = judge_sample(sample, measured, runs, share)
            if alarm:
                alarms[key] = alarm
            defect = sample_defect(sample, runs)
            judgements[key] = _with_defect(judgement, defect, runs) if defect else judgement
        elif len(measured) and measured["run"].iloc[-1] == last:
            judgements[key] = judge_value(measured, runs)
        else:
            judgements[key] = Judgement(*key, str(rows["kind"].iloc[-1]), DriftState.NOT_MEASURED)
    unmeasured = {
        claim for (claim, figure), each in judgements.items() if not figure and each.state is DriftState.NOT_MEASURED
    }
    since_baseline = replace(history, figures=figures)
    for judgement in judge_missing(since_baseline, unmeasured):
        key = (judgement.claim, judgement.figure)
        if key not in judgements or judgement.new:
            judgements[key] = judgement
    for key, kind in appeared(since_baseline).items():
        judgement = judgements.get(key, Judgement(*key, kind, DriftState.NO_BASELINE))
        judgements[key] = replace(judgement, sentence="appeared").dated(runs.loc[last])
    return Drift(
        run=runs.loc[last, "name"],
        started=f"{runs.loc[last, 'started']:%Y-%m-%d %H:%M} UTC",
        compared=last,
        baseline=runs.loc[max(starts.values(), default=0), "started"].isoformat(timespec="seconds"),
        judgements=list(judgements.values()),
        environment=changes(runs.loc[last - 1, "environment"], runs.loc[last, "environment"]) if last else [],
        notes=[*history.problems, *notes, *_clock(runs)],
        alarms=alarms,
    )


def _with_defect(judgement: Judgement, defect: SampleDefect, runs: pd.DataFrame) -> Judgement:
    """Add what is wrong with the sample of a figure to its judgement."""
    return replace(
        judgement if judgement.since else judgement.dated(runs.iloc[-1]),
        state=judgement.state if defect.finite else DriftState.DRIFTED,
        new=judgement.new or defect.new,
        sentence="; ".join(filter(None, (defect.sentence, judgement.sentence))),
    )


def _samples_to_test(samples: pd.DataFrame, runs: int) -> NDArray[np.int64]:
    """Return how many different samples each run has: the same values under two names are one test."""
    values = samples.assign(digest=pd.util.hash_array(samples["value"].to_numpy()))
    digests = values.groupby(["run", "claim", "figure"], observed=True)["digest"].sum()
    return np.array(digests.groupby("run").nunique().reindex(range(runs), fill_value=0), dtype=np.int64)


def _clock(runs: pd.DataFrame) -> list[str]:
    tonight = runs.iloc[-1]
    later = runs[runs["started"] > tonight["started"]]
    if later.empty:
        return []
    return [
        f"{tonight['name']}: {len(later)} runs of the history say that they are later, up to {later['name'].iloc[-1]}:"
        " an old run, or a clock that went backwards; it was compared with all of them"
    ]

"""The last run against those before it: every rule applied to every claim and figure."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from lesson_claims.drift.environment import changes
from lesson_claims.drift.judgement import CAME_BACK, Judgement
from lesson_claims.drift.missing import APPEARED, absent, appeared, gap, sample_defect, told_by_claim
from lesson_claims.drift.past import keys_of, open_shifts, since, there, without_clocks
from lesson_claims.drift.rank_tests import Alarm
from lesson_claims.drift.tails import LEAST_REFERENCE
from lesson_claims.drift.trained import judge_sample
from lesson_claims.drift.values import judge_value
from lesson_claims.drift.verdicts import claims_over_seeds, judge_verdict
from lesson_claims.results.acceptance import Key
from lesson_claims.results.history import History
from lesson_claims.results.numbers import count
from lesson_claims.results.shifts import Shift, Shifts
from lesson_claims.results.vocabulary import OPEN, DriftState

STRONG = 60
"""Values over seeds from which on a baseline is not called weak."""

MISSED = {20: 0.22, 40: 0.10}
"""The part of drops of 5 points that is not found within 60 nights of 20 seeds, by the values of the baseline. Measured
on 56 shares of a real run, each drawn 40 times; with 60 values it is 0.05 (`docs/nights.md`)."""


@dataclass(frozen=True)
class Drift:
    """What was found of one run.

    Attributes:
        run, started: its name, and when it started.
        compared: how many earlier runs there were; with none, nothing was compared.
        baseline: when the newest of the baselines began, ISO 8601.
        judgements: one per claim and figure, in the run's order; then those that are no longer there.
        environment: what differs from the run before, one line each.
        notes: what a reader should know of the comparison itself: unreadable files, clocks, weak baselines, reasons of
            acceptance.
        alarms: of the figures with samples that drifted, the statistics; by claim and figure.
        failures: why the run did not measure, or a night could not keep, what it should; empty where it did.
        again: an earlier night's seeds with tonight's versions and code, a line each; empty where they were not run.
    """

    run: str
    started: str
    compared: int
    baseline: str
    judgements: list[Judgement]
    environment: list[str]
    notes: list[str]
    alarms: dict[Key, Alarm]
    failures: tuple[str, ...] = ()
    again: tuple[str, ...] = ()

    @property
    def new(self) -> list[Judgement]:
        """The judgements that are new in this run and need a look."""
        return [judgement for judgement in self.judgements if judgement.new]

    @property
    def open(self) -> list[Judgement]:
        """Older changes that nobody has accepted yet."""
        return [each for each in self.judgements if each.state in OPEN and not each.new]


def compare(
    history: History,
    starts: dict[Key, int] | None = None,
    notes: tuple[str, ...] = (),
    shifts: Sequence[Shifts] = (),
) -> Drift:
    """Judge the last run of `history`, called tonight's, against those before it.

    `starts` says at which run the baseline of a claim or figure begins; without an entry it is the first run. `shifts`
    are what moved with new versions on the same seeds, which other seeds may not show.
    """
    starts = starts or {}
    runs, last = history.runs, len(history.runs) - 1
    history = without_clocks(history)
    figures, samples = since(history.figures, starts), since(history.samples, starts)
    tonight = _Tonight(
        runs,
        dict(tuple(there(figures).groupby(["claim", "figure"], observed=True, sort=False))),
        dict(tuple(samples.groupby(["claim", "figure"], observed=True, sort=False))),
        _samples_to_test(history.samples, len(runs)),
        claims_over_seeds(history.figures, len(runs)),
        _before(history.figures, figures),
    )
    keys = dict.fromkeys([*keys_of(figures[figures["run"] == last]), *keys_of(figures)])
    judgements = {key: tonight.judge(key) for key in keys if tonight.known(key)}
    kinds = dict(zip(keys_of(figures), figures.drop_duplicates(["claim", "figure"])["kind"].astype(str), strict=True))
    for key in keys:
        judgement = judgements.get(key, Judgement(*key, kinds[key], DriftState.NOT_MEASURED))
        judgements[key] = told_by_claim(judgement, judgements.get((key[0], ""))) if key[1] else judgement
    for key, (shift, moved) in open_shifts(shifts, runs, starts).items():
        if key in judgements:
            judgements[key] = _shifted(judgements[key], shift, moved, runs)
    for key in appeared(history):
        judgements[key] = replace(judgements[key], sentence=APPEARED).dated(runs.loc[last])
    return Drift(
        run=runs.loc[last, "name"],
        started=f"{runs.loc[last, 'started']:%Y-%m-%d %H:%M} UTC",
        compared=last,
        baseline=runs.loc[max(starts.values(), default=0), "started"].isoformat(timespec="seconds"),
        judgements=[judgements[key] for key in keys],
        environment=changes(runs.loc[last - 1, "environment"], runs.loc[last, "environment"]) if last else [],
        notes=[*history.problems, *notes, *(tonight.baselines() if last else ()), *_clock(runs)],
        alarms=tonight.alarms,
        again=tuple(line for each in shifts if each.run == runs.loc[last, "name"] for line in each.lines),
    )


def _shifted(judgement: Judgement, shifts: Shifts, moved: Shift, runs: pd.DataFrame) -> Judgement:
    """Add to the judgement of a figure that it moved on the same seeds, with another night's code or versions."""
    place = runs.index[runs["name"] >= shifts.run][0]
    if judgement.state in OPEN:
        since_then = "" if shifts.run == judgement.since else f" since {shifts.run}"
        return replace(judgement, sentence=f"{judgement.sentence}; {moved.sentence}{since_then}")
    new = bool(shifts.run == runs["name"].iloc[-1])
    return replace(judgement, state=DriftState.DRIFTED, new=new, sentence=moved.sentence, cause=moved.cause).dated(
        runs.loc[place]
    )


class _Tonight:
    """The judgements of one comparison: of each claim and figure as the last run that had it says."""

    def __init__(
        self,
        runs: pd.DataFrame,
        figures: dict[Key, pd.DataFrame],
        samples: dict[Key, pd.DataFrame],
        share: NDArray[np.int64],
        claims: NDArray[np.int64],
        earlier: dict[Key, pd.DataFrame],
    ) -> None:
        self._runs, self._figures, self._samples, self._share = runs, figures, samples, share
        self._claims, self._earlier = claims, earlier
        self.alarms: dict[Key, Alarm] = {}

    def known(self, key: Key) -> bool:
        """Say whether any run since the baseline had it."""
        return key in self._figures or key in self._samples

    def judge(self, key: Key) -> Judgement:
        """Judge a claim or a figure."""
        rows, sample = self._figures.get(key), self._samples.get(key)
        runs = {*(() if rows is None else rows["run"]), *(() if sample is None else sample["run"])}
        seen = sorted(int(run) for run in runs)
        judgement = self._judge_rows(rows) if sample is None else self._judge_sample(key, sample, rows)
        if sample is not None and (defect := sample_defect(sample, seen, self._runs)):
            judgement = replace(
                judgement if judgement.since else judgement.dated(self._runs.loc[defect.first]),
                state=judgement.state if judgement.state in OPEN else defect.state,
                new=judgement.new or defect.new,
                sentence="; ".join(filter(None, (defect.sentence, judgement.sentence))),
            )
        if seen[-1] < len(self._runs) - 1:
            return absent(judgement, seen[-1], self._said(rows), self._runs)
        return judgement if judgement.state in OPEN else self._with_return(judgement, seen, rows)

    def _judge_rows(self, rows: pd.DataFrame) -> Judgement:
        claim, figure = rows[["claim", "figure"]].iloc[-1]
        if not figure:
            return judge_verdict(rows, self._runs, self._claims)
        return judge_value(rows, self._runs, self._earlier.get((claim, figure)))

    def _judge_sample(self, key: Key, sample: pd.DataFrame, rows: pd.DataFrame | None) -> Judgement:
        page = sample.iloc[:0].assign(measured="") if rows is None else rows
        judgement, alarm = judge_sample(sample, page, self._runs, self._share)
        if alarm:
            self.alarms[key] = alarm
        return replace(judgement, new=judgement.new and bool(sample["run"].iloc[-1] == len(self._runs) - 1))

    def _said(self, rows: pd.DataFrame | None) -> str:
        if rows is None:
            return "values over seeds"
        last = rows.iloc[-1]
        return str(last["measured"] if last["figure"] else last["verdict"])

    def _with_return(self, judgement: Judgement, seen: list[int], rows: pd.DataFrame | None) -> Judgement:
        """Add that a change is gone, where the run before still had it."""
        sample = self._samples.get((judgement.claim, judgement.figure))
        if lost := gap(seen, self._runs):
            said = f"{CAME_BACK}: it was not measured since {lost}"
        elif sample is not None:
            before, now = (sample.loc[sample["run"] == run, "value"] for run in (seen[-2:] * 2)[:2])
            if len(before) == len(now) and np.isfinite(before).all():
                return judgement
            before = sample[sample["run"] < seen[-1]]
            defect = sample_defect(before, seen[:-1], self._runs) if len(before) else None
            if defect is None:
                return judgement
            said = f"{CAME_BACK}: {defect.sentence} before"
        elif (
            judgement.sentence.startswith(CAME_BACK)
            or rows is None
            or len(rows) < 2
            or self._said(rows) == self._said(rows.iloc[:-1])
        ):
            return judgement
        elif (earlier := self._judge_rows(rows.iloc[:-1])).state is DriftState.DRIFTED:
            said = f"{CAME_BACK}: {self._said(rows.iloc[:-1])} → {self._said(rows)} (drifted since {earlier.since})"
        else:
            return judgement
        return replace(judgement, sentence="; ".join(filter(None, (said, judgement.sentence))))

    def baselines(self) -> list[str]:
        """Say in a line each how many figures over seeds have no baseline yet, or a weak one."""
        last = len(self._runs) - 1
        counts = np.array([
            len(sample[sample["run"] < last].drop_duplicates(["seed", "value"]))
            for sample in self._samples.values() if sample["run"].iloc[-1] == last
        ], dtype=np.int64)  # fmt: skip
        none, weak = counts[counts < LEAST_REFERENCE], counts[(counts >= LEAST_REFERENCE) & (counts < STRONG)]
        lines = []
        if len(none):
            lines.append(
                f"no baseline yet for {count(len(none), 'figure')} over seeds: {_range(none)} values so far,"
                f" {LEAST_REFERENCE} are needed"
            )
        if len(weak):
            missed = MISSED[max(fewest for fewest in MISSED if fewest <= weak.min())]
            lines.append(
                f"weak baseline for {count(len(weak), 'figure')} over seeds: {_range(weak)} values so far, of {STRONG};"
                f" a drop of 5 points would be missed in {missed:.0%}"
            )
        return lines


def _before(figures: pd.DataFrame, since_baseline: pd.DataFrame) -> dict[Key, pd.DataFrame]:
    """Return the rows from before the baseline of each figure whose baseline does not begin with the first run."""
    rows = there(figures.drop(since_baseline.index))
    return dict(tuple(rows[rows["figure"] != ""].groupby(["claim", "figure"], observed=True, sort=False)))


def _range(counts: NDArray[np.int64]) -> str:
    low, high = counts.min(), counts.max()
    return str(low) if low == high else f"{low} to {high}"


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

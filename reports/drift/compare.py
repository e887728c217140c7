"""Tonight's run against the history: every rule applied to every claim and figure."""

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from reports.drift.environment import changes
from reports.drift.evidence import Alarm
from reports.drift.finding import Finding, State
from reports.drift.presence import judge_presence, judge_sample_size
from reports.drift.trained import judge_sample
from reports.drift.values import judge_value, judge_verdict
from reports.history import History

Key = tuple[str, str]


@dataclass(frozen=True)
class Drift:
    """What was found of one run.

    Attributes:
        run, started: its name, and when it started.
        compared: how many earlier runs there were; with none, nothing was compared.
        baseline: when the newest of the claims' baselines began, ISO 8601.
        findings: one per claim and figure, in the run's order; then those that are no longer there.
        environment: what differs from the run before, one line each.
        notes: what a reader should know of the comparison itself: unreadable files, clocks, reasons of acceptance.
        alarms: of the figures with samples that drifted, the statistics; by claim and figure.
    """

    run: str
    started: str
    compared: int
    baseline: str
    findings: list[Finding]
    environment: list[str]
    notes: list[str]
    alarms: dict[Key, Alarm]

    @property
    def new(self) -> list[Finding]:
        """The findings that make tonight red."""
        return [finding for finding in self.findings if finding.new]

    @property
    def open(self) -> list[Finding]:
        """Older changes that nobody has accepted yet."""
        return [finding for finding in self.findings if finding.state is State.DRIFTED and not finding.new]


def compare(history: History, starts: dict[str, int] | None = None, notes: tuple[str, ...] = ()) -> Drift:
    """Judge the last run of `history` against those before it.

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
    findings: dict[Key, Finding] = {}
    alarms: dict[Key, Alarm] = {}
    tonight = figures[figures["run"] == last]
    for key in zip(tonight["claim"], tonight["figure"], strict=True):
        rows = by_figure[key]
        sample = by_sample.get(key)
        measured = rows[rows["measured"] != ""]
        if not key[1]:
            findings[key] = judge_verdict(rows, runs)
        elif sample is not None and sample["run"].iloc[-1] == last:
            finding, alarm = judge_sample(sample, measured, runs, share)
            if alarm:
                alarms[key] = alarm
            wrong, new = judge_sample_size(sample, runs)
            if wrong:
                state = State.DRIFTED if "NaN" in wrong else finding.state
                sentence = "; ".join(filter(None, (wrong, finding.sentence)))
                finding = replace(finding, state=state, new=finding.new or new, sentence=sentence,
                                  since=finding.since or runs.loc[last, "name"])  # fmt: skip
            findings[key] = finding
        elif len(measured) and measured["run"].iloc[-1] == last:
            findings[key] = judge_value(measured, runs)
        else:
            findings[key] = Finding(*key, str(rows["kind"].iloc[-1]), State.NOT_MEASURED)
    unmeasured = {key[0] for key, finding in findings.items() if not key[1] and finding.state is State.NOT_MEASURED}
    for finding in judge_presence(replace(history, figures=figures), unmeasured):
        key = (finding.claim, finding.figure)
        if key not in findings or finding.sentence:
            if key in findings and finding.sentence == "appeared":
                finding = replace(findings[key], sentence="appeared", since=finding.since)
            findings[key] = finding
    return Drift(
        run=runs.loc[last, "name"],
        started=f"{runs.loc[last, 'started']:%Y-%m-%d %H:%M} UTC",
        compared=last,
        baseline=runs.loc[max(starts.values(), default=0), "started"].isoformat(timespec="seconds"),
        findings=list(findings.values()),
        environment=changes(runs.loc[last - 1, "environment"], runs.loc[last, "environment"]) if last else [],
        notes=[*history.problems, *notes, *_clock(runs)],
        alarms=alarms,
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

"""The run in a report directory against a history or a baseline: what drifted, and the tables that say so."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import msgspec
import pandas as pd

from lesson_claims.drift.compare import Drift, compare
from lesson_claims.drift.other_device import SAYS, leave_unjudged, nearest_kind
from lesson_claims.drift.past import Past, read_past
from lesson_claims.drift.trend import trends
from lesson_claims.drift.upgrade import Again, again, judge_pairs
from lesson_claims.results.acceptance import Acceptance
from lesson_claims.results.baseline import is_baseline
from lesson_claims.results.columns import JUDGEMENTS, TRENDS
from lesson_claims.results.csv_files import csv_text
from lesson_claims.results.drift_tables import DriftInfo
from lesson_claims.results.errors import ReportError
from lesson_claims.results.files import json_text, write_files
from lesson_claims.results.history import device_kind, device_kinds, is_missing
from lesson_claims.results.shifts import Shifts
from lesson_claims.results.tables import Run, read_run
from lesson_claims.results.vocabulary import ClaimVerdict

NAMED = 3
"""Claims and figures of an acceptance that are named; its file has them all."""


def drift_of(history: str | Path, run_dir: str | Path, aliases: str | Path | None = None) -> tuple[Drift, pd.DataFrame]:
    """Compare the run in a report directory with a history or a baseline; return its trends, too.

    A baseline that has no run of its device kind is of another one, and only judges what does not depend on that.
    Raises ReportError where the run cannot be read, or not one file of the history can.
    """
    tonight = read_run(run_dir)
    own_kind = device_kind(tonight.info["environment"])
    baseline = is_baseline(history)
    kind = nearest_kind(own_kind, device_kinds(history)) if baseline else own_kind
    past = read_past(history, kind, tonight, aliases)
    notes = [_described(history, kind, past.history.runs[:-1])] if baseline else []
    notes += [SAYS.format(baseline=kind, run=own_kind)] if kind != own_kind else []
    notes += [f"{history}: nothing is there yet"] if is_missing(history) else []
    told = past.acceptances if baseline else _since_the_run_before(past)
    notes += [*past.problems, *(accepted_in_words(acceptance) for acceptance in told)]
    drift = replace(compare(past.history, past.starts, tuple(notes), past.shifts), failures=failures(tonight))
    if kind != own_kind:
        drift = leave_unjudged(drift, past.history)
    return drift, trends(past.history, past.starts, drift.judgements, past.acceptances)


def newest_drift(history: str | Path, runs: Sequence[Run], aliases: str | Path | None = None) -> Drift:
    """Return what the newest run of a history and of `runs` shows: among others, all that moved and is not accepted.

    Raises ReportError where not one file of the history can be read.
    """
    kind = device_kind(runs[0].info["environment"])
    known = read_past(history, kind, aliases=aliases).history.runs["name"]
    newest = max(runs, key=lambda run: run.name)
    past = read_past(history, kind, newest if not len(known) or newest.name >= known.iloc[-1] else None, aliases)
    return compare(past.history, past.starts, shifts=past.shifts)


def night_again(history: str | Path, tonight: Run, aliases: str | Path | None = None) -> Again | str:
    """Return which night's seeds to run again, because versions or code changed; see `upgrade.again`."""
    return again(read_past(history, device_kind(tonight.info["environment"]), tonight, aliases))


def shifts_of(history: str | Path, tonight: Run, rerun: Run, aliases: str | Path | None = None) -> Shifts:
    """Compare the night of `night_again` with `rerun`, which has its seeds and tonight's versions and code.

    Raises ReportError where the history cannot be read, or has no such night.
    """
    kind = device_kind(tonight.info["environment"])
    past = read_past(history, kind, tonight, aliases)
    night = again(past)
    if isinstance(night, str):
        raise ReportError(night or f"{history}: no night is to be run again")
    same_seeds = read_past(history, kind, rerun, aliases).history
    return judge_pairs(past, night, same_seeds, compare(past.history, past.starts).judgements)


def failures(run: Run) -> tuple[str, ...]:
    """Say in a line each why a run did not measure what it should; nothing where it did."""
    lines = []
    if not run.info["complete"]:
        lines.append("; ".join(["the run is incomplete", *run.info["problems"]]))
    verdicts = set(run.claims["verdict"])
    if not verdicts - {ClaimVerdict.ERROR, ClaimVerdict.NOT_RUN}:
        lines.append("not one claim came to a verdict" if verdicts else "the run has no claims")
    return tuple(lines)


def _since_the_run_before(past: Past) -> list[Acceptance]:
    """Return the acceptances that the run before tonight's could not tell of; `trend` tells of all."""
    if len(past.history.runs) < 2:
        return []
    before = past.history.runs.iloc[-2]
    return [
        each for each in past.acceptances
        if each.run >= before["name"] or datetime.fromisoformat(each.when) > before["started"]
    ]  # fmt: skip


def accepted_in_words(acceptance: Acceptance) -> str:
    """Say what was accepted, and why."""
    names = acceptance.names
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return f"accepted with {acceptance.run}, for {', '.join(names[:NAMED])}{more}: {acceptance.reason}"


def _described(baseline: str | Path, kind: str, runs: pd.DataFrame) -> str:
    machines = sorted({str(each.get("device name") or "an unknown machine") for each in runs["environment"]})
    return f"{baseline}: {len(runs)} runs, {runs['seeds'].sum()} seeds, measured on {', '.join(machines)} ({kind})"


def write_drift(drift: Drift, trend: pd.DataFrame, run_dir: str | Path) -> None:
    """Write `drift.csv`, `trends.csv` and then `drift.json`, which says what they are about, into a report directory.

    Raises ReportError where the disk refuses.
    """
    rows = pd.DataFrame([vars(each) for each in drift.judgements], columns=[column.name for column in JUDGEMENTS])
    info = DriftInfo(
        run=drift.run,
        compared=drift.compared,
        baseline=drift.baseline,
        environment=drift.environment,
        failures=list(drift.failures),
        again=list(drift.again),
    )
    filled = trend.astype(object).where(trend.notna(), None)
    texts = {
        "drift.csv": csv_text(JUDGEMENTS, rows),
        "trends.csv": csv_text(TRENDS, filled),
        "drift.json": json_text(msgspec.to_builtins(info)),
    }
    write_files(Path(run_dir), texts)

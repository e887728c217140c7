"""The run in a report directory against a history or a baseline: what drifted, and the tables that say so."""

from pathlib import Path

import msgspec
import pandas as pd

from lesson_claims.drift.compare import Drift, compare
from lesson_claims.drift.other_device import SAYS, leave_unjudged, nearest_kind
from lesson_claims.drift.trend import trends
from lesson_claims.results.acceptance import baseline_starts, read_acceptances
from lesson_claims.results.aliases import read_aliases
from lesson_claims.results.baseline import is_baseline
from lesson_claims.results.columns import JUDGEMENTS, TRENDS
from lesson_claims.results.csv_files import csv_text
from lesson_claims.results.drift_tables import DriftInfo
from lesson_claims.results.files import json_text, write_files
from lesson_claims.results.history import device_kind, device_kinds, is_missing, load
from lesson_claims.results.tables import read_run


def drift_of(history: str | Path, run_dir: str | Path, aliases: str | Path | None = None) -> tuple[Drift, pd.DataFrame]:
    """Compare the run in a report directory with a history or a baseline; return its trends, too.

    A baseline that has no run of its device kind is of another one, and only judges what does not depend on that.
    Raises ReportError where the run cannot be read, or not one file of the history can.
    """
    tonight = read_run(run_dir)
    own_kind = device_kind(tonight.info["environment"])
    baseline = is_baseline(history)
    kind = nearest_kind(own_kind, device_kinds(history)) if baseline else own_kind
    past = read_aliases(history, aliases).apply(load(history, kind, last=tonight))
    acceptances, problems = read_acceptances(history, kind)
    claims = [str(claim) for claim in past.figures["claim"].unique()]
    starts = baseline_starts(history, acceptances, past.runs, claims)
    notes = [] if tonight.info["complete"] else ["this run is incomplete: nothing is known of what it lacks"]
    notes += [_described(history, kind, past.runs[:-1])] if baseline else []
    notes += [SAYS.format(baseline=kind, run=own_kind)] if kind != own_kind else []
    notes += [f"{history}: nothing is there yet"] if is_missing(history) else []
    notes += [*problems, *(f"accepted with {d.run}, for {', '.join(d.claims)}: {d.reason}" for d in acceptances)]
    drift = compare(past, starts, tuple(notes))
    if kind != own_kind:
        drift = leave_unjudged(drift, past)
    return drift, trends(past, starts, drift.judgements, acceptances)


def _described(baseline: str | Path, kind: str, runs: pd.DataFrame) -> str:
    machines = sorted({str(each.get("device name") or "an unknown machine") for each in runs["environment"]})
    return f"{baseline}: {len(runs)} runs, {runs['seeds'].sum()} seeds, measured on {', '.join(machines)} ({kind})"


def write_drift(drift: Drift, trend: pd.DataFrame, run_dir: str | Path) -> None:
    """Write `drift.csv`, `trends.csv` and then `drift.json`, which says what they are about, into a report directory.

    Raises ReportError where the disk refuses.
    """
    rows = pd.DataFrame([vars(each) for each in drift.judgements], columns=[column.name for column in JUDGEMENTS])
    info = DriftInfo(
        run=drift.run, compared=drift.compared, baseline=drift.baseline, environment=drift.environment
    )  # fmt: skip
    filled = trend.astype(object).where(trend.notna(), None)
    texts = {
        "drift.csv": csv_text(JUDGEMENTS, rows),
        "trends.csv": csv_text(TRENDS, filled),
        "drift.json": json_text(msgspec.to_builtins(info)),
    }
    write_files(Path(run_dir), texts)

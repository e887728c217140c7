"""The subcommand `drift`: one run against the history, with an exit status that a nightly job can rely on."""

import argparse
import json
from pathlib import Path
from typing import Any

import pandas as pd

from reports.accept import baseline_starts, read_decisions
from reports.aliases import read_aliases
from reports.comparison import FINDINGS, SCHEMA, TRENDS
from reports.drift.compare import Drift, compare
from reports.drift.text import markdown, terminal
from reports.history import device_kind, is_missing, load
from reports.tables import csv_text, read_run, write_files
from reports.trend import trends

QUIET, DRIFTED, NOTHING_TO_COMPARE = 0, 1, 3


def drift_of(history: str | Path, run_dir: str | Path, aliases: str | Path | None = None) -> tuple[Drift, pd.DataFrame]:
    """Compare the run in a report directory with the history of its device kind; return its trends, too.

    Raises ReportError where the run cannot be read, or not one file of the history can.
    """
    tonight = read_run(run_dir)
    kind = device_kind(tonight.info["environment"])
    past = read_aliases(history, aliases).apply(load(history, kind, last=tonight))
    decisions, problems = read_decisions(history, kind)
    claims = [str(claim) for claim in past.figures["claim"].unique()]
    reasons = [f"accepted with {d.run}, for {', '.join(d.claims)}: {d.reason}" for d in decisions]
    starts = baseline_starts(decisions, past.runs, claims)
    incomplete = [] if tonight.info["complete"] else ["this run is incomplete: nothing is known of what it lacks"]
    missing = [f"{history}: there is no such history yet"] if is_missing(history) else []
    drift = compare(past, starts, (*incomplete, *missing, *problems, *reasons))
    return drift, trends(past, starts, drift.findings, decisions)


def write_drift(drift: Drift, trend: pd.DataFrame, run_dir: str | Path) -> None:
    """Write `drift.csv`, `trends.csv` and then `drift.json`, which says what they are about, into a report directory.

    Raises ReportError where the disk refuses.
    """
    rows = pd.DataFrame([vars(finding) for finding in drift.findings], columns=[column.name for column in FINDINGS])
    info = {"schema": SCHEMA, "run": drift.run, "compared": drift.compared, "baseline": drift.baseline,
            "environment": drift.environment}  # fmt: skip
    filled = trend.astype(object).where(trend.notna(), None)
    texts = {
        "drift.csv": csv_text(FINDINGS, rows),
        "trends.csv": csv_text(TRENDS, filled),
        "drift.json": json.dumps(info, indent=1, ensure_ascii=False, allow_nan=False) + "\n",
    }
    write_files(Path(run_dir), texts)


def add_parser(subparsers: Any) -> None:
    """Describe `drift` to the command line."""
    parser = subparsers.add_parser(
        "drift",
        help="compare a run with the history",
        description="Compare a run with the history of its kind of device, and write drift.json, drift.csv and"
        " trends.csv into it, which build then shows."
        " Exit status: 0 quiet, 1 drift, 2 bad usage or nothing readable, 3 nothing to compare with yet.",
        epilog="example: python -m reports drift --history history reports/latest --markdown drift.md",
    )
    parser.add_argument("--history", metavar="DIR", required=True, help="the history: a folder or an fsspec URL")
    parser.add_argument("--markdown", metavar="FILE", type=Path, help="also write what was found as Markdown")
    parser.add_argument("--aliases", metavar="FILE", help="renamed claims (default: aliases.toml of the history)")
    parser.add_argument("run", metavar="RUN", help="the report directory of the run")


def run(args: argparse.Namespace) -> int:
    """Compare, say what was found, and return the exit status."""
    drift, trend = drift_of(args.history, args.run, args.aliases)
    write_drift(drift, trend, args.run)
    if args.markdown:
        write_files(args.markdown.parent, {args.markdown.name: markdown(drift)})
    print(terminal(drift), end="")
    if not drift.compared:
        return NOTHING_TO_COMPARE
    return DRIFTED if drift.new else QUIET

"""The subcommand `drift`: one run against the history, with an exit status that a nightly job can rely on."""

import argparse
from pathlib import Path
from typing import Any

from lesson_claims.drift.compare import Drift
from lesson_claims.drift.text import markdown, terminal
from lesson_claims.drift.tonight import drift_of, write_drift
from lesson_claims.results.baseline import BASELINE
from lesson_claims.results.files import write_files

QUIET, DRIFTED, UNUSABLE, NOTHING_TO_COMPARE, NOT_MEASURED = range(5)
STATUSES = (
    "Exit status: 0 quiet, 1 drift, 2 bad usage or nothing readable, 3 nothing to compare with yet, 4 it did not"
    " measure, or could not keep, what it should."
)


def add_parser(subparsers: Any) -> None:
    """Describe `drift` to the command line."""
    parser = subparsers.add_parser(
        "drift",
        help="compare a run with the baseline or with a history",
        description="Compare a run with the baseline that goes with the code, or with a history of its kind of device,"
        f" and write drift.json, drift.csv and trends.csv into it, which build then shows. {STATUSES}",
        epilog="example: lesson-claims drift --history history reports/latest --markdown drift.md",
    )
    parser.add_argument(
        "--history", metavar="DIR", default=BASELINE,
        help=f"a folder or an fsspec URL with a history, or a baseline (default: {BASELINE})",
    )  # fmt: skip
    parser.add_argument("--markdown", metavar="FILE", type=Path, help="also write what was found as Markdown")
    parser.add_argument("--aliases", metavar="FILE", help="renamed claims (default: aliases.toml of the history)")
    parser.add_argument("run", metavar="RUN", nargs="?", default="reports/latest", help="default: reports/latest")


def run(args: argparse.Namespace) -> int:
    """Compare, say what was found, and return the exit status."""
    drift, trend = drift_of(args.history, args.run, args.aliases)
    write_drift(drift, trend, args.run)
    if args.markdown:
        write_files(args.markdown.parent, {args.markdown.name: markdown(drift)})
    print(terminal(drift), end="")
    return exit_status(drift)


def exit_status(drift: Drift) -> int:
    """Return the exit status of a comparison: what was not measured weighs more than what was found.

    A failed check alone is not red: a failure that is new is drift, and a known one is quiet until it is accepted.
    """
    if drift.failures:
        return NOT_MEASURED
    if not drift.compared:
        return NOTHING_TO_COMPARE
    return DRIFTED if drift.new else QUIET

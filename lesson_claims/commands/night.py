"""The subcommand `night`: every claim at the page's own seed and at new seeds, kept in a history and compared with it.

`tox run -e nightly` and the nightly workflow run this. The seeds follow from the date: no two nights share one, and a
night that is run again is the same night.
"""

import argparse
import subprocess
import sys
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

from lesson_claims.commands.drift import DRIFTED, NOTHING_TO_COMPARE, QUIET
from lesson_claims.drift.text import markdown, terminal
from lesson_claims.drift.tonight import drift_of, write_drift
from lesson_claims.report.build import build
from lesson_claims.results.errors import ReportError
from lesson_claims.results.files import write_files

SEEDS = 20
APART = 1000
"""How far the seeds of two nights are apart: the most seeds that a night can have."""
FIRST_DAY = date(2026, 1, 1)
FIRST_SEED = 2000
"""The first seed of the first day. Seeds below 1000 are for daily use, 0 is the page's own, and those from 1000 to 1999
are the baseline's."""
TESTS_FAILED = 1
"""pytest's exit status for failed tests; a greater one says that the tests themselves did not run as they should."""
BROKEN = 2


def add_parser(subparsers: Any) -> None:
    """Describe `night` to the command line."""
    parser = subparsers.add_parser(
        "night",
        help="check every claim with the seeds of a day, and compare the run with the history",
        description="Check every claim with tonight's seeds, keep the run and compare it with the history. Exit status:"
        " 0 quiet, 1 drift, 2 and above a run that is broken.",
        epilog="example: lesson-claims night --history history --report-dir reports/latest -- -k loss",
    )
    parser.add_argument("--history", default="history", metavar="DIR", help="folder or fsspec URL (default: history)")
    parser.add_argument(
        "--report-dir", type=Path, default=Path("reports/latest"), metavar="DIR", help="default: reports/latest"
    )
    parser.add_argument("--seeds", type=int, default=SEEDS, metavar="N", help=f"new seeds (default: {SEEDS})")
    parser.add_argument("--date", type=date.fromisoformat, default=None, metavar="DAY", help="default: today, UTC")
    parser.add_argument("--aliases", metavar="FILE", help="renamed claims (default: aliases.toml of the history)")
    parser.add_argument("pytest_arguments", nargs="*", metavar="ARGUMENT", help="after --: passed on to pytest")


def run(args: argparse.Namespace) -> int:
    """Run the night and return its exit status: 0 quiet, 1 drift, 2 and above a run that is broken."""
    day = args.date or datetime.now(UTC).date()
    if not 1 <= args.seeds <= APART:
        raise ReportError(f"--seeds {args.seeds}: must be from 1 to {APART}")
    if day < FIRST_DAY:
        raise ReportError(f"--date {day}: must not be before {FIRST_DAY}")
    command = [sys.executable, "-m", "pytest", "-n", "auto", "--seeds", str(args.seeds)]
    command += ["--first-seed", str(first_seed(day)), "--history", args.history]
    command += ["--report-dir", str(args.report_dir), *args.pytest_arguments]
    status = subprocess.run(command, check=False).returncode  # noqa: S603  our own command line
    try:
        drift, trend = drift_of(args.history, args.report_dir, args.aliases)
        write_drift(drift, trend, args.report_dir)
        build(args.report_dir)
        write_files(args.report_dir, {"drift.md": markdown(drift)})
    except ReportError as error:
        print(f"error: {error}", file=sys.stderr)
        return max(status, BROKEN)
    print(terminal(drift), end="")
    if not drift.compared:
        return exit_status(status, NOTHING_TO_COMPARE)
    return exit_status(status, DRIFTED if drift.new else QUIET)


def first_seed(day: date) -> int:
    """Return the first of a night's seeds."""
    return FIRST_SEED + APART * (day - FIRST_DAY).days


def exit_status(pytest_status: int, drift_status: int) -> int:
    """Return the night's status: drift decides, except where the run is broken or there is nothing to compare.

    A failed test alone is not red: a failure that is new is drift, and a known one is quiet until it is accepted.
    """
    if pytest_status > TESTS_FAILED:
        return pytest_status
    return pytest_status if drift_status == NOTHING_TO_COMPARE else drift_status

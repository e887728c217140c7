"""One night: every claim at the page's own seed and at new seeds, kept in the history and compared with it.

`tox run -e nightly` and the nightly workflow run this. The seeds follow from the date: no two nights share one, and a
night that is run again is the same night.
"""

import argparse
import os
import subprocess
import sys
from collections.abc import Sequence
from datetime import UTC, date, datetime
from pathlib import Path

from reports.build import build
from reports.drift.command import DRIFTED, NOTHING_TO_COMPARE, drift_of, write_drift
from reports.drift.text import markdown, terminal
from reports.errors import ReportError
from reports.tables import write_files

SEEDS = 20
APART = 1000
"""How far the seeds of two nights are apart: the most seeds that a night can have."""
FIRST_DAY = date(2026, 1, 1)
TESTS_FAILED = 1
"""pytest's exit status for failed tests; a greater one says that the tests themselves did not run as they should."""


def first_seed(day: date) -> int:
    """Return the first of a night's seeds; the page's own seed is 0, and those below 1000 are for daily use."""
    return APART * (1 + (day - FIRST_DAY).days)


def exit_status(pytest_status: int, drift_status: int) -> int:
    """Return the night's status: drift decides, except where the run is broken or there is nothing to compare.

    A failed test alone is not red: a failure that is new is drift, and a known one is quiet until it is accepted.
    """
    if pytest_status > TESTS_FAILED:
        return pytest_status
    return pytest_status if drift_status == NOTHING_TO_COMPARE else drift_status


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the night and return its exit status: 0 quiet, 1 drift, 2 and above a run that is broken."""
    parser = argparse.ArgumentParser(
        prog="python -m reports.nightly",
        description="Check every claim with tonight's seeds, keep the run and compare it with the history.",
        epilog="example: python -m reports.nightly --history history --report-dir reports/latest -- -k day3",
    )
    parser.add_argument("--history", default="history", metavar="DIR", help="folder or fsspec URL (default: history)")
    parser.add_argument("--report-dir", type=Path, default=Path("reports/latest"), metavar="DIR")
    parser.add_argument("--seeds", type=int, default=SEEDS, metavar="N", help=f"new seeds (default: {SEEDS})")
    parser.add_argument("--date", type=date.fromisoformat, default=None, metavar="DAY", help="default: today, UTC")
    parser.add_argument("--aliases", metavar="FILE", help="renamed claims (default: aliases.toml of the history)")
    parser.add_argument("pytest_arguments", nargs="*", metavar="ARGUMENT", help="after --: passed on to pytest")
    args = parser.parse_args(arguments)
    day = args.date or datetime.now(UTC).date()
    if not 1 <= args.seeds <= APART or day < FIRST_DAY:
        parser.error(f"--seeds must be from 1 to {APART}, and --date not before {FIRST_DAY}")
    command = [sys.executable, "-m", "pytest", "-n", "auto", "--seeds", str(args.seeds)]
    command += ["--first-seed", str(first_seed(day)), "--history", args.history]
    command += ["--report-dir", str(args.report_dir), *args.pytest_arguments]
    status = subprocess.run(command, env=os.environ, check=False).returncode  # noqa: S603  our own command line
    try:
        drift, trend = drift_of(args.history, args.report_dir, args.aliases)
        write_drift(drift, trend, args.report_dir)
        build(args.report_dir)
        write_files(args.report_dir, {"drift.md": markdown(drift)})
    except ReportError as error:
        print(f"error: {error}", file=sys.stderr)
        return max(status, 2)
    print(terminal(drift), end="")
    if not drift.compared:
        return exit_status(status, NOTHING_TO_COMPARE)
    return exit_status(status, DRIFTED if drift.new else 0)


if __name__ == "__main__":
    sys.exit(main())

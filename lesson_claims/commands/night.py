"""The subcommand `night`: every claim at the page's own seed and at new seeds, kept in a history and compared with it.

`tox run -e nightly` and the nightly workflow run this. The seeds follow from the date: no two nights share one, and a
night that is run again is the same night.
"""

import argparse
import subprocess
import sys
from dataclasses import replace
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

from lesson_claims.commands.drift import NOT_MEASURED, STATUSES, exit_status
from lesson_claims.drift.text import markdown, terminal
from lesson_claims.drift.tonight import drift_of, night_again, shifts_of, write_drift
from lesson_claims.report.build import build
from lesson_claims.results.errors import ReportError
from lesson_claims.results.files import write_files
from lesson_claims.results.history import device_kind, keeps
from lesson_claims.results.shifts import Shifts, keep_shifts
from lesson_claims.results.tables import Run, read_run

SEEDS = 20
APART = 1000
"""How far the seeds of two nights are apart: the most seeds that a night can have."""
FIRST_DAY = date(2026, 1, 1)
FIRST_SEED = 2000
"""The first seed of the first day. Seeds below 1000 are for daily use, 0 is the page's own, and those from 1000 to 1999
are the baseline's."""
ENDED = (0, 1)
"""pytest's exit statuses where the checks ran to their end: all passed, or some failed."""
AGAIN = "earlier-seeds"
"""The folder, in that of the report, for the report of an earlier night's seeds with tonight's versions and code."""
LEFT_BY_DRIFT = ("drift.json", "drift.csv", "drift.md", "trends.csv")


def add_parser(subparsers: Any) -> None:
    """Describe `night` to the command line."""
    parser = subparsers.add_parser(
        "night",
        help="check every claim with the seeds of a day, and compare the run with the history",
        description="Check every claim with tonight's seeds, keep the run and compare it with the history. With new"
        f" versions of libraries, run the last night's seeds again and compare them in pairs. {STATUSES}",
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
    """Run the night and return its exit status, which is that of `drift`."""
    day = args.date or datetime.now(UTC).date()
    if not 1 <= args.seeds <= APART:
        raise ReportError(f"--seeds {args.seeds}: must be from 1 to {APART}")
    if day < FIRST_DAY:
        raise ReportError(f"--date {day}: must not be before {FIRST_DAY}")
    try:
        _forget(args.report_dir)
        tonight, failures = _measure(args, first_seed(day), args.seeds, args.report_dir, [f"--history={args.history}"])
        kept = keeps(args.history, tonight)
    except ReportError as error:
        print(f"error: {error}", file=sys.stderr)
        return NOT_MEASURED
    if not kept:
        failures.append(f"{args.history}: does not have this run; the lines above say why it could not be kept")
    if not failures and tonight.info["complete"]:
        failures += _upgrade(args, tonight)
    drift, trend = drift_of(args.history, args.report_dir, args.aliases)
    drift = replace(drift, failures=(*drift.failures, *failures))
    print(terminal(drift), end="")
    try:
        write_drift(drift, trend, args.report_dir)
        build(args.report_dir)
        write_files(args.report_dir, {"drift.md": markdown(drift)})
    except ReportError as error:
        print(f"error: {error}", file=sys.stderr)
        return NOT_MEASURED
    return exit_status(drift)


def first_seed(day: date) -> int:
    """Return the first of a night's seeds."""
    return FIRST_SEED + APART * (day - FIRST_DAY).days


def _forget(folder: Path) -> None:
    """Delete what drift left of the night before: this night may not get so far.

    Raises ReportError where it cannot be deleted.
    """
    for name in LEFT_BY_DRIFT:
        try:
            (folder / name).unlink(missing_ok=True)
        except OSError as error:
            raise ReportError(f"{folder / name}: cannot be deleted: {error.strerror or error}; move it") from error


def _measure(args: argparse.Namespace, first: int, seeds: int, folder: Path, more: list[str]) -> tuple[Run, list[str]]:
    """Run pytest and return the run that it wrote, and a line if it did not end as it should.

    Raises ReportError where it wrote none: the report that is there may be of the night before.
    """
    before = _content(folder)
    # Joined by "=": pytest takes a folder that stands alone for one of its tests, and looks for its settings there.
    command = [sys.executable, "-m", "pytest", "-n", "auto", "--seeds", str(seeds), "--first-seed", str(first), *more]
    command += [f"--report-dir={folder}", *args.pytest_arguments]
    status = subprocess.run(command, check=False).returncode  # noqa: S603  our own command line
    if _content(folder) in (b"", before):
        raise ReportError(f"pytest wrote no report into {folder} (exit status {status}): nothing was measured")
    return read_run(folder), [] if status in ENDED else [f"pytest stopped with exit status {status}"]


def _content(folder: Path) -> bytes:
    """Return run.json, which says when the run started, so that no two are alike; nothing where there is none."""
    try:
        return (folder / "run.json").read_bytes()
    except OSError:
        return b""


def _upgrade(args: argparse.Namespace, tonight: Run) -> list[str]:
    """If versions changed, run the last night's seeds again and keep what moved; say why that could not be done."""
    night = night_again(args.history, tonight, args.aliases)
    if not night:
        return []
    kind = device_kind(tonight.info["environment"])
    try:
        if isinstance(night, str):
            keep_shifts(args.history, kind, Shifts(run=tonight.name, before="", lines=(night,)))
            return []
        print(f"the seeds of {night.name} are run again: {', '.join(night.versions) or 'the code changed'}", flush=True)
        rerun, failures = _measure(args, night.first_seed, night.seeds, args.report_dir / AGAIN, [])
        keep_shifts(args.history, kind, shifts_of(args.history, tonight, rerun, args.aliases))
    except ReportError as error:
        return [f"seeds of an earlier night could not be run again: {error}"]
    return failures

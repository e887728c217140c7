"""The subcommand `controls`: sabotage the lessons' code, and see whether the checks of each claim notice."""

import argparse
import difflib
import os
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import psutil

from lesson_claims.controls import ControlError, edited_files
from lesson_claims.project import Project, ProjectError, read_project
from lesson_claims.registry import Claim, Registry, RegistryError, load_registry
from lesson_claims.results.errors import ReportError
from lesson_claims.results.numbers import duration
from lesson_claims.results.vocabulary import ControlOutcome
from lesson_claims.sabotage.outcomes import Result, with_claims_as_they_are
from lesson_claims.sabotage.results import DEFAULT, Row, key_of, read_results, row_of, write_results
from lesson_claims.sabotage.runner import run_trials
from lesson_claims.sabotage.trials import Trial, selected, trials
from lesson_claims.traceability import Check, read_checks, verify

COMMAND = "lesson-claims controls"
WELL, NOT_ALL_CAUGHT, INTERRUPTED = 0, 1, 130
MINUTES = 30.0
LONGEST = 70
"""Bytes: the processes talk through a socket in the temporary folder, whose whole path may have about 105."""
NAMED = 10
"""Of the claims without a control, so many are named."""


def add_parser(subparsers: Any) -> None:
    """Describe `controls` to the command line."""
    parser = subparsers.add_parser(
        "controls",
        help="sabotage the lessons' code, and see whether the checks notice",
        description="Run the checks of each claim in a copy of the project, under each of the claim's controls, and"
        " say whether its verdict turns. Exit status 1: a control was not caught, or a claim has none.",
        epilog=f"example: {COMMAND} --claim 'page.loss.*' --quick",
    )
    parser.add_argument(
        "--claim", action="append", default=[], metavar="PATTERN", help="only these claims, as for pytest; repeatable"
    )
    parser.add_argument("--quick", action="store_true", help="only claims none of whose checks ask for evidence")
    parser.add_argument("--jobs", type=int, metavar="N", help="so many at once (default: one per core)")
    parser.add_argument(
        "--minutes", type=float, default=MINUTES, metavar="M", help=f"stop a trial after that (default: {MINUTES:g})"
    )
    parser.add_argument("--run-store", type=Path, metavar="DIR", help="keep runs here, and use those that are there")
    parser.add_argument("--results", type=Path, metavar="FILE", help=f"default: {DEFAULT.as_posix()}")
    parser.add_argument("--list", action="store_true", help="print the controls, and run nothing")
    parser.add_argument(
        "--root", metavar="DIR", default=".", help="the top folder of the project; default: this folder"
    )


def run(args: argparse.Namespace) -> int:
    """Run the controls, print what became of them, and return the exit status.

    Raises ReportError where the project or an argument cannot be used.
    """
    jobs = _cores() if args.jobs is None else args.jobs
    if jobs < 1 or args.minutes <= 0:
        raise ReportError(f"--jobs {jobs} --minutes {args.minutes:g}: both must be more than 0")
    folder = tempfile.gettempdir()
    if len(os.fsencode(folder)) > LONGEST:
        raise ReportError(f"{folder}: the temporary folder has too long a path for a socket; set TMPDIR to another")
    try:
        project = read_project(Path(args.root).resolve())
        registry = load_registry(project)
        checks = read_checks(project.root, project.claims, registry)
        verify(registry, checks)
        _refuse_unknown(args.claim, registry)
        claims = selected(registry, checks, args.claim, quick=args.quick)
        chosen = list(trials(registry, checks, claims, quick=args.quick))
        for trial in chosen:
            if trial.control is not None:
                edited_files(trial.control, trial.place, project.root)
        if args.list:
            print("\n".join(_listed(claims)))
            return WELL
        return _try(args, jobs, project, registry, checks, claims, chosen)
    except (ProjectError, RegistryError, ControlError) as error:
        raise ReportError(str(error)) from error


def _refuse_unknown(patterns: Sequence[str], registry: Registry) -> None:
    for pattern in patterns:
        if not registry.matching(pattern):
            near = difflib.get_close_matches(pattern, registry.claims, n=3) or registry.nearest(pattern)
            raise ReportError(
                f"--claim {pattern!r} matches no claim, neither as an id nor by its words; the nearest are"
                f" {', '.join(near or list(registry.claims)[:3])}"
            )


def _listed(claims: Sequence[Claim]) -> Iterator[str]:
    for claim in claims:
        for control in claim.controls:
            also = f" (also {', '.join(control.also)})" if control.also else ""
            yield f"{claim.id}: {control.breaks}: {control.words}{also}"
    yield _covered(claims)


def _try(
    args: argparse.Namespace,
    jobs: int,
    project: Project,
    registry: Registry,
    checks: Sequence[Check],
    claims: Sequence[Claim],
    chosen: Sequence[Trial],
) -> int:
    # Of what is there now, which is what is tried.
    keys = {
        trial: key_of(project, registry, checks, trial.claim, trial.control)
        for trial in chosen
        if trial.control is not None
    }
    file = args.results or project.root / DEFAULT
    read_results(file)  # a table that cannot be read is better told of before hours of work than after
    results: list[Result] = []
    started, interrupted = time.monotonic(), False
    running = run_trials(project, registry, chosen, jobs=jobs, minutes=args.minutes, store=args.run_store)
    try:
        with closing(running):
            for result in running:
                results.append(result)
                print(f"{len(results)}/{len(chosen)} {_line(result)}", flush=True)
    except KeyboardInterrupt:
        interrupted = True
    of_controls = sorted(with_claims_as_they_are(results), key=lambda each: chosen.index(each.trial))
    rows = [row_of(each, each.trial.control, keys[each.trial]) for each in of_controls if each.trial.control]
    write_results(file, registry, rows)
    print("\n".join(_summary(claims, of_controls, rows, time.monotonic() - started)))
    print(f"results: {file}")
    if interrupted:
        print(f"interrupted: {len(chosen) - len(results)} of {len(chosen)} trials did not end", file=sys.stderr)
        return INTERRUPTED
    caught = all(each.outcome == ControlOutcome.CAUGHT for each in of_controls)
    return WELL if caught and all(claim.controls for claim in claims) else NOT_ALL_CAUGHT


def _cores() -> int:
    process = psutil.Process()
    return len(process.cpu_affinity()) if hasattr(process, "cpu_affinity") else psutil.cpu_count() or 1


def _line(result: Result) -> str:
    """Return what became of a trial, as it is told when it ends."""
    control = result.trial.control
    if control is None:
        return f"{result.trial.place}: {'no other verdict' if result.own.outcome == ControlOutcome.MISSED else 'wrong'}"
    told = f"{result.outcome} {result.trial.claim.id}: {control.breaks} ({duration(result.seconds)})"
    return told + (f": {why}" if (why := _why(result)) else "")


def _why(result: Result) -> str:
    """Return what went wrong, or which of several claims did not notice; empty for a control that was caught."""
    missing = [
        f"{other} {found.outcome}" for other, found in result.also.items() if found.outcome != ControlOutcome.CAUGHT
    ]
    own = [f"{result.trial.claim.id} {result.own.outcome}"] if missing else []
    return "; ".join(filter(None, (result.reason, *own, *missing)))


def _summary(claims: Sequence[Claim], results: Sequence[Result], rows: Sequence[Row], seconds: float) -> Iterator[str]:
    """Yield the table, by claim, and the last lines."""
    width = max((len(str(row["outcome"])) for row in rows), default=0)
    yield ""
    for result, row in zip(results, rows, strict=True):
        why = _why(result) or row["by"]
        yield f"{row['outcome']:{width}}  {row['claim']}: {row['breaks']}" + (f"  [{why}]" if why else "")
    without = [claim.id for claim in claims if not claim.controls]
    if without:
        more = f" and {len(without) - NAMED} more" if len(without) > NAMED else ""
        yield f"no control: {', '.join(without[:NAMED])}{more}"
    caught = sum(each.outcome == ControlOutcome.CAUGHT for each in results)
    yield f"{_covered(claims)}; {caught} of {len(results)} controls caught, in {duration(seconds)}"


def _covered(claims: Sequence[Claim]) -> str:
    return f"{sum(bool(claim.controls) for claim in claims)} of {len(claims)} claims have a control"

"""Decisions: a run that someone accepted is the baseline from there on, for all or some claims, with the reason."""

import argparse
import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import pandas as pd

from reports.errors import ReportError
from reports.history import append, device_kind, is_missing, read_files, write_once
from reports.tables import read_run

SCHEMA = 1


@dataclass(frozen=True)
class Decision:
    """From the run called `run` on, the claims that match one of the patterns have a new baseline."""

    run: str
    claims: tuple[str, ...]
    reason: str
    when: str

    def covers(self, claim: str) -> bool:
        """Say whether it is about `claim`."""
        return any(fnmatchcase(claim, pattern) for pattern in self.claims)


def accept(history: str | Path, run_dir: str | Path, reason: str, claims: Sequence[str] = ("*",)) -> Decision:
    """Make the run in a report directory the baseline of the claims that match a pattern; it is kept if it is not yet.

    Raises ReportError where the run cannot be read or is incomplete, nothing matches, there is no such history, or the
    decision cannot be written.
    """
    run = read_run(run_dir)
    if not run.info["complete"]:
        raise ReportError(f"{run_dir}: an incomplete run is no baseline; accept one that ran to its end")
    if is_missing(history):  # the name is then more likely a typing error than a new history
        raise ReportError(f"{history}: no such history; `pytest --history` starts one")
    if not reason.strip():
        raise ReportError("--reason is empty; say why the new numbers are right")
    for pattern in claims:
        if not any(fnmatchcase(claim, pattern) for claim in run.claims["claim"]):
            raise ReportError(f"--claim {pattern}: no claim of {run_dir} matches; see its claims.csv")
    name = append(history, run)
    when = datetime.now(UTC)
    decision = Decision(name, tuple(claims), " ".join(reason.split()), when.isoformat())
    content = json.dumps({"schema": SCHEMA, **asdict(decision)}, indent=1, ensure_ascii=False).encode()
    file = f"{when:%Y%m%dT%H%M%S.%fZ}-{hashlib.sha256(content).hexdigest()[:12]}.json"
    write_once(history, f"{device_kind(run.info['environment'])}/{file}", content)
    return decision


def read_decisions(history: str | Path, kind: str) -> tuple[list[Decision], list[str]]:
    """Return the decisions of one device kind, oldest first, and a line for each file that cannot be used."""
    decisions, problems = [], []
    for files in read_files(history, kind, ".json"):
        for name, content in files.items():
            try:
                if isinstance(content, Exception):
                    raise content
                fields = json.loads(content)
                if fields.pop("schema") != SCHEMA:
                    raise ValueError("another schema version")
                decision = Decision(**{**fields, "claims": tuple(fields["claims"])})
                if not all(isinstance(text, str) for text in (decision.run, decision.reason, *decision.claims)):
                    raise TypeError("a field is not text")
                decisions.append(decision)
            except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
                problems.append(f"{name}: not a decision ({error}); restore or delete it")
    return decisions, problems


def baseline_starts(decisions: Sequence[Decision], runs: pd.DataFrame, claims: Sequence[str]) -> dict[str, int]:
    """Return at which run of `runs` the baseline of a claim begins, for the claims that a decision covers."""
    starts: dict[str, int] = {}
    for decision in decisions:
        after = runs.index[runs["name"] >= decision.run]
        exact = runs.index[runs["name"] == decision.run]
        start = int((exact if len(exact) else after).min()) if len(after) else len(runs) - 1
        starts |= {claim: start for claim in claims if decision.covers(claim)}
    return starts


def add_parser(subparsers: Any) -> None:
    """Describe `accept` to the command line."""
    parser = subparsers.add_parser(
        "accept",
        help="make a run the baseline",
        description="Make a run the baseline of drift, for all claims or some, and keep the reason. Runs before it no"
        " longer count; to keep the nights since a change, name the first run after it.",
        epilog="example: python -m reports accept --history history reports/latest --reason 'new Adam in torch 2.14'"
        " --claim 'week07.day3.*'",
    )
    parser.add_argument("--history", metavar="DIR", required=True, help="the history: a folder or an fsspec URL")
    parser.add_argument("--reason", metavar="TEXT", required=True, help="why the new numbers are right")
    parser.add_argument("--claim", metavar="PATTERN", nargs="+", default=["*"], help="only claims whose id matches")
    parser.add_argument("run", metavar="RUN", help="the report directory of the run")


def run(args: argparse.Namespace) -> int:
    """Accept, say what was accepted, and return 0."""
    decision = accept(args.history, args.run, args.reason, args.claim)
    print(f"{decision.run} is the baseline of {', '.join(decision.claims)}: {decision.reason}")
    return 0

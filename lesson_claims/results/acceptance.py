"""Acceptances: a run that someone accepted is the baseline from there on, for all or some claims, with the reason."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from pathlib import Path

import pandas as pd

from lesson_claims.results.baseline import BASELINE, is_baseline, renew, renew_platforms
from lesson_claims.results.errors import ReportError
from lesson_claims.results.history import append, device_kind, is_missing, read_files, write_once
from lesson_claims.results.tables import Run, read_run

SCHEMA = 1


@dataclass(frozen=True)
class Acceptance:
    """From the run called `run` on, the claims that match one of the patterns have a new baseline."""

    run: str
    claims: tuple[str, ...]
    reason: str
    when: str

    def covers(self, claim: str) -> bool:
        """Say whether it is about `claim`."""
        return any(fnmatchcase(claim, pattern) for pattern in self.claims)


def accept(
    history: str | Path,
    run_dirs: Sequence[str | Path],
    reason: str,
    claims: Sequence[str] = ("*",),
    *,
    platforms: bool = False,
) -> Acceptance:
    """Make runs, each in its report directory, the baseline of the claims that match a pattern.

    In a history they are kept if they are not yet, and the first of them begins the baseline. In a baseline (which is
    made if it is `reports/baseline` and not there) they replace what other runs say of these claims; with `platforms`,
    only their platform spread does. Raises ReportError where a run cannot be read or is incomplete, the runs are of
    several kinds of device, nothing matches, there is no such history, or the acceptance cannot be written.
    """
    runs = sorted((_readable(run_dir) for run_dir in run_dirs), key=lambda run: run.name)
    kinds = {device_kind(run.info["environment"]) for run in runs}
    plain = is_baseline(history) or Path(history) == Path(BASELINE)
    if is_missing(history) and not plain:  # the name is then more likely a typing error than a new history
        raise ReportError(f"{history}: no such history; `pytest --history` starts one")
    if not reason.strip():
        raise ReportError("--reason is empty; say why the new numbers are right")
    if len(kinds) > 1:
        raise ReportError(f"the runs are of {' and '.join(sorted(kinds))}; accept those of each kind of device alone")
    for pattern in claims:
        if not any(fnmatchcase(claim, pattern) for run in runs for claim in run.claims["claim"]):
            raise ReportError(f"--claim {pattern}: no claim of {run_dirs[0]} matches; see its claims.csv")
    if platforms and not plain:
        raise ReportError(f"{history}: a history keeps no platform spread; give a baseline, such as {BASELINE}")
    kind = kinds.pop()
    acceptance = Acceptance("", tuple(claims), " ".join(reason.split()), datetime.now(UTC).isoformat())
    if platforms:
        renew_platforms(history, kind, runs, acceptance.covers)
        name = runs[0].name
    elif plain:
        folders = renew(history, kind, runs, claims, acceptance.covers)
        name = min(read_run(folder).name for folder in folders)
        _forget(history, kind, claims)
    else:
        names = [append(history, run) for run in runs]
        name = names[0]
    acceptance = replace(acceptance, run=name)
    _keep(history, kind, acceptance)
    return acceptance


def _readable(run_dir: str | Path) -> Run:
    run = read_run(run_dir)
    if not run.info["complete"]:
        raise ReportError(f"{run_dir}: an incomplete run is no baseline; accept one that ran to its end")
    return run


def _keep(history: str | Path, kind: str, acceptance: Acceptance) -> None:
    content = json.dumps({"schema": SCHEMA, **asdict(acceptance)}, indent=1, ensure_ascii=False).encode() + b"\n"
    when = datetime.fromisoformat(acceptance.when)
    file = f"{when:%Y%m%dT%H%M%S.%fZ}-{hashlib.sha256(content).hexdigest()[:12]}.json"
    write_once(history, f"{kind}/{file}", content)


def _forget(baseline: str | Path, kind: str, claims: Sequence[str]) -> None:
    """Delete the acceptances of a baseline that decide nothing any more; git remembers them."""
    for file in Path(baseline, kind).glob("*.json"):
        acceptances, _ = _parsed({str(file): file.read_bytes()})
        if any("*" in claims or acceptance.claims == tuple(claims) for acceptance in acceptances):
            file.unlink(missing_ok=True)


def read_acceptances(history: str | Path, kind: str) -> tuple[list[Acceptance], list[str]]:
    """Return the acceptances of one device kind, oldest first, and a line for each file that cannot be used."""
    acceptances: list[Acceptance] = []
    problems: list[str] = []
    for files in read_files(history, kind, ".json"):
        found, unusable = _parsed(files)
        acceptances += found
        problems += unusable
    return acceptances, problems


def _parsed(files: Mapping[str, bytes | Exception]) -> tuple[list[Acceptance], list[str]]:
    acceptances, problems = [], []
    for name, content in files.items():
        try:
            if isinstance(content, Exception):
                raise content
            fields = json.loads(content)
            if fields.pop("schema") != SCHEMA:
                raise ValueError("another schema version")
            acceptance = Acceptance(**{**fields, "claims": tuple(fields["claims"])})
            if not all(isinstance(text, str) for text in (acceptance.run, acceptance.reason, *acceptance.claims)):
                raise TypeError("a field is not text")
            acceptances.append(acceptance)
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            problems.append(f"{name}: not a decision ({error}); restore or delete it")
    return acceptances, problems


def baseline_starts(
    history: str | Path, acceptances: Sequence[Acceptance], runs: pd.DataFrame, claims: Sequence[str]
) -> dict[str, int]:
    """Return at which run of `runs` the baseline of a claim begins, for the claims that an acceptance covers.

    In a baseline it is the first run for all: it holds nothing but what was accepted.
    """
    if is_baseline(history):
        return {}
    starts: dict[str, int] = {}
    for acceptance in acceptances:
        after = runs.index[runs["name"] >= acceptance.run]
        exact = runs.index[runs["name"] == acceptance.run]
        start = int((exact if len(exact) else after).min()) if len(after) else len(runs) - 1
        starts |= {claim: start for claim in claims if acceptance.covers(claim)}
    return starts

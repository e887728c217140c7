"""Acceptances: what a run says of some claims and figures is their baseline from there on, with the reason.

In a history an acceptance names the claims and figures that it covers, one by one, so that it hides nothing else. In a
baseline, which holds nothing but what was accepted, it names the claims that were renewed.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import pandas as pd

from lesson_claims.results.baseline import BASELINE, is_baseline, renew, renew_platforms
from lesson_claims.results.errors import ReportError
from lesson_claims.results.history import append, device_kind, is_missing, read_files, write_once
from lesson_claims.results.tables import Run, read_run
from lesson_claims.results.vocabulary import ClaimVerdict

SCHEMA = 2

Key = tuple[str, str]
"""A claim and a figure; no figure means the claim itself, which is its verdict."""


@dataclass(frozen=True)
class Acceptance:
    """From the run called `run` on, some claims and figures have a new baseline.

    Attributes:
        run: the run's name.
        reason: why its numbers are right.
        when: when it was accepted, ISO 8601 UTC.
        figures: what it covers in a history.
        claims: patterns of claims that are covered with all that belongs to them: of a baseline, and of histories
            that were kept by schema 1.
    """

    run: str
    reason: str
    when: str
    figures: tuple[Key, ...] = ()
    claims: tuple[str, ...] = ()

    def covers(self, claim: str, figure: str) -> bool:
        """Say whether it is about a figure of `claim`, or, without a figure, about its verdict."""
        return (claim, figure) in self.figures or any(fnmatchcase(claim, pattern) for pattern in self.claims)

    @property
    def names(self) -> list[str]:
        """What it covers, as `CLAIM/FIGURE`, `CLAIM`, or a pattern of claims."""
        return [*self.claims, *(name_of(*key) for key in self.figures)]


def name_of(claim: str, figure: str) -> str:
    """Return claim and figure in one text, as `lesson-claims trend` and `accept` take them."""
    return f"{claim}/{figure}" if figure else claim


def runs_to_accept(run_dirs: Sequence[str | Path], reason: str) -> list[Run]:
    """Return the runs in report directories, oldest first.

    Raises ReportError where one cannot be read or is incomplete, they are of several kinds of device, or the reason is
    empty.
    """
    if not reason.strip():
        raise ReportError("--reason is empty; say why the new numbers are right")
    runs = sorted((_readable(run_dir) for run_dir in run_dirs), key=lambda run: run.name)
    kinds = {device_kind(run.info["environment"]) for run in runs}
    if len(kinds) > 1:
        raise ReportError(f"the runs are of {' and '.join(sorted(kinds))}; accept those of each kind of device alone")
    return runs


def is_for_baseline(place: str | Path) -> bool:
    """Say whether to accept into `place` means to renew a baseline; `reports/baseline` need not be there yet.

    Raises ReportError where there is neither a baseline nor a history: the name is then more likely a typing error.
    """
    if is_baseline(place) or Path(place) == Path(BASELINE):
        return True
    if is_missing(place):
        raise ReportError(f"{place}: no such history; `pytest --history` starts one")
    return False


def accept_figures(history: str | Path, runs: Sequence[Run], reason: str, figures: Sequence[Key]) -> Acceptance:
    """Make runs the baseline of some claims and figures in a history, from the first of the runs on.

    Runs that the history does not have yet are kept. Raises ReportError where it cannot be written.
    """
    names = [append(history, run) for run in runs]
    acceptance = Acceptance(min(names), " ".join(reason.split()), _now(), figures=tuple(figures))
    _keep(history, device_kind(runs[0].info["environment"]), acceptance)
    return acceptance


def accept_claims(
    baseline: str | Path, runs: Sequence[Run], reason: str, patterns: Sequence[str] = (), *, platforms: bool = False
) -> Acceptance:
    """Let runs replace what other runs of a baseline say of the claims that match a pattern, of all without one.

    With `platforms`, only the platform spread is replaced. Raises ReportError where nothing matches, or the baseline
    cannot be read or written.
    """
    for pattern in patterns:
        if not any(fnmatchcase(claim, pattern) for run in runs for claim in run.claims["claim"]):
            raise ReportError(f"--claim {pattern}: no claim of the runs matches; see claims.csv")
    kind = device_kind(runs[0].info["environment"])
    acceptance = Acceptance("", " ".join(reason.split()), _now(), claims=tuple(patterns) or ("*",))

    def covers(claim: str) -> bool:
        return acceptance.covers(claim, "")

    if platforms:
        renew_platforms(baseline, kind, runs, covers)
        name = runs[0].name
    else:
        folders = renew(baseline, kind, runs, acceptance.claims, covers)
        name = min(read_run(folder).name for folder in folders)
        _forget(baseline, kind, acceptance.claims)
    acceptance = replace(acceptance, run=name)
    _keep(baseline, kind, acceptance)
    return acceptance


def measured(run: Run) -> set[Key]:
    """Return the claims that a run decided or tried to decide, and the figures that it measured."""
    ran = run.claims.loc[run.claims["verdict"] != ClaimVerdict.NOT_RUN, "claim"]
    there = run.measurements[run.measurements["measured"].astype(str) != ""]
    return {(claim, "") for claim in ran} | {
        key for table in (there, run.samples) for key in zip(table["claim"], table["figure"], strict=True)
    }


def _now() -> str:
    return datetime.now(UTC).isoformat()


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
            acceptances.append(_acceptance(json.loads(content)))
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            problems.append(f"{name}: not an acceptance ({error}); restore or delete it")
    return acceptances, problems


def _acceptance(fields: dict[str, Any]) -> Acceptance:
    """Return the acceptance in the content of a file; schema 1 has no figures. Raises what a bad content leads to."""
    if fields["schema"] not in range(1, SCHEMA + 1):
        raise ValueError(f"schema version {fields['schema']}, this program reads {SCHEMA}")
    figures = tuple((claim, figure) for claim, figure in fields.get("figures", ()))
    claims = tuple(fields["claims"])
    named = [*claims, *(text for key in figures for text in key)]
    if not all(isinstance(text, str) for text in (fields["run"], fields["reason"], *named)):
        raise TypeError("a field is not text")
    when = datetime.fromisoformat(fields["when"])
    when = when.replace(tzinfo=when.tzinfo or UTC)
    return Acceptance(fields["run"], fields["reason"], when.isoformat(), figures, claims)


def baseline_starts(
    history: str | Path, acceptances: Sequence[Acceptance], runs: pd.DataFrame, keys: Sequence[Key]
) -> dict[Key, int]:
    """Return at which run of `runs` the baseline begins, for those claims and figures that an acceptance covers.

    In a baseline it is the first run for all: it holds nothing but what was accepted.
    """
    if is_baseline(history):
        return {}
    starts: dict[Key, int] = {}
    for acceptance in acceptances:
        after = runs.index[runs["name"] >= acceptance.run]
        exact = runs.index[runs["name"] == acceptance.run]
        start = int((exact if len(exact) else after).min()) if len(after) else len(runs) - 1
        if acceptance.claims:
            covered = {claim for claim in dict.fromkeys(claim for claim, _ in keys) if acceptance.covers(claim, "")}
            starts |= {key: start for key in keys if key[0] in covered}
        starts |= dict.fromkeys(acceptance.figures, start)
    return starts

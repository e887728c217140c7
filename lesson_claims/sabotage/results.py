"""reports/controls.csv: what became of each control when it was tried last, and whether that is still so."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from lesson_claims.controls import Control, stand_in_file
from lesson_claims.project import Project
from lesson_claims.registry import Claim, Registry
from lesson_claims.results.columns import CONTROLS
from lesson_claims.results.csv_files import csv_text, frame, read_table
from lesson_claims.results.files import write_files
from lesson_claims.results.vocabulary import ControlOutcome
from lesson_claims.sabotage.outcomes import Result
from lesson_claims.traceability import Check

DEFAULT = Path("reports") / "controls.csv"

Row = dict[str, Any]


def key_of(project: Project, registry: Registry, checks: Iterable[Check], claim: Claim, control: Control) -> str:
    """Return 16 hexadecimal digits for all that a result of a control says something about.

    That is what is declared, what is on record for the claims that have to notice, and the content of the modules of
    their checks, of the edited files, and of the stand-in's module.
    """
    noticing = [claim, *(registry.claims[other] for other in control.also)]
    names = {each.id for each in noticing}
    files = {check.id.split("::")[0] for check in checks if check.claim in names}
    files |= {edit.file for edit in control.edits}
    if control.stand_in is not None:
        path = stand_in_file(control.stand_in, claim.id, (*project.code, *project.claims))
        files.add(path.relative_to(project.root).as_posix())
    declared = [asdict(control), [(each.id, each.expect) for each in noticing]]
    digest = hashlib.sha256(json.dumps(declared, sort_keys=True).encode())
    for file in sorted(files):
        digest.update(file.encode() + b"\0" + hashlib.sha256((project.root / file).read_bytes()).digest())
    return digest.hexdigest()[:16]


def read_results(file: Path) -> list[Row]:
    """Return the rows of a table of results; none where it is not there.

    Raises ReportError where it cannot be read.
    """
    try:
        table = read_table(file, CONTROLS, "restore it, or delete it and try the controls again")
    except FileNotFoundError:
        return []
    rows: list[Row] = table.to_dict("records")
    return rows


def row_of(result: Result, control: Control, key: str) -> Row:
    """Return the row of a result that has just come in."""
    return {
        "claim": result.trial.claim.id,
        "breaks": control.breaks,
        "outcome": result.outcome,
        "by": " ".join(dict.fromkeys(check for each in (result.own, *result.also.values()) for check in each.by)),
        "also": " ".join(f"{claim}={each.outcome}" for claim, each in result.also.items()),
        "seconds": round(result.seconds, 1),
        "when": datetime.now(UTC).strftime("%Y-%m-%dT%H:%MZ"),
        "key": key,
    }


def write_results(file: Path, registry: Registry, new: Iterable[Row]) -> None:
    """Write new rows in the place of those that are there of the same controls, in the order of the registry.

    Rows of controls that are not declared any more are dropped. Raises ReportError where the table that is there cannot
    be read, or the new one not be written.
    """
    rows = {(row["claim"], row["breaks"]): row for row in (*read_results(file), *new)}
    declared = [(claim.id, control.breaks) for claim in registry.claims.values() for control in claim.controls]
    kept = [rows[each] for each in declared if each in rows]
    write_files(file.parent, {file.name: csv_text(CONTROLS, frame(CONTROLS, kept, file.name))})


def standing(project: Project, registry: Registry, checks: Sequence[Check], file: Path) -> Mapping[str, list[Row]]:
    """Return by claim what is known of each of its controls, in plain values; claims without any are left out.

    A row has `breaks`, `outcome` and `when`; `outcome` is empty for a control that was not tried, or not since its
    declaration, the checks or the edited code changed.

    Raises ReportError where the table cannot be read.
    """
    rows = {(row["claim"], row["breaks"]): row for row in read_results(file)}
    found: dict[str, list[Row]] = {}
    for claim in registry.claims.values():
        for control in claim.controls:
            row = rows.get((claim.id, control.breaks))
            current = row is not None and row["key"] == key_of(project, registry, checks, claim, control)
            told = row if row is not None and current else {}
            known = {name: str(told.get(name, "")) for name in ("outcome", "when")}
            found.setdefault(claim.id, []).append({"breaks": control.breaks, **known})
    return found


def caught(rows: Iterable[Row]) -> int:
    """Return how many controls were caught."""
    return sum(row["outcome"] == ControlOutcome.CAUGHT for row in rows)

"""What moved with new versions of libraries: found once, by running a night's seeds again, and kept in the history.

A file of its own, `HISTORY/<device kind>/<run>.shifts`, JSON: later nights have other seeds and could not find it
again.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from lesson_claims.results.history import read_files, write_once

SCHEMA = 1
SUFFIX = ".shifts"


class Shift(msgspec.Struct, frozen=True):
    """A figure that moved on the same seeds.

    Attributes:
        sentence: by how much, in words.
        cause: what else changed.
    """

    claim: str
    figure: str
    kind: str
    sentence: str
    cause: str


class Shifts(msgspec.Struct, frozen=True, kw_only=True):
    """What was found when the seeds of an earlier run were run again.

    Attributes:
        run: the run of the night on which that was done.
        before: the run whose seeds they were; empty where they could not be run again.
        lines: what was compared and what came of it, a text each.
        moved: the figures that moved beyond chance.
        returned: claims and figures that had moved since `before`, and no longer do.
    """

    schema: int = SCHEMA
    run: str
    before: str
    lines: tuple[str, ...]
    moved: tuple[Shift, ...] = ()
    returned: tuple[tuple[str, str], ...] = ()


def keep_shifts(history: str | Path, kind: str, shifts: Shifts) -> None:
    """Write what was found; what is there of the same run stays. Raises ReportError where it cannot be written."""
    content = json.dumps(msgspec.to_builtins(shifts), indent=1, ensure_ascii=False).encode() + b"\n"
    write_once(history, f"{kind}/{shifts.run}{SUFFIX}", content)


def read_shifts(history: str | Path, kind: str) -> tuple[list[Shifts], list[str]]:
    """Return what was found in one device kind, oldest first, and a line for each file that cannot be used."""
    found: list[Shifts] = []
    problems: list[str] = []
    for files in read_files(history, kind, SUFFIX):
        for name, content in _sorted(files):
            try:
                if isinstance(content, Exception):
                    raise content
                shifts = msgspec.json.decode(content, type=Shifts)
                if shifts.schema != SCHEMA:
                    raise ValueError(f"schema version {shifts.schema}, this program reads {SCHEMA}")
                found.append(shifts)
            except (OSError, ValueError) as error:
                problems.append(f"{name}: not what moved with new versions ({error}); restore or delete it")
    return found, problems


def _sorted(files: Mapping[str, bytes | Exception]) -> list[tuple[str, Any]]:
    return sorted(files.items())

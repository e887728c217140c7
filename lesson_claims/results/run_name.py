"""The name of a run in a history: when it started, and a hash of its content."""

import hashlib
import json
from collections.abc import Collection, Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

import pandas as pd

from lesson_claims.results.errors import ReportError


def started(info: Mapping[str, Any]) -> datetime:
    """Return when the run of a run.json started, in UTC.

    Raises ReportError where it does not say so.
    """
    try:
        moment = datetime.fromisoformat(info["started"])
    except ValueError:
        raise ReportError(f"run.json: 'started' is {info['started']!r:.40}, not a time; run the suite again") from None
    return moment.replace(tzinfo=moment.tzinfo or UTC).astimezone(UTC)


def kept_name(info: Mapping[str, Any], tables: Mapping[str, pd.DataFrame]) -> str:
    """Return the name that histories know a run by; empty where it does not say when it started."""
    try:
        # What came later is not in their tables; a column of theirs that has the same name counts.
        return run_name(info, (tables["claims"], tables["measurements"], tables["samples"]), later=())
    except ReportError:
        return ""


LATER = ("undecided", "controls", "ours", "facts")
"""Fields and columns that came later: where nothing is in them they are no part of the name, so a run keeps it."""


def run_name(info: Mapping[str, Any], tables: Iterable[pd.DataFrame], later: Collection[str] = LATER) -> str:
    """Return UTC time and content hash; names sort by time, and the same run always has the same name.

    Raises ReportError where the run does not say when it started.
    """
    content = hashlib.sha256(json.dumps(_kept(info, later), sort_keys=True).encode())
    for table in tables:
        table = table.drop(columns=[name for name in later if name in table and not table[name].astype(bool).any()])
        content.update(table.to_csv(index=False, lineterminator="\n").encode())
    return f"{started(info):%Y%m%dT%H%M%S.%fZ}-{content.hexdigest()[:12]}"


def _kept(info: Mapping[str, Any], later: Collection[str]) -> dict[str, Any]:
    return {name: value for name, value in info.items() if value or name not in later}

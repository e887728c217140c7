"""Shards of one run, put together again: claims that ran in different places, in one report."""

import argparse
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from reports.errors import ReportError
from reports.settling import settle, unsettle
from reports.tables import TABLES, Run, read_run, write_run

SAME = ("commit", "dirty", "seeds", "lessons", "checklist")
"""What the shards of one run have in common; and of their environment, the fingerprint of its arithmetic."""


def merge(shards: Sequence[tuple[str, Run]]) -> Run:
    """Merge runs, each given with its name, into one; its `seconds` is the sum of theirs.

    A claim and all that belongs to it comes from the shard in which it ran; its verdict is the one that stands among
    the tests of all shards, as in one run that had them all. The result is complete if every shard is,
    none of them is missing, and no claim that was selected is left without a result. Raises ReportError where the
    shards do not belong together, or where two ran the same claim and disagree.
    """
    shards = [(name, unsettle(run)) for name, run in shards]
    first_name, first = shards[0]
    for name, run in shards[1:]:
        _check_same(first_name, first, name, run)
    owners = _owners(shards)
    tables = {name: _joined(name, shards, owners) for name in TABLES}
    counts = Counter(tables["claims"]["verdict"])
    infos = [run.info for _, run in shards]
    missing = _missing_shards(shards)
    everything_selected = any(not info["selected"] for info in infos)
    info = {
        **first.info,
        "complete": all(info["complete"] for info in infos)
        and not missing
        and not (everything_selected and counts["not run"]),
        "started": min(info["started"] for info in infos),
        "seconds": sum(info["seconds"] for info in infos),
        "selected": _either(info["selected"] for info in infos) if not everything_selected else "",
        "options": _combined([info["options"] for info in infos]),
        "exit_status": max(info["exit_status"] for info in infos),
        "problems": list(dict.fromkeys([*(each for info in infos for each in info["problems"]), *missing])),
        "environment": _combined([info["environment"] for info in infos]),
        "source": {check: place for info in infos for check, place in info["source"].items()},
    }
    return settle(Run(**tables, info=info))


def _check_same(first_name: str, first: Run, name: str, run: Run) -> None:
    for key in SAME:
        if run.info[key] != first.info[key]:
            raise ReportError(_differ(key, first_name, first.info[key], name, run.info[key]))
    ours, theirs = (each.info["environment"].get("numerics") for each in (first, run))
    if ours != theirs:
        raise ReportError(_differ("numerics", first_name, ours, name, theirs))
    if run.claims["claim"].tolist() != first.claims["claim"].tolist():
        raise ReportError(f"{name}: other claims than in {first_name}; merge shards of one version of the suite")


def _differ(what: str, first_name: str, ours: Any, name: str, theirs: Any) -> str:
    return f"{name}: {what} is {theirs!r:.60}, but {ours!r:.60} in {first_name}; merge shards of one run only"


def _owners(shards: Sequence[tuple[str, Run]]) -> dict[str, int]:
    """Return for each claim the number of the shard to take it from."""
    owners: dict[str, int] = {}
    for number, (name, run) in enumerate(shards):
        for claim, verdict in zip(run.claims["claim"], run.claims["verdict"], strict=True):
            owner = owners.setdefault(claim, number)
            before = shards[owner][1]
            if owner == number or verdict == "not run":
                continue
            if before.claims.set_index("claim")["verdict"][claim] == "not run":
                owners[claim] = number
            elif different := _difference(before, run, claim):
                raise ReportError(
                    f"{name}: claim {claim!r:.80} also ran in {shards[owner][0]}, with another result in"
                    f" {different}.csv; run it again in one of them"
                )
    return owners


def _difference(one: Run, other: Run, claim: str) -> str | None:
    """Return the name of the first table in which two runs differ about a claim, apart from how long it took."""

    def rows(frame: pd.DataFrame) -> list[list[str]]:
        own = frame[frame["claim"] == claim].drop(columns=["seconds"], errors="ignore")
        return [[repr(value) for value in row] for row in own.itertuples(index=False)]

    tables = zip(one.tables().items(), other.tables().values(), strict=True)
    return next((name for (name, mine), theirs in tables if rows(mine) != rows(theirs)), None)


def _joined(name: str, shards: Sequence[tuple[str, Run]], owners: Mapping[str, int]) -> pd.DataFrame:
    order = {claim: place for place, claim in enumerate(owners)}
    parts = []
    for number, (_, run) in enumerate(shards):
        frame = run.tables()[name]
        parts.append(frame[frame["claim"].map(owners) == number])
    joined = pd.concat(parts, ignore_index=True)
    return joined.iloc[joined["claim"].map(order).argsort(kind="stable")].reset_index(drop=True)


def _missing_shards(shards: Sequence[tuple[str, Run]]) -> list[str]:
    """Say which shards are not there, where the runs know that they are shards: option `shard` is "2/4"."""
    given = [str(run.info["options"].get("shard") or "") for _, run in shards]
    totals = {shard.partition("/")[2] for shard in given if re.fullmatch(r"\d+/\d{1,4}", shard)}
    return [
        f"shard {number}/{total} is missing"
        for total in sorted(totals)
        for number in range(1, int(total) + 1)
        if f"{number}/{total}" not in given
    ]


def _combined(settings: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Join dictionaries; where they differ, all values are named."""
    keys = dict.fromkeys(key for each in settings for key in each)
    combined = {}
    for key in keys:
        values = [each[key] for each in settings if key in each]
        combined[key] = values[0] if all(value == values[0] for value in values) else _either(values)
    return combined


def _either(values: Any) -> str:
    return " / ".join(dict.fromkeys(str(value) for value in values))


def add_parser(subparsers: Any) -> None:
    """Describe `merge` to the command line."""
    parser = subparsers.add_parser(
        "merge",
        help="put the shards of one run together",
        description="Put the shards of one run together into one report. They must share commit, seeds and arithmetic.",
        epilog="example: python -m reports merge shard-1 shard-2 --output reports/latest",
    )
    parser.add_argument("runs", metavar="RUN", nargs="+", help="the directory of a shard")
    parser.add_argument("--output", metavar="DIR", required=True, help="the directory of the merged run")


def run(args: argparse.Namespace) -> int:
    """Merge, say where the page is, and return 0."""
    write_run(merge([(name, read_run(name)) for name in args.runs]), args.output)
    print(Path(args.output) / "index.html")
    return 0

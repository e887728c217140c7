"""Parts of one run that ran in different places, merged into one run."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from lesson_claims.results.columns import TABLES
from lesson_claims.results.csv_files import frame
from lesson_claims.results.errors import ReportError
from lesson_claims.results.tables import Run
from lesson_claims.results.vocabulary import ClaimVerdict, SettingAgreement

SAME = ("commit", "dirty", "seeds", "lessons", "checklist", "undecided")
"""What the shards of one run have in common; and of their environment, the fingerprint of its arithmetic."""

SEED_OPTIONS = ("seeds", "first_seed")
"""Options that the shards of one run have in common: they say over which seeds claims are decided."""


def merge(shards: Sequence[tuple[str, Run]]) -> Run:
    """Merge runs, each given with its name, into one; its `seconds` is the sum of theirs.

    A claim and all that belongs to it comes from the shard in which it ran, a setting from one that measured it. The
    result is complete if every shard is, and no claim that was selected is left without a result. Raises ReportError
    where the shards do not belong together, or disagree about a claim or a setting that both of them measured.
    """
    first_name, first = shards[0]
    for name, run in shards[1:]:
        _check_same(first_name, first, name, run)
    owners = _owners(shards)
    tables = {name: _joined(name, shards, owners) for name in TABLES if name != "settings"}
    tables["settings"] = _settings(shards)
    counts = Counter(tables["claims"]["verdict"])
    infos = [run.info for _, run in shards]
    everything_selected = any(not info["selected"] for info in infos)
    info = {
        **first.info,
        "complete": all(info["complete"] for info in infos)
        and not (everything_selected and counts[ClaimVerdict.NOT_RUN]),
        "started": min(info["started"] for info in infos),
        "seconds": sum(info["seconds"] for info in infos),
        "selected": _either(info["selected"] for info in infos) if not everything_selected else "",
        "options": _combined([info["options"] for info in infos]),
        "partial": bool(counts[ClaimVerdict.NOT_RUN]),
        "counts": {name.value: counts[name] for name in ClaimVerdict},
        "exit_status": max(info["exit_status"] for info in infos),
        "problems": list(dict.fromkeys(each for info in infos for each in info["problems"])),
        "environment": _combined([info["environment"] for info in infos]),
        "source": {check: place for info in infos for check, place in info["source"].items()},
    }
    return Run(**tables, info=info)


def _check_same(first_name: str, first: Run, name: str, run: Run) -> None:
    for key in SAME:
        if run.info[key] != first.info[key]:
            raise ReportError(_differ(key, first_name, first.info[key], name, run.info[key]))
    for option in SEED_OPTIONS:
        ours, theirs = (each.info["options"].get(option) for each in (first, run))
        if ours != theirs:
            raise ReportError(_differ(f"option {option}", first_name, ours, name, theirs))
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
            if owner == number or verdict == ClaimVerdict.NOT_RUN:
                continue
            if before.claims.set_index("claim")["verdict"][claim] == ClaimVerdict.NOT_RUN:
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
    of_claims = ((name, mine, theirs) for (name, mine), theirs in tables if name != "settings")
    return next((name for name, mine, theirs in of_claims if rows(mine) != rows(theirs)), None)


def _joined(name: str, shards: Sequence[tuple[str, Run]], owners: Mapping[str, int]) -> pd.DataFrame:
    order = {claim: place for place, claim in enumerate(owners)}
    parts = []
    for number, (_, run) in enumerate(shards):
        frame = run.tables()[name]
        parts.append(frame[frame["claim"].map(owners) == number])
    joined = pd.concat(parts, ignore_index=True)
    return joined.iloc[joined["claim"].map(order).argsort(kind="stable")].reset_index(drop=True)


def _settings(shards: Sequence[tuple[str, Run]]) -> pd.DataFrame:
    """Join the tables of settings: each from a shard that measured it, if one did."""
    found: dict[tuple[str, str], tuple[str, dict[str, Any]]] = {}
    for name, run in shards:
        for row in run.settings.to_dict("records"):
            key = (row["run"], row["setting"])
            before, first = found.setdefault(key, (name, row))
            if first["agreement"] == SettingAgreement.NOT_MEASURED:
                found[key] = name, row
            elif row["agreement"] != SettingAgreement.NOT_MEASURED and row != first:
                raise ReportError(
                    f"{name}: setting {row['setting']!r:.80} of {row['run']!r:.80} is {row['measured']!r:.60}, but"
                    f" {first['measured']!r:.60} in {before}; merge shards of one run only"
                )
    return frame(TABLES["settings"], (row for _, row in found.values()), "settings")


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

"""The baseline that goes with the code: a few runs as plain, sorted tables, for everybody to compare theirs with.

    reports/baseline/
      aliases.toml                        names that were given up, if there are any
      cpu-x86_64/                         one folder per kind of device
        seeds-1000-1019/                  a run, named by its seeds: run.json, claims.csv, measurements.csv, samples.csv
        platforms.csv                     the last measured platform spread
        20261130T090000.000000Z-41c0.json a decision: what was accepted, and why

A run that replaces another one of the same seeds replaces its rows in place, and rows are sorted by claim, figure and
seed, so that a number that moves is one changed line in git. What is not needed to compare is left out: sentences,
curves and seconds.
"""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from lesson_claims.results.columns import KEYS, PLATFORMS, TABLES
from lesson_claims.results.csv_files import csv_text, read_table
from lesson_claims.results.errors import ReportError
from lesson_claims.results.files import json_text, write_files
from lesson_claims.results.tables import Run, read_run
from lesson_claims.results.vocabulary import PLATFORM_PICTURE, ClaimVerdict

BASELINE = "reports/baseline"
"""Where the baseline is, from the root of the repository."""

COLUMNS = {
    "claims": ("claim", "lesson", "part", "kind", "verdict", "expected", "wins", "seeds", "facts"),
    "measurements": (
        *("claim", "figure", "kind", "printed", "measured", "tolerance"),
        *("agreement", "seeds", "low", "high", "unit", "device", "type"),
    ),
    "samples": ("claim", "figure", "seed", "value"),
}
"""The tables of a run that are kept, and their columns."""
INFO = (
    *("schema", "complete", "started", "selected", "partial", "seeds", "options"),
    *("commit", "dirty", "environment", "renewed"),
)
"""What is kept of run.json. `renewed` lists later runs that gave the rows of some claims."""

Covers = Callable[[str], bool]


def is_baseline(place: str | Path) -> bool:
    """Say whether a place holds plain tables of runs, and so is no history of Parquet files."""
    return "://" not in str(place) and any(Path(place).glob("*/*/run.json"))


def run_folders(place: str | Path, kind: str) -> list[Path]:
    """Return the folders of the runs of one device kind, by name."""
    return sorted(file.parent for file in Path(place, kind).glob("*/run.json"))


def read_platforms(place: str | Path, kind: str) -> pd.DataFrame:
    """Return the platform spread of one device kind, a table of `PLATFORMS`; without rows where there is none.

    Raises ReportError where it cannot be read.
    """
    try:
        return read_table(Path(place, kind, "platforms.csv"), PLATFORMS, "restore it from git")
    except FileNotFoundError:
        return pd.DataFrame(columns=[column.name for column in PLATFORMS])


def renew(place: str | Path, kind: str, runs: Sequence[Run], patterns: Sequence[str], covers: Covers) -> list[Path]:
    """Make `runs` the baseline of the claims that `covers` accepts, and return the folders of those runs.

    What other runs of the device kind say of these claims is removed; a claim that was not run keeps its rows.
    `patterns` is how the claims were named. Raises ReportError where the baseline cannot be read or written, or two of
    the runs have the same seeds.
    """
    measured = {claim for run in runs for claim in _measured(run)}
    skipped = {claim for run in runs for claim in run.claims["claim"]} - measured

    def replaced(claim: str) -> bool:
        return covers(claim) and claim not in skipped

    after = {}
    for folder in run_folders(place, kind):
        run = _part(read_run(folder), lambda claim: not replaced(claim))
        if len(run.claims):
            after[folder] = run
    renewed: list[Path] = []
    for run in runs:
        folder = Path(place, kind, _name(run))
        if folder in renewed:
            raise ReportError(f"two of the runs have the seeds {folder.name}; give runs of different seeds")
        own = _measured(run)
        part = _part(run, lambda claim, own=own: covers(claim) and claim in own)  # type: ignore[misc]
        if len(part.claims) < len(run.claims):
            part.info |= {"selected": run.info["selected"] or " ".join(patterns), "partial": True}
        after[folder] = _joined(after[folder], part, patterns) if folder in after else part
        renewed.append(folder)
    emptied = set(run_folders(place, kind)) - set(after)
    for folder, run in after.items():
        write_files(folder, _texts(run))
    _write_platforms(place, kind, runs, replaced)
    for folder in emptied:
        _remove(folder)
    return renewed


def renew_platforms(place: str | Path, kind: str, runs: Sequence[Run], covers: Covers) -> None:
    """Make the platform spread of `runs` the baseline's, for the claims that `covers` accepts, and nothing else.

    Raises ReportError where no run has any, or the baseline cannot be read or written.
    """
    if not any(covers(row["claim"]) for run in runs for row in _platform_rows(run)):
        raise ReportError("no such claim has a platform spread in these runs; run the suite with --platforms")
    _write_platforms(place, kind, runs, lambda _: False, covers)


def _write_platforms(
    place: str | Path, kind: str, runs: Sequence[Run], replaced: Covers, covers: Covers | None = None
) -> None:
    known = {claim for run in runs for claim in run.claims["claim"]}
    new = [row for run in runs for row in _platform_rows(run) if (covers or replaced)(row["claim"])]
    spread = {row["claim"] for row in new}
    old = read_platforms(place, kind)
    gone = old["claim"].map(lambda claim: claim in spread or (replaced(claim) and claim not in known)).astype(bool)
    table = pd.concat([old[~gone], pd.DataFrame(new, columns=old.columns)]) if new else old[~gone]
    table = table.drop_duplicates(["claim", "figure", "platform"], keep="last")
    if len(table) or len(old):
        table = table.sort_values(["claim", "figure"], kind="stable")
        write_files(Path(place, kind), {"platforms.csv": csv_text(PLATFORMS, table)})


def _platform_rows(run: Run) -> Iterator[dict[str, Any]]:
    machine = _machine(run.info["environment"])
    curves = dict(iter(run.curves.groupby(["claim", "picture"], sort=False)))
    for claim, figure in zip(run.measurements["claim"], run.measurements["figure"], strict=True):
        rows = curves.get((claim, PLATFORM_PICTURE.format(figure=figure)))
        if rows is not None:
            for platform, value in zip(rows["x"], rows["y"], strict=True):
                yield {"claim": claim, "figure": figure, "platform": platform, "value": value, "machine": machine}


def _machine(environment: dict[str, Any]) -> str:
    names = [str(environment[name]) for name in ("processor", "cpu capability") if environment.get(name)]
    torch = [f"torch {environment['torch']}"] if environment.get("torch") else []
    return ", ".join([*names, *torch])


def _measured(run: Run) -> set[str]:
    return set(run.claims.loc[run.claims["verdict"] != ClaimVerdict.NOT_RUN, "claim"])


def _name(run: Run) -> str:
    first = run.info["options"].get("first_seed", 0)
    return f"seeds-{first}-{first + max(run.info['seeds'], 1) - 1}"


def _part(run: Run, wanted: Covers) -> Run:
    """Return the rows of some claims, in the tables that are kept."""
    tables = {name: getattr(run, name) for name in COLUMNS}
    tables = {name: table[table["claim"].map(wanted).astype(bool)] for name, table in tables.items()}
    rows = {name: table.to_dict("records") for name, table in tables.items()}
    return Run.from_rows({name: run.info[name] for name in INFO if name in run.info}, **rows)


def _joined(old: Run, new: Run, patterns: Sequence[str]) -> Run:
    """Return the rows of two runs that have no claim in common; run.json stays the old one's and names the new one."""
    note = {"claims": [*patterns], **{name: new.info[name] for name in ("started", "commit", "environment")}}
    earlier = [each for each in old.info.get("renewed", []) if each.get("claims") != note["claims"]]
    rows = {name: [*getattr(old, name).to_dict("records"), *getattr(new, name).to_dict("records")] for name in COLUMNS}
    return Run.from_rows({**old.info, "renewed": [*earlier, note]}, **rows)


def _texts(run: Run) -> dict[str, str]:
    """Return the files of a run of the baseline, by name."""
    texts = {}
    for name, kept in COLUMNS.items():
        columns = [column for column in TABLES[name] if column.name in kept]
        texts[f"{name}.csv"] = csv_text(columns, getattr(run, name).sort_values(list(KEYS[name])))
    info = {name: run.info[name] for name in INFO if name in run.info}
    return {**texts, "run.json": json_text(info)}


def _remove(folder: Path) -> None:
    try:
        for name in ("run.json", *(f"{name}.csv" for name in COLUMNS)):  # run.json first: without it, it is no run
            (folder / name).unlink(missing_ok=True)
        if not any(folder.iterdir()):
            folder.rmdir()
    except OSError as error:
        raise ReportError(f"{folder}: cannot be removed: {error.strerror or error}; delete it yourself") from error

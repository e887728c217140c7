"""What a run is compared with: the runs of a history or a baseline under their new names, and where baselines begin."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path

import msgspec
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from lesson_claims.results.acceptance import Acceptance, Key, baseline_starts, read_acceptances
from lesson_claims.results.aliases import Aliases, read_aliases
from lesson_claims.results.baseline import is_baseline
from lesson_claims.results.history import History, load
from lesson_claims.results.shifts import Shift, Shifts, read_shifts
from lesson_claims.results.tables import Run
from lesson_claims.results.vocabulary import ClaimVerdict, Kind

SAME_NIGHT = timedelta(hours=24)
"""Runs of the same seeds that started no further apart than this, with no other run between them, are one night."""

SECONDS = "s"
"""The unit of figures that a clock measured, in runs that were kept before there was a kind for them."""


@dataclass(frozen=True)
class Past:
    """The runs of one device kind.

    Attributes:
        history: the runs, a night's last one for each night.
        acceptances: oldest first, under new names.
        starts: at which run the baseline begins, for the claims and figures that an acceptance covers.
        shifts: what moved with new versions on the same seeds, oldest first, under new names.
        problems: files of these that cannot be used, a line each.
    """

    history: History
    acceptances: list[Acceptance]
    starts: dict[Key, int]
    shifts: list[Shifts]
    problems: list[str]


def read_past(place: str | Path, kind: str, last: Run | None = None, aliases: str | Path | None = None) -> Past:
    """Read the runs of one device kind from a history or a baseline; `last` becomes the last of them.

    Raises ReportError where the aliases are bad, or there are runs and not one can be used.
    """
    names = read_aliases(place, aliases)
    history = names.apply(load(place, kind, last=last))
    history = _of_baseline(history) if is_baseline(place) else one_run_a_night(history)
    acceptances, problems = read_acceptances(place, kind)
    acceptances = [_renamed(acceptance, names) for acceptance in acceptances]
    starts = baseline_starts(place, acceptances, history.runs, keys_of(history.figures))
    shifts, unusable = read_shifts(place, kind)
    shifts = [_renamed_shifts(each, names) for each in shifts]
    return Past(history, acceptances, starts, shifts, [*problems, *unusable])


def keys_of(table: pd.DataFrame) -> list[Key]:
    """Return the claims and figures of a table, in order."""
    rows = table.drop_duplicates(["claim", "figure"])
    return [(str(claim), str(figure)) for claim, figure in zip(rows["claim"], rows["figure"], strict=True)]


def since(table: pd.DataFrame, starts: dict[Key, int]) -> pd.DataFrame:
    """Return the rows of a table of a history that are not from before the baseline of their claim or figure."""
    return table[table["run"].to_numpy() >= _looked_up(table, starts)] if starts else table


def there(figures: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of claims that ran, and of figures that were measured."""
    claim = figures["figure"] == ""
    return figures[(claim & (figures["verdict"] != ClaimVerdict.NOT_RUN)) | (~claim & (figures["measured"] != ""))]


def without_clocks(history: History) -> History:
    """Leave out what a clock measured: it tells of the machine, and is recorded and compared with nothing."""
    figures = history.figures
    clocks = keys_of(figures[(figures["kind"] == Kind.CLOCK) | (figures["unit"] == SECONDS)])
    if not clocks:
        return history
    tables = [table[_looked_up(table, dict.fromkeys(clocks, 1)) == 0] for table in (figures, history.samples)]
    return replace(history, figures=tables[0], samples=tables[1])


def _looked_up(table: pd.DataFrame, numbers: dict[Key, int]) -> NDArray[np.int64]:
    """Return the number of each row's claim and figure, 0 without one, by their codes: a history has many rows."""
    codes = [table[name].astype("category").cat for name in ("claim", "figure")]
    places = [{str(name): place for place, name in enumerate(code.categories)} for code in codes]
    by_code = np.zeros([max(len(place), 1) for place in places], dtype=np.int64)
    for (claim, figure), number in numbers.items():
        if claim in places[0] and figure in places[1]:
            by_code[places[0][claim], places[1][figure]] = number
    return np.asarray(by_code[codes[0].codes.to_numpy(), codes[1].codes.to_numpy()])


def _of_baseline(history: History) -> History:
    """Mark the runs of a baseline as partial: what one of them lacks was measured by another, and did not vanish."""
    earlier = history.runs.index < len(history.runs) - 1
    return replace(history, runs=history.runs.assign(partial=history.runs["partial"] | earlier))


def one_run_a_night(history: History) -> History:
    """Leave out runs that were made again with the same seeds: of a night the last run counts.

    A run stays where no later one of its night measured all that it did.
    """
    runs = history.runs
    again = (
        (runs["first_seed"] >= 0)
        & (runs["first_seed"] == runs["first_seed"].shift(-1))
        & (runs["seeds"] == runs["seeds"].shift(-1))
        & (runs["started"].diff().abs().shift(-1) <= SAME_NIGHT)
    ).tolist()
    if not any(again):
        return history
    measured: dict[int, set[Key]] = {}

    def keys(run: int) -> set[Key]:
        if run not in measured:
            measured[run] = set(keys_of(there(history.figures[history.figures["run"] == run])))
        return measured[run]

    kept = [run for run in range(len(runs)) if not any(keys(run) <= keys(later) for later in _later(run, again))]
    return _only(history, kept)


def _later(run: int, again: Sequence[bool]) -> list[int]:
    """Return the later runs of the same night."""
    end = run
    while again[end]:
        end += 1
    return list(range(run + 1, end + 1))


def _only(history: History, kept: Sequence[int]) -> History:
    places = {run: place for place, run in enumerate(kept)}

    def numbered(table: pd.DataFrame) -> pd.DataFrame:
        rows = table[table["run"].isin(kept)].reset_index(drop=True)
        return rows.assign(run=rows["run"].map(places).astype(table["run"].dtype))

    runs = history.runs.loc[list(kept)].reset_index(drop=True)
    return replace(history, runs=runs, figures=numbered(history.figures), samples=numbered(history.samples))


def open_shifts(
    shifts: Sequence[Shifts], runs: pd.DataFrame, starts: dict[Key, int]
) -> dict[Key, tuple[Shifts, Shift]]:
    """Return what moved on the same seeds, did not return, and has no newer baseline."""
    found: dict[Key, tuple[Shifts, Shift]] = {}
    for each in shifts:
        places = runs.index[runs["name"] >= each.run]
        for key in each.returned:
            found.pop(key, None)
        for moved in each.moved if len(places) else ():
            key = (moved.claim, moved.figure)
            earlier = found.get(key)
            if earlier and earlier[0].before == each.before:
                continue  # it was looked at again, and is as it was
            if starts.get(key, -1) < places[0]:
                found[key] = (each, moved)
    return found


def _renamed(acceptance: Acceptance, names: Aliases) -> Acceptance:
    return replace(
        acceptance,
        figures=tuple(names.name(*key) for key in acceptance.figures),
        claims=tuple(names.claims.get(claim, claim) for claim in acceptance.claims),
    )


def _renamed_shifts(shifts: Shifts, names: Aliases) -> Shifts:
    renamed = []
    for moved in shifts.moved:
        claim, figure = names.name(moved.claim, moved.figure)
        renamed.append(msgspec.structs.replace(moved, claim=claim, figure=figure))
    returned = tuple(names.name(*key) for key in shifts.returned)
    return msgspec.structs.replace(shifts, moved=tuple(renamed), returned=returned)

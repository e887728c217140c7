"""The settings that a page states of its runs, read from `NAME_settings.csv` beside the lesson's `NAME.toml`.

Columns: `run` (the name of a run in the mapping that the lesson's `page_runs` names, or several of them with `*`),
`setting` (its name in the outcome's `settings`), `stated` (the page's own number or text), `where` (on the page).
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from lesson_claims.results.printed_numbers import read_number
from lesson_claims.results.vocabulary import SettingAgreement

COLUMNS = ["run", "setting", "stated", "where"]

SETTINGS = "settings"
"""The name under which an outcome has them."""


class SettingsError(ValueError):
    """Stated settings cannot be used, or a run was made otherwise; one line says which, where, and what to do."""


@dataclass(frozen=True)
class Statement:
    """A line of a settings file.

    Attributes:
        run: the name of a run of the page, or a pattern with `*` for several.
        setting: its name.
        stated: a number or a text, as it stands in the file.
        where: where on the page it stands.
        place: file and line.
    """

    run: str
    setting: str
    stated: str
    where: str
    place: str


Stated = Mapping[str, Mapping[str, Statement]]
"""What is stated of each run, by the names of run and setting."""


def load_settings(path: Path, name: str) -> list[Statement]:
    """Read one file of settings.

    Args:
        path: of the file.
        name: of the file in messages and tables, such as "claims/course_settings.csv".

    Raises:
        SettingsError: at the first line that states nothing, or that repeats another one.
    """
    statements: list[Statement] = []
    seen: dict[tuple[str, str], int] = {}
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            reader = csv.reader(file, strict=True)
            header = next(reader, [])
            if sorted(header) != sorted(COLUMNS):
                raise SettingsError(f"{name}:1: the header must be {','.join(COLUMNS)}; got {','.join(header)}")
            for row in reader:
                statement = _statement(header, row, f"{name}:{reader.line_num}")
                first = seen.setdefault((statement.run, statement.setting), reader.line_num)
                if first != reader.line_num:
                    raise SettingsError(
                        f"{statement.place}: setting {statement.setting!r} of {statement.run!r} stands on line {first}"
                        " already; remove one"
                    )
                statements.append(statement)
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise SettingsError(f"{name}: cannot be read: {error}") from error
    return statements


def _statement(header: list[str], row: list[str], place: str) -> Statement:
    if len(row) != len(header):
        raise SettingsError(f"{place}: {len(row)} fields where {len(header)} are needed; quote a text with a comma")
    fields = dict(zip(header, row, strict=True))
    for column, text in fields.items():
        if not text.strip():
            raise SettingsError(f"{place}: the field {column!r} is empty; fill it in")
    statement = Statement(**fields, place=place)
    try:
        number = read_number(statement.stated)
    except ValueError as error:
        raise SettingsError(f"{place}: stated {statement.stated[:40]!r} {error}; no setting could equal it") from None
    if number is not None and (number.approximate or number.plus_minus is not None):
        raise SettingsError(f"{place}: stated {statement.stated!r} is not exact, and a setting is; write the number")
    return statement


def stated_of(runs: Iterable[str], statements: Iterable[Statement], where: str) -> Stated:
    """Return what is stated of each of a page's runs.

    Args:
        runs: their names.
        statements: of all lessons whose page made these runs.
        where: "module:NAME" of the runs, for messages.

    Raises:
        SettingsError: if a line means no run, if a setting of a run is stated twice, or if nothing is stated of a run.
    """
    found: dict[str, dict[str, Statement]] = {run: {} for run in runs}
    for statement in statements:
        meant = [run for run in found if fnmatchcase(run, statement.run)]
        if not meant:
            raise SettingsError(f"{statement.place}: {statement.run!r} means no run of {where}; correct the name")
        for run in meant:
            first = found[run].setdefault(statement.setting, statement)
            if first is not statement:
                raise SettingsError(
                    f"{statement.place}: setting {statement.setting!r} of {run!r} is stated in {first.place} already;"
                    " remove one, or let its pattern mean fewer runs"
                )
    for run, stated in found.items():
        if not stated:
            raise SettingsError(f"{where}: nothing is stated of the run {run!r}; state its settings beside the lesson")
    return found


def compare(run: str, stated: Mapping[str, Statement], outcome: Mapping[str, Any]) -> list[dict[str, str]]:
    """Compare what is stated of a run with what its outcome says of how it was made.

    Returns:
        a row of the table of settings for each statement.

    Raises:
        SettingsError: if the outcome has no settings, or lacks one of those stated.
    """
    made = outcome.get(SETTINGS)
    if not isinstance(made, Mapping):
        raise SettingsError(f"{run}: the outcome of its recipe has no {SETTINGS!r}, and the page states some; see docs")
    rows = []
    for setting, statement in stated.items():
        if setting not in made:
            raise SettingsError(
                f"{statement.place}: the outcome of {run!r} has no setting {setting!r}; it has {', '.join(made)}"
            )
        agreed = SettingAgreement.AS_STATED if agrees(statement.stated, made[setting]) else SettingAgreement.OTHERWISE
        rows.append(row_of(run, statement, agreed, str(made[setting])))
    return rows


def row_of(run: str, statement: Statement, agreement: SettingAgreement, measured: str = "") -> dict[str, str]:
    """Return a row of the table of settings."""
    return {
        "run": run,
        "setting": statement.setting,
        "stated": statement.stated,
        "measured": measured,
        "agreement": str(agreement),
        "where": statement.where,
        "source": statement.place,
    }


def agrees(stated: str, made: object) -> bool:
    """Say whether a setting is what is stated: equal as a number, or else as a text."""
    number = read_number(stated)
    if number is None or isinstance(made, (bool, str)) or not isinstance(made, (int, float)):
        return str(made) == stated
    return Decimal(repr(made)) == number.value


def refuse_others(rows: Iterable[Mapping[str, str]]) -> None:
    """Refuse a run that was made otherwise than the page states.

    Raises:
        SettingsError: if so; one line that names each such setting.
    """
    wrong = [
        f"{each['run']}: {each['setting']} was {each['measured']}, and the page states {each['stated']}"
        f" ({each['source']})"
        for each in rows
        if each["agreement"] == SettingAgreement.OTHERWISE
    ]
    if wrong:
        raise SettingsError("; ".join(wrong))

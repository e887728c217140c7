"""Names that were given up: a renamed claim or figure keeps its history under the new name.

An aliases file is TOML: `[claims]` maps old claims to new ones; `[figures."CLAIM"]`, with the claim's new name, maps
its old figures to new ones.
"""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import msgspec
import pandas as pd

from lesson_claims.results.errors import ReportError
from lesson_claims.results.history import History, read_text


class _File(msgspec.Struct, forbid_unknown_fields=True):
    claims: dict[str, str] = {}
    figures: dict[str, dict[str, str]] = {}


@dataclass(frozen=True)
class Aliases:
    """New names by old ones: of claims, and, by new claim, of figures."""

    claims: Mapping[str, str]
    figures: Mapping[str, Mapping[str, str]]

    def apply(self, history: History) -> History:
        """Return the history under the new names."""
        if not self.claims and not self.figures:
            return history
        return replace(history, figures=self._renamed(history.figures), samples=self._renamed(history.samples))

    def name(self, claim: str, figure: str) -> tuple[str, str]:
        """Return the new names of a claim and its figure."""
        claim = self.claims.get(claim, claim)
        return claim, self.figures.get(claim, {}).get(figure, figure)

    def _renamed(self, table: pd.DataFrame) -> pd.DataFrame:
        claims = table["claim"].astype(str).replace(dict(self.claims))
        figures = table["figure"].astype(str)
        for claim, names in self.figures.items():
            figures = figures.where(claims != claim, figures.replace(dict(names)))
        return table.assign(claim=claims.astype("category"), figure=figures.astype("category"))


def read_aliases(history: str | Path, file: str | Path | None = None) -> Aliases:
    """Read an aliases file; without one, `aliases.toml` of the history, if it is there.

    Raises ReportError, in one line, where it cannot be used.
    """
    text = read_text(history, "aliases.toml") if file is None else _text(Path(file))
    where = file or f"{history}/aliases.toml"
    try:
        content = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ReportError(f"{where}: not TOML ({error}); correct it") from error
    try:
        aliases = msgspec.convert(content, _File)
    except msgspec.ValidationError as error:
        expected = 'expected [claims] and [figures."CLAIM"], with lines of "old" = "new"'
        raise ReportError(f"{where}: {error}; {expected}") from error
    tables = [aliases.claims, *aliases.figures.values()]
    if chained := [new for table in tables for new in table.values() if new in table]:
        raise ReportError(f"{where}: {chained[0]!r} is an old name as well as a new one; name the newest")
    return Aliases(aliases.claims, aliases.figures)


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ReportError(f"{file}: cannot be read ({error}); check --aliases") from error

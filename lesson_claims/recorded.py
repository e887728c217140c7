"""What is on record of the claims, in the baseline that goes with the code: platform spreads, and wins over seeds.

A default run reads this, so that it judges a printed figure by all the machines that were tried, and knows how often a
claim that a few seeds leave open came out before.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

Number = TypeVar("Number", int, float)

SURE = 0.001
"""Chance of so few wins, or so many, from which a record counts as contradicted."""

ASSUMED = 0.9
"""The share of seeds that agree with a claim on record as holding, where no baseline says how many did."""


class RecordContradicted(AssertionError):  # noqa: N818  it says what happened; nothing went wrong in the suite
    """A claim is neither what is on record for it nor the opposite, and that is no matter of too few seeds."""


class RecordedError(ValueError):
    """A table of the baseline cannot be used; one line says which, what is wrong and what to do."""


@dataclass(frozen=True)
class Wins:
    """In how many of how many seeds a claim's weakest test agreed with it."""

    wins: int
    seeds: int

    @property
    def share(self) -> float:
        """The wins as a share of the seeds."""
        return self.wins / self.seeds


def weakest(counted: Iterable[Wins]) -> Wins | None:
    """Return the wins that are the smallest share of their seeds; None where there are none."""
    return min(counted, key=lambda wins: wins.share, default=None)


@dataclass(frozen=True)
class Recorded:
    """What the baseline says.

    Attributes:
        spreads: by claim and figure, the value at the page's own seed on each platform.
        wins: by claim, over all runs of the baseline.
    """

    spreads: Mapping[tuple[str, str], Mapping[str, float]] = field(default_factory=dict)
    wins: Mapping[str, Wins] = field(default_factory=dict)

    def contradicts(self, claim: str, expected: str, wins: int, seeds: int) -> bool:
        """Say whether a claim on record as holding (or refuted) has by far too few wins (or too many) for that.

        Against a baseline the chance is that of the Pólya distribution: the share behind the baseline's wins is not
        known any better than these allow. Without one, the share is taken to be 0.9, or 0.1.
        """
        from scipy import stats  # slow to load, and the controller never asks

        known = self.wins.get(claim)
        if known is not None and known.seeds:
            law = stats.betabinom(seeds, known.wins + 1, known.seeds - known.wins + 1)
        else:
            law = stats.binom(seeds, ASSUMED if expected == "holds" else 1 - ASSUMED)
        return bool((law.cdf(wins) if expected == "holds" else law.sf(wins - 1)) < SURE)


def read_recorded(baseline: Path) -> Recorded:
    """Read the tables of a baseline; one that is not there says nothing.

    Raises:
        RecordedError: where a table lacks a column or holds what is no number.
    """
    spreads: dict[tuple[str, str], dict[str, float]] = {}
    wins: dict[str, Wins] = {}
    tables = sorted(baseline.glob("*/platforms.csv"))
    for path in tables:
        for row in _rows(path, ("claim", "figure", "platform", "value")):
            platform = f"{row['platform']} ({path.parent.name})" if len(tables) > 1 else row["platform"]
            value = _number(path, "value", row["value"], float)
            spreads.setdefault((row["claim"], row["figure"]), {})[platform] = value
    for path in sorted(baseline.glob("*/*/claims.csv")):
        for row in _rows(path, ("claim", "seeds")):
            if row.get("wins"):
                before = wins.get(row["claim"], Wins(0, 0))
                won, seeds = (_number(path, name, row[name], int) for name in ("wins", "seeds"))
                if not 0 <= won <= seeds:
                    raise RecordedError(
                        f"{path}: {row['claim']} has {won} wins of {seeds} seeds, which cannot be; restore the file"
                        " from git"
                    )
                wins[row["claim"]] = Wins(before.wins + won, before.seeds + seeds)
    return Recorded(spreads, wins)


def _number(path: Path, column: str, text: str | None, kind: type[Number]) -> Number:
    try:
        return kind(text or "")
    except ValueError:
        raise RecordedError(f"{path}: column {column!r}: {text!r} is no number; restore the file from git") from None


def _rows(path: Path, needed: tuple[str, ...]) -> Iterator[dict[str, str]]:
    try:
        with path.open(newline="", encoding="utf-8") as file:
            reader = csv.DictReader(file, strict=True)
            if missing := set(needed) - set(reader.fieldnames or ()):
                raise RecordedError(f"{path}: column {min(missing)!r} is missing; restore the file from git")
            yield from reader
    except (OSError, UnicodeDecodeError, ValueError, TypeError, csv.Error) as error:
        if isinstance(error, RecordedError):
            raise
        raise RecordedError(f"{path}: cannot be used: {error}; restore the file from git") from error

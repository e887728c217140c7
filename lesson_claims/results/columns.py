"""The columns of every table that a run, or its comparison with a history, is written as."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from lesson_claims.results.vocabulary import (
    Agreement,
    ClaimVerdict,
    ControlOutcome,
    Digits,
    DriftState,
    Expectation,
    Kind,
    Mark,
    Remark,
    Scale,
    SettingAgreement,
    Standing,
    ValueType,
)


@dataclass(frozen=True)
class Column:
    """A column of a table.

    `text` is a string, empty where missing. `number` (float) and `integer` (int) are None where missing,
    which is not the same as a NaN that was measured. `flag` is a bool, False where missing. Without `needed`,
    a table may lack the column or leave it empty. With `least`, a number is finite and no smaller than that.
    """

    name: str
    type: Literal["text", "number", "integer", "flag"] = "text"
    needed: bool = False
    choices: tuple[str, ...] = ()
    least: float | None = None


def _texts(*names: str, needed: bool = False) -> tuple[Column, ...]:
    return tuple(Column(name, needed=needed) for name in names)


def _numbers(*names: str, needed: bool = False) -> tuple[Column, ...]:
    return tuple(Column(name, "number", needed) for name in names)


def _choice(name: str, words: Iterable[str], *, needed: bool = False) -> Column:
    return Column(name, needed=needed, choices=tuple(words))


_SECONDS = Column("seconds", "number", least=0.0)

TABLES: dict[str, tuple[Column, ...]] = {
    "measurements": (
        *_texts("claim", "figure", needed=True),
        _choice("kind", Kind),
        *_texts("printed", "measured"),
        Column("tolerance", "number"),
        _choice("agreement", Agreement),
        Column("seeds", "integer"),
        *_numbers("low", "high"),
        *_texts("unit", "device", "check"),
        _SECONDS,
        _choice("type", ValueType),
        *_numbers("page_low", "page_high"),
        Column("platforms", "integer"),
        _choice("digits", Digits),
    ),
    "claims": (
        *_texts("claim", "lesson", needed=True),
        *_texts("part", "where", "statement", "instead_of"),
        _choice("kind", (kind for kind in Kind if kind is not Kind.STATED)),
        _choice("verdict", ClaimVerdict, needed=True),
        _choice("expected", Expectation),
        Column("changed", "flag"),
        Column("ours", "flag"),
        Column("wins", "integer"),
        Column("seeds", "integer"),
        _choice("facts", (ClaimVerdict.HOLDS, ClaimVerdict.REFUTED, ClaimVerdict.INCONCLUSIVE)),
        *_texts("evidence"),
        Column("controls", "integer"),
        Column("checks", "integer"),
        _SECONDS,
    ),
    "samples": (
        *_texts("claim", "figure", needed=True),
        Column("seed", "integer", needed=True),
        *_numbers("value", needed=True),
    ),
    "decisions": (
        *_texts("claim", needed=True),
        *_texts("check", "rule"),
        _choice("verdict", ClaimVerdict, needed=True),
        *_texts("sentence"),
        *_numbers("estimate", "low", "high", "p", "level"),
        Column("wins", "integer"),
        Column("seeds", "integer"),
    ),
    "curves": (
        *_texts("claim", "picture", needed=True),
        _choice("mark", Mark, needed=True),
        *_texts("series", "x"),
        *_numbers("y", needed=True),
        *_numbers("low", "high"),
        *_texts("x_label", "y_label"),
        _choice("x_scale", Scale),
        _choice("y_scale", Scale),
    ),
    "errata": (
        *_texts("claim", needed=True),
        _choice("remark", Remark),
        *_texts("figure", "part", "where", "says", "truth", "evidence", "evidence_for_truth", "suggestion"),
    ),
    "settings": (
        *_texts("run", "setting", needed=True),
        *_texts("stated", "measured"),
        _choice("agreement", SettingAgreement, needed=True),
        *_texts("where", "source"),
    ),
}
"""The tables of a run, by name; each is a file NAME.csv."""

KEYS = {
    "claims": ("claim",),
    "measurements": ("claim", "figure"),
    "samples": ("claim", "figure", "seed"),
    "settings": ("run", "setting"),
}
"""Columns that together name one row; no two rows may share them."""

OPTIONAL_TABLES = ("samples", "decisions", "curves", "errata", "settings")
"""Tables whose file may be missing; then they have no rows."""

STATEMENTS = (
    *_texts("lesson", needed=True),
    *_texts("part", "where"),
    *_texts("statement", needed=True),
    _choice("standing", Standing, needed=True),
    *_texts("claim", "correction", "reason"),
)
"""The table statements.csv, which is made from the others and `run.json`."""

JUDGEMENTS = (
    *_texts("claim", needed=True),
    *_texts("figure", "kind"),
    _choice("state", DriftState, needed=True),
    Column("new", "flag", needed=True),
    *_texts("sentence", "since", "when", "cause"),
)
"""The table drift.csv."""

TRENDS = (
    *_texts("claim", "figure", "run", "when", needed=True),
    *_numbers("value", needed=True),
    *_numbers("low", "high", "baseline_low", "baseline_high"),
    *_texts("environment", "accepted"),
    Column("drifted", "flag"),
)
"""The table trends.csv."""

CONTROLS = (
    *_texts("claim", "breaks", needed=True),
    _choice("outcome", ControlOutcome, needed=True),
    *_texts("by", "also"),
    _SECONDS,
    *_texts("when", "key"),
)
"""The table controls.csv: what became of each control when it was tried last."""

PLATFORMS = (
    *_texts("claim", "figure", "platform", needed=True),
    *_numbers("value", needed=True),
    *_texts("machine"),
)
"""The table platforms.csv of a baseline: a figure at the page's own seed on a platform, and who imitated that one."""

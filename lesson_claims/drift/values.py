"""The rule for a single number or text: a change beyond what is allowed is drift at once, and a new level from then on.

A figure of arithmetic has a level for each fingerprint of the numerics, so that two processors that take turns are red
once, and not every other night.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import pandas as pd

from lesson_claims.drift.environment import cause
from lesson_claims.drift.judgement import Judgement
from lesson_claims.results.vocabulary import DriftState, Kind, ValueType

RELATIVE = 1e-5
"""Tolerance of a `float` figure without a printed one, as a part of its value: what float32 arithmetic leaves."""

ABSOLUTE = 1e-6
"""The least tolerance of such a figure: float32 arithmetic leaves errors of this size in numbers near one, and where
the figure is such an error, it differs from processor to processor."""


def beyond(kind: str, before: str, after: str, tolerance: float, type_: str = "") -> bool:
    """Say whether two measured texts differ by more than their kind allows; NaN tolerance means none is printed.

    `type_` is what was measured; a text or a truth is compared as it stands, and where it is unknown, what can be read
    as a number is one.
    """
    if before == after:
        return False
    if kind == Kind.EXACT or type_ in (ValueType.TEXT, ValueType.TRUTH):
        return True
    x, y = _number(before), _number(after)
    if x is None or y is None or not (math.isfinite(x) and math.isfinite(y)):
        return True
    allowed = tolerance if math.isfinite(tolerance) else max(RELATIVE * abs(x), ABSOLUTE)
    return abs(x - y) > allowed * (1 + 1e-9)


def judge_value(rows: pd.DataFrame, runs: pd.DataFrame, earlier: pd.DataFrame | None = None) -> Judgement:
    """Judge a figure by its measured values since its baseline began.

    `rows` are its rows of `History.figures` with a measured value, in order, the last one tonight's; the first is the
    baseline. `earlier` are those before the baseline, which tell the levels of numerics that the first row is not of.
    """
    tonight = rows.iloc[-1]
    kind = str(tonight["kind"])
    judgement = Judgement(tonight["claim"], tonight["figure"], kind, DriftState.REPRODUCED)
    if len(rows) == 1:
        return replace(judgement, state=DriftState.NO_BASELINE)
    start = 0
    if kind != Kind.EXACT and earlier is not None:
        start, rows = len(earlier), pd.concat([earlier, rows])
    texts = rows["measured"].tolist()
    numerics = [""] * len(rows) if kind == Kind.EXACT else rows["run"].map(runs["numerics"]).tolist()
    tolerance, type_ = float(tonight["tolerance"]), str(tonight.get("type", ""))
    levels = levels_of(texts, numerics, lambda x, y: beyond(kind, x, y, tolerance, type_), start)
    own = levels[numerics[-1]]
    if len(own.places) > 1:
        return changed(judgement, texts, rows["run"].tolist(), own.places, runs)
    # What other numerics did after these had come to where they are is open as well.
    elsewhere = [level.places for level in levels.values() if len(level.places) > 1 and level.places[-1] > own.reached]
    if elsewhere:
        judgement = changed(judgement, texts, rows["run"].tolist(), max(elsewhere, key=lambda each: each[-1]), runs)
        return replace(judgement, sentence=f"with other numerics, {judgement.sentence}")
    return judgement if texts[-1] == texts[own.places[0]] else judge_numerics(rows, runs)


@dataclass(frozen=True)
class Level:
    """Where a figure is with some numerics.

    Attributes:
        places: where its open levels began, the baseline's first.
        reached: where it came to the last of them.
    """

    places: list[int]
    reached: int


def levels_of(
    texts: Sequence[str], numerics: Sequence[str], differ: Callable[[str, str], bool], start: int = 0
) -> dict[str, Level]:
    """Follow a series of values, those of each numerics on their own.

    A value that is like one of the open levels goes back to it, so later ones are gone; else it is a new one. Numerics
    that were not there before go on where the last night was, or where others are. What was open before the place
    `start`, where the baseline begins, is not any more.
    """
    levels: dict[str, Level] = {}
    last = ""
    for place, (text, own) in enumerate(zip(texts, numerics, strict=True)):
        known = [levels[own]] if own in levels else [levels[last], *levels.values()] if levels else []
        if place == start:
            levels = {each: Level(level.places[-1:], level.reached) for each, level in levels.items()}
            known = []
        places = _places(text, [level.places for level in known], place, texts, differ)
        if own not in levels or places != levels[own].places:
            levels[own] = Level(places, place)
        last = own
    return levels


def _places(
    text: str, known: Sequence[list[int]], place: int, texts: Sequence[str], differ: Callable[[str, str], bool]
) -> list[int]:
    for places in known:
        for size in range(len(places), 0, -1):
            if not differ(texts[places[size - 1]], text):
                return places[:size]
    return [*(known[0] if known else []), place]


def changed(
    judgement: Judgement, texts: Sequence[str], at: Sequence[int], places: Sequence[int], runs: pd.DataFrame
) -> Judgement:
    """Return the judgement of what left its baseline, whose open levels began at `places`; `at` are the runs."""
    first = places[-1]
    baseline = f" (baseline {texts[places[0]]})" if texts[places[0]] != texts[places[-2]] else ""
    return replace(
        judgement, state=DriftState.DRIFTED, new=first == len(texts) - 1,
        sentence=f"{texts[places[-2]]} → {texts[first]}{baseline}",
        cause=cause(runs.loc[at[first - 1]], runs.loc[at[first]]),
    ).dated(runs.loc[at[first]])  # fmt: skip


def judge_numerics(rows: pd.DataFrame, runs: pd.DataFrame) -> Judgement:
    """Compare tonight's value bit by bit with the last run of the same numerics, or else with the last run."""
    tonight = rows.iloc[-1]
    earlier = rows.iloc[:-1]
    numerics = runs["numerics"]
    alike = earlier[(earlier["run"].map(numerics) == numerics[tonight["run"]]).to_numpy()]
    other = (alike if len(alike) else earlier).iloc[-1]
    judgement = Judgement(tonight["claim"], tonight["figure"], str(tonight["kind"]), DriftState.REPRODUCED)
    if other["measured"] == tonight["measured"]:
        return judgement
    return replace(
        judgement,
        state=DriftState.NUMERICS if len(alike) else DriftState.WITHIN,
        sentence=f"{other['measured']} → {tonight['measured']}",
        cause=cause(runs.loc[other["run"]], runs.loc[tonight["run"]]),
    ).dated(runs.loc[tonight["run"]])


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None

"""The rules for a single number or text, and for a verdict: a change beyond what is allowed is drift at once."""

import math
from dataclasses import replace

import pandas as pd

from lesson_claims.drift.environment import cause
from lesson_claims.drift.judgement import Judgement
from lesson_claims.results.vocabulary import ClaimVerdict, DriftState, Kind

RELATIVE = 1e-5
"""Tolerance of a `float` figure without a printed one, as a part of its value: what float32 arithmetic leaves."""

ABSOLUTE = 1e-6
"""The least tolerance of such a figure: float32 arithmetic leaves errors of this size in numbers near one, and where
the figure is such an error, it differs from processor to processor."""

NOISY = (Kind.TRAINED, Kind.ORDERING)
"""Kinds of claims whose verdict may be undecided on some nights because other seeds were drawn."""
CLOCK = "s"
"""The unit of figures that are never judged: seconds tell of the machine, and differ from run to run."""


def beyond(kind: str, before: str, after: str, tolerance: float) -> bool:
    """Say whether two measured texts differ by more than their kind allows; NaN tolerance means none is printed."""
    if before == after:
        return False
    x, y = _number(before), _number(after)
    if kind == Kind.EXACT or x is None or y is None or not (math.isfinite(x) and math.isfinite(y)):
        return True
    allowed = tolerance if math.isfinite(tolerance) else max(RELATIVE * abs(x), ABSOLUTE)
    return abs(x - y) > allowed * (1 + 1e-9)


def judge_value(rows: pd.DataFrame, runs: pd.DataFrame) -> Judgement:
    """Judge a figure by its measured values since its baseline began.

    `rows` are its rows of `History.figures` with a measured value, in order, the last one tonight's; the first is the
    baseline.
    """
    tonight = rows.iloc[-1]
    judgement = {"claim": tonight["claim"], "figure": tonight["figure"], "kind": str(tonight["kind"])}
    texts = rows["measured"].tolist()
    if len(rows) == 1:
        return Judgement(**judgement, state=DriftState.NO_BASELINE)
    if tonight["unit"] == CLOCK:
        return Judgement(**judgement, state=DriftState.WITHIN)
    kind, tolerance = judgement["kind"], float(tonight["tolerance"])
    if beyond(kind, texts[0], texts[-1], tolerance):
        first = len(texts) - 1
        while beyond(kind, texts[0], texts[first - 1], tolerance) and not beyond(
            kind, texts[first - 1], texts[-1], tolerance
        ):
            first -= 1
        return Judgement(
            **judgement, state=DriftState.DRIFTED, new=first == len(texts) - 1,
            sentence=f"{texts[first - 1]} → {texts[-1]}" + (
                f" (baseline {texts[0]})" if texts[first - 1] != texts[0] else ""),
            cause=cause(runs.loc[rows.iloc[first - 1]["run"]], runs.loc[rows.iloc[first]["run"]]),
        ).dated(runs.loc[rows.iloc[first]["run"]])  # fmt: skip
    if texts[-1] == texts[0]:
        return Judgement(**judgement, state=DriftState.REPRODUCED)
    return judge_numerics(rows, runs)


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


def judge_verdict(rows: pd.DataFrame, runs: pd.DataFrame) -> Judgement:
    """Judge a claim by its verdicts since its baseline began; the last row of `rows` is tonight's.

    A verdict over seeds that turns must turn on two nights running: its decider may err once. A run of fewer seeds than
    those before it may leave any claim undecided.
    """
    tonight = rows.iloc[-1]
    kind, verdict = str(tonight["kind"]), str(tonight["verdict"])
    judgement = {"claim": tonight["claim"], "figure": "", "kind": kind}
    fewer = runs.loc[tonight["run"], "seeds"] < runs.loc[rows["run"], "seeds"].max()
    undecided = [ClaimVerdict.NOT_RUN, *([ClaimVerdict.INCONCLUSIVE] if kind in NOISY or fewer else [])]
    decided = rows[~rows["verdict"].isin(undecided)]
    verdicts = decided["verdict"].astype(str).tolist()
    if verdict == ClaimVerdict.NOT_RUN:
        return Judgement(**judgement, state=DriftState.NOT_MEASURED)
    if not verdicts or (len(verdicts) == 1 and verdict == verdicts[0]):
        return Judgement(**judgement, state=DriftState.NO_BASELINE)
    if verdict in undecided or verdict == verdicts[0]:
        return Judgement(**judgement, state=DriftState.REPRODUCED if verdict == verdicts[0] else DriftState.WITHIN)
    first = len(verdicts) - 1
    while verdicts[first - 1] == verdict:
        first -= 1
    needed = 2 if kind in NOISY and verdict != ClaimVerdict.ERROR else 1
    nights = len(verdicts) - first
    before, after = (runs.loc[decided.iloc[place]["run"]] for place in (first - 1, first))
    return Judgement(
        **judgement, state=DriftState.DRIFTED if nights >= needed else DriftState.WITHIN, new=nights == needed,
        sentence=f"verdict {verdicts[first - 1]} → {verdict}" + ("" if nights >= needed else ", red if it lasts"),
        cause=cause(before, after),
    ).dated(after)  # fmt: skip


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None

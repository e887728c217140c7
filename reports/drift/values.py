"""The rule for a single number or text, and for a verdict: any real change is drift, at once."""

import math

import pandas as pd

from reports.drift.environment import cause
from reports.drift.finding import Finding, State

RELATIVE = 1e-5
"""Tolerance of a `float` figure without a printed one, as a part of its value: what float32 arithmetic leaves."""

NOISY = ("trained", "ordering")
"""Kinds of claims whose verdict may be undecided on some nights because other seeds were drawn."""


def beyond(kind: str, before: str, after: str, tolerance: float) -> bool:
    """Say whether two measured texts differ by more than their kind allows; NaN tolerance means none is printed."""
    if before == after:
        return False
    x, y = _number(before), _number(after)
    if kind == "exact" or x is None or y is None or not (math.isfinite(x) and math.isfinite(y)):
        return True
    allowed = tolerance if math.isfinite(tolerance) else RELATIVE * abs(x)
    return abs(x - y) > allowed * (1 + 1e-9)


def judge_value(rows: pd.DataFrame, runs: pd.DataFrame) -> Finding:
    """Judge a figure by its measured values since its baseline began.

    `rows` are its rows of `History.figures` with a measured value, in order, the last one tonight's; the first is the
    baseline.
    """
    tonight = rows.iloc[-1]
    finding = {"claim": tonight["claim"], "figure": tonight["figure"], "kind": str(tonight["kind"])}
    texts = rows["measured"].tolist()
    if len(rows) == 1:
        return Finding(**finding, state=State.NO_BASELINE)
    kind, tolerance = finding["kind"], float(tonight["tolerance"])
    if beyond(kind, texts[0], texts[-1], tolerance):
        first = len(texts) - 1
        while beyond(kind, texts[0], texts[first - 1], tolerance) and not beyond(
            kind, texts[first - 1], texts[-1], tolerance
        ):
            first -= 1
        return Finding(
            **finding, state=State.DRIFTED, new=first == len(texts) - 1,
            sentence=f"{texts[first - 1]} → {texts[-1]}" + (
                f" (baseline {texts[0]})" if texts[first - 1] != texts[0] else ""),
            since=runs.loc[rows.iloc[first]["run"], "name"],
            cause=cause(runs.loc[rows.iloc[first - 1]["run"]], runs.loc[rows.iloc[first]["run"]]),
        )  # fmt: skip
    if texts[-1] == texts[0]:
        return Finding(**finding, state=State.REPRODUCED)
    return judge_numerics(rows, runs)


def judge_numerics(rows: pd.DataFrame, runs: pd.DataFrame) -> Finding:
    """Compare tonight's value bit by bit with the last run of the same numerics, or else with the last run."""
    tonight = rows.iloc[-1]
    earlier = rows.iloc[:-1]
    numerics = runs["numerics"]
    alike = earlier[(earlier["run"].map(numerics) == numerics[tonight["run"]]).to_numpy()]
    other = (alike if len(alike) else earlier).iloc[-1]
    state, sentence, why = State.REPRODUCED, "", ""
    if other["measured"] != tonight["measured"]:
        state = State.NUMERICS if len(alike) else State.WITHIN
        sentence = f"{other['measured']} → {tonight['measured']}"
        why = cause(runs.loc[other["run"]], runs.loc[tonight["run"]])
    return Finding(
        tonight["claim"], tonight["figure"], str(tonight["kind"]), state, sentence=sentence,
        since=runs.loc[tonight["run"], "name"] if sentence else "", cause=why,
    )  # fmt: skip


def judge_verdict(rows: pd.DataFrame, runs: pd.DataFrame) -> Finding:
    """Judge a claim by its verdicts since its baseline began; the last row of `rows` is tonight's.

    A verdict over seeds that turns must turn on two nights running: its decider may err once.
    """
    tonight = rows.iloc[-1]
    kind, verdict = str(tonight["kind"]), str(tonight["verdict"])
    finding = {"claim": tonight["claim"], "figure": "", "kind": kind}
    undecided = ["not run", "inconclusive"] if kind in NOISY else ["not run"]
    decided = rows[~rows["verdict"].isin(undecided)]
    verdicts = decided["verdict"].astype(str).tolist()
    if verdict == "not run":
        return Finding(**finding, state=State.NOT_MEASURED)
    if not verdicts or (len(verdicts) == 1 and verdict == verdicts[0]):
        return Finding(**finding, state=State.NO_BASELINE)
    if verdict in undecided or verdict == verdicts[0]:
        return Finding(**finding, state=State.REPRODUCED if verdict == verdicts[0] else State.WITHIN)
    first = len(verdicts) - 1
    while verdicts[first - 1] == verdict:
        first -= 1
    needed = 2 if kind in NOISY and verdict != "error" else 1
    nights = len(verdicts) - first
    before, after = (runs.loc[decided.iloc[place]["run"]] for place in (first - 1, first))
    return Finding(
        **finding, state=State.DRIFTED if nights >= needed else State.WITHIN, new=nights == needed,
        sentence=f"verdict {verdicts[first - 1]} → {verdict}" + ("" if nights >= needed else ", red if it lasts"),
        since=after["name"], cause=cause(before, after),
    )  # fmt: skip


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None

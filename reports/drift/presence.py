"""What is missing or new tonight: claims and figures that vanished or appeared, values that are NaN, lost seeds."""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from reports.drift.finding import Finding, State
from reports.history import History


def judge_presence(history: History, unmeasured: set[str]) -> Iterator[Finding]:
    """Yield a finding for every claim or figure whose presence changed; the last run of `history` is tonight's.

    `unmeasured` are the claims that tonight did not run. A run of some claims only, or an incomplete one, makes
    nothing vanish.
    """
    last = len(history.runs) - 1
    tonight, name = history.runs.loc[last], history.runs.loc[last, "name"]
    present = {run: _measured(rows) for run, rows in _last_two_whole(history)}
    now = present.pop(last)
    previous = next(iter(present.values()), None)
    if previous is None:
        return
    ever = _measured(history.figures[history.figures["run"] < last])
    for key in [key for key in ever if key not in now]:
        claim, figure = key
        new = key in previous and not tonight["partial"]
        if claim in unmeasured and figure and (claim, "") not in now and new:
            continue  # the claim's own finding says it for its figures
        sentence = (
            ("vanished: the run before had it" if figure else "not run, though the run before ran it") if new else ""
        )
        yield Finding(
            claim, figure, ever[key], State.NOT_MEASURED, new=new, sentence=sentence, since=name if new else ""
        )
    for key in [key for key in now if key not in ever]:
        yield Finding(*key, now[key], State.NO_BASELINE, sentence="appeared", since=name)


def judge_sample_size(sample: pd.DataFrame, runs: pd.DataFrame) -> tuple[str, bool]:
    """Say what is wrong with tonight's sample of a figure, if anything is, and whether that is new tonight."""
    tonight = sample["run"].iloc[-1]
    sizes = sample.assign(bad=~np.isfinite(sample["value"])).groupby("run")["bad"].agg(["size", "sum"])
    sizes.columns = pd.Index(["seeds", "bad"])
    asked = runs["seeds"].reindex(sizes.index)
    now = sizes.loc[tonight]
    before = sizes.iloc[-2] if len(sizes) > 1 else now * 0
    if now["bad"]:
        return f"{now['bad']} of {now['seeds']} seeds gave NaN or infinity", not before["bad"]
    lost = asked - sizes["seeds"]
    usual = lost.iloc[:-1].min() if len(lost) > 1 else lost.iloc[-1]
    if lost.iloc[-1] > max(usual, 0):
        return f"{now['seeds']} of {asked.iloc[-1]} seeds left", lost.iloc[-1] > lost.iloc[-2]
    return "", False


def _measured(figures: pd.DataFrame) -> dict[tuple[str, str], str]:
    """Return the claims that ran and the figures that were measured, with their kinds."""
    there = figures[((figures["figure"] == "") & (figures["verdict"] != "not run"))
                    | ((figures["figure"] != "") & (figures["measured"] != ""))]  # fmt: skip
    there = there.drop_duplicates(["claim", "figure"], keep="last")
    return {(c, f): k for c, f, k in zip(there["claim"], there["figure"], there["kind"].astype(str), strict=True)}


def _last_two_whole(history: History) -> Iterator[tuple[int, pd.DataFrame]]:
    """Yield tonight's run and the last run before it that was not of some claims only."""
    last = len(history.runs) - 1
    whole = [run for run in range(last) if not history.runs.loc[run, "partial"]]
    for run in [last, *whole[-1:]]:
        yield run, history.figures[history.figures["run"] == run]

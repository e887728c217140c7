"""Trends: each figure's series over the last runs, its baseline band, and what changed on the way."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pandas as pd

from lesson_claims.drift.environment import changes
from lesson_claims.drift.judgement import Judgement
from lesson_claims.results.acceptance import Acceptance, Key
from lesson_claims.results.columns import TRENDS
from lesson_claims.results.history import History
from lesson_claims.results.numbers import share_of_range
from lesson_claims.results.vocabulary import OPEN

RUNS = 90
"""How many of the last runs a trend shows."""

BAND = 2.576
"""A night's mean lies within so many standard errors of its baseline 99 nights out of 100, where it is normal."""

COLUMNS = [column.name for column in TRENDS]
BARS = "▁▂▃▄▅▆▇█"


def trends(
    history: History,
    starts: dict[Key, int],
    judgements: Sequence[Judgement] = (),
    acceptances: Sequence[Acceptance] = (),
    *,
    still: bool = False,
) -> pd.DataFrame:
    """Return the figures that moved in the last runs as a table of `COLUMNS`, one row per figure and run.

    `value` is the mean over seeds, or the single number; `low` and `high` are the least and the largest of the seeds.
    The band holds 99 of 100 nights while nothing changes; for a single number it is the printed tolerance around the
    baseline; it is missing for runs before the baseline. `when` is ISO 8601 UTC. `environment` says what changed since
    the run before, `accepted` why the run was accepted as the figure's baseline, and `drifted` that the figure changed
    in this run; texts are empty where there is nothing to say.
    With `still`, figures that never moved are there as well.
    """
    series = _series(history)
    recent = series["value"].where(series["run"] >= len(history.runs) - RUNS)
    different = recent.groupby([series["claim"], series["figure"]], observed=True).transform("nunique")
    kept = series[different > (0 if still else 1)]
    environment = _environment_changes(history.runs)
    since = {(each.claim, each.figure): each.since for each in judgements if each.state in OPEN}
    names = history.runs["name"].tolist()
    order = {name: i for i, name in enumerate(names)}
    parts = []
    for key, rows in kept.groupby(["claim", "figure"], observed=True, sort=False):
        start = starts.get((str(key[0]), str(key[1])), 0)
        changed = order.get(since.get(key, ""), len(names))
        low, high = _band(rows[(rows["run"] >= start) & (rows["run"] < changed)])
        shown = rows[rows["run"] >= len(history.runs) - RUNS]
        based = shown["run"] >= start
        shown = shown.assign(baseline_low=np.where(based, low, np.nan), baseline_high=np.where(based, high, np.nan))
        accepted: dict[str, list[str]] = {}
        for acceptance in acceptances:
            if acceptance.covers(str(key[0]), str(key[1])):
                accepted.setdefault(acceptance.run, []).append(acceptance.reason)
        shown["environment"] = ["; ".join(environment[run]) for run in shown["run"]]
        shown["accepted"] = ["; ".join(accepted.get(names[run], [])) for run in shown["run"]]
        shown["drifted"] = shown["run"] == changed
        parts.append(shown)
    if not parts:
        return pd.DataFrame(columns=COLUMNS)
    table = pd.concat(parts, ignore_index=True)
    table["when"] = table["run"].map(history.runs["started"].map(lambda t: t.isoformat(timespec="seconds")))
    table["run"] = table["run"].map(history.runs["name"])
    return table[COLUMNS].astype({"claim": str, "figure": str})


def _series(history: History) -> pd.DataFrame:
    """Return claim, figure, run, value, low, high, and, for the band, tolerance, deviation and count."""
    keys = ["claim", "figure", "run"]
    finite = history.samples[np.isfinite(history.samples["value"])]
    sampled = finite.groupby(keys, observed=True, sort=False)["value"].agg(["mean", "min", "max", "std", "size"])
    sampled = sampled.reset_index().rename(
        columns={"mean": "value", "min": "low", "max": "high", "std": "deviation", "size": "count"}
    )
    figures = history.figures[(history.figures["figure"] != "") & (history.figures["measured"] != "")]
    value = pd.to_numeric(figures["measured"], errors="coerce")
    single = figures.assign(value=value, low=value, high=value, deviation=np.nan, count=1)
    columns = [*keys, "value", "low", "high", "tolerance", "deviation", "count"]
    sampled_keys = sampled.set_index(["claim", "figure"]).index
    single = single[np.isfinite(value) & ~single.set_index(["claim", "figure"]).index.isin(sampled_keys)]
    # Categories that both share, in order, so that the rows are sorted by name without a text for each.
    names = {}
    for key in ("claim", "figure"):
        known = [part[key].cat.categories.astype(str) for part in (sampled, single)]
        names[key] = pd.CategoricalDtype(np.union1d(*known), ordered=True)
    both = pd.concat([part[columns].astype(names) for part in (sampled.assign(tolerance=np.nan), single)])
    return both.sort_values(keys, kind="stable")


def _band(rows: pd.DataFrame) -> tuple[float, float]:
    if rows.empty:
        return np.nan, np.nan
    if rows["deviation"].notna().any():
        mean = float(np.average(rows["value"], weights=rows["count"]))
        deviation = float(np.sqrt((rows["deviation"] ** 2).mean()))
        reach = BAND * deviation / np.sqrt(rows["count"].iloc[-1])
        return mean - reach, mean + reach
    first = float(rows["value"].iloc[0])
    tolerance = rows["tolerance"].iloc[-1]
    reach = float(tolerance) if np.isfinite(tolerance) else 0.0
    return first - reach, first + reach


def _environment_changes(runs: pd.DataFrame) -> list[list[str]]:
    """Return, for each run, what differs from the run before it."""
    environments = runs["environment"].tolist()
    return [[], *(changes(before, after) for before, after in pairwise(environments))]


def sparkline(values: Sequence[float]) -> str:
    """Draw values as a row of bars, lowest to highest."""
    low, high = min(values), max(values)
    return "".join(BARS[round(share_of_range(value, low, high) * (len(BARS) - 1))] for value in values)

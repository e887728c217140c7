"""Trends: each figure's series over the last runs, its baseline band, and what changed on the way."""

import argparse
import sys
from collections.abc import Sequence
from difflib import get_close_matches
from fnmatch import fnmatchcase
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd

from reports.accept import Decision, baseline_starts, read_decisions
from reports.aliases import read_aliases
from reports.comparison import TRENDS
from reports.drift.environment import changes
from reports.drift.finding import Finding
from reports.errors import ReportError
from reports.history import History, device_kinds, load
from reports.numbers import share_of_range

RUNS = 90
"""How many of the last runs a trend shows."""

BAND = 2.576
"""A night's mean lies within so many standard errors of its baseline 99 nights out of 100, where it is normal."""

COLUMNS = [column.name for column in TRENDS]
BARS = "▁▂▃▄▅▆▇█"


def trends(
    history: History,
    starts: dict[str, int],
    findings: Sequence[Finding] = (),
    decisions: Sequence[Decision] = (),
    *,
    still: bool = False,
) -> pd.DataFrame:
    """Return the figures that moved in the last runs as a table of `COLUMNS`, one row per figure and run.

    `value` is the mean over seeds, or the single number; `low` and `high` are the least and the largest of the seeds.
    The band holds 99 of 100 nights while nothing changes; for a single number it is the printed tolerance around the
    baseline; it is missing for runs before the baseline. `when` is ISO 8601 UTC. `note` names environment changes,
    acceptances that cover the claim, and drift, in this order, separated by "; ".
    With `still`, figures that never moved are there as well.
    """
    series = _series(history)
    recent = series["value"].where(series["run"] >= len(history.runs) - RUNS)
    different = recent.groupby([series["claim"], series["figure"]], observed=True).transform("nunique")
    kept = series[different > (0 if still else 1)]
    environment = _environment_notes(history.runs)
    since = {(f.claim, f.figure): f.since for f in findings if f.state == "drifted"}
    names = history.runs["name"].tolist()
    order = {name: i for i, name in enumerate(names)}
    parts = []
    for key, rows in kept.groupby(["claim", "figure"], observed=True, sort=False):
        start = starts.get(str(key[0]), 0)
        changed = order.get(since.get(key, ""), len(names))
        low, high = _band(rows[(rows["run"] >= start) & (rows["run"] < changed)])
        shown = rows[rows["run"] >= len(history.runs) - RUNS]
        based = shown["run"] >= start
        shown = shown.assign(baseline_low=np.where(based, low, np.nan), baseline_high=np.where(based, high, np.nan))
        accepted: dict[str, list[str]] = {}
        for decision in decisions:
            if decision.covers(str(key[0])):
                accepted.setdefault(decision.run, []).append(f"accepted: {decision.reason}")
        shown["note"] = [
            "; ".join([*environment[run], *accepted.get(names[run], []), *(["drifted"] if run == changed else [])])
            for run in shown["run"]
        ]
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


def _environment_notes(runs: pd.DataFrame) -> list[list[str]]:
    """Return what differs from the run before it, for each run."""
    environments = runs["environment"].tolist()
    return [[], *(changes(before, after) for before, after in pairwise(environments))]


def sparkline(values: Sequence[float]) -> str:
    """Draw values as a row of bars, lowest to highest."""
    low, high = min(values), max(values)
    return "".join(BARS[round(share_of_range(value, low, high) * (len(BARS) - 1))] for value in values)


def add_parser(subparsers: Any) -> None:
    """Describe `trend` to the command line."""
    parser = subparsers.add_parser(
        "trend",
        help="show a figure over the runs of a history",
        description="Show a figure over the last runs of a history, with its baseline band and what changed.",
        epilog="example: python -m reports trend --history history 'week07.day3.pooling/*'",
    )
    parser.add_argument("--history", metavar="DIR", required=True, help="the history: a folder or an fsspec URL")
    parser.add_argument("--aliases", metavar="FILE", help="renamed claims (default: aliases.toml of the history)")
    parser.add_argument("figure", metavar="FIGURE", help="CLAIM/FIGURE, or a pattern of it")


def run(args: argparse.Namespace) -> int:
    """Print the figures that match, and return 0."""
    kinds = device_kinds(args.history)
    if not kinds:
        raise ReportError(f"{args.history}: no runs there; pytest --history {args.history} keeps the first")
    names: set[str] = set()
    found = False
    for kind in kinds:
        history = read_aliases(args.history, args.aliases).apply(load(args.history, kind))
        for problem in history.problems:
            print(problem, file=sys.stderr)
        decisions, _ = read_decisions(args.history, kind)
        claims = [str(claim) for claim in history.figures["claim"].unique()]
        table = trends(history, baseline_starts(decisions, history.runs, claims), decisions=decisions, still=True)
        for (claim, figure), rows in table.groupby(["claim", "figure"], sort=False):
            name = f"{claim}/{figure}"
            names.add(name)
            if name == args.figure or fnmatchcase(name, args.figure):
                found = True
                _show(name, kind, rows)
    if not found:
        near = "; did you mean ".join(["", *get_close_matches(args.figure, sorted(names), 1, 0.3)])
        raise ReportError(f"{args.figure}: no figure of the history bears that name{near}")
    return 0


def _show(name: str, kind: str, rows: pd.DataFrame) -> None:
    last = rows.iloc[-1]
    print(f"{name} on {kind}: {sparkline(rows['value'].tolist())}")
    print(f"  baseline {last['baseline_low']:.6g} to {last['baseline_high']:.6g}")
    for row in rows.to_dict("records"):
        spread = "" if row["low"] == row["high"] else f"  {row['low']:.6g} to {row['high']:.6g}"
        print(f"  {row['when']}  {row['value']:.6g}{spread}  {row['note']}".rstrip())

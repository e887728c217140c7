"""The subcommand `trend`: a figure over the runs of a history."""

import argparse
import sys
from difflib import get_close_matches
from fnmatch import fnmatchcase
from typing import Any

import pandas as pd

from lesson_claims.drift.past import read_past
from lesson_claims.drift.trend import sparkline, trends
from lesson_claims.results.baseline import BASELINE
from lesson_claims.results.drift_tables import changes_in_words
from lesson_claims.results.errors import ReportError
from lesson_claims.results.history import device_kinds


def add_parser(subparsers: Any) -> None:
    """Describe `trend` to the command line."""
    parser = subparsers.add_parser(
        "trend",
        help="show a figure over the runs of a history",
        description="Show a figure over the last runs of a history, with its baseline band and what changed.",
        epilog="example: lesson-claims trend --history history 'page.loss/*'",
    )
    parser.add_argument(
        "--history", metavar="DIR", default=BASELINE,
        help=f"a folder or an fsspec URL with a history, or a baseline (default: {BASELINE})",
    )  # fmt: skip
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
        past = read_past(args.history, kind, aliases=args.aliases)
        for problem in [*past.history.problems, *past.problems]:
            print(problem, file=sys.stderr)
        table = trends(past.history, past.starts, acceptances=past.acceptances, still=True)
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
        changes = changes_in_words(row["environment"], row["accepted"], row["drifted"])
        spread = "" if row["low"] == row["high"] else f"  {row['low']:.6g} to {row['high']:.6g}"
        print(f"  {row['when']}  {row['value']:.6g}{spread}  {changes}".rstrip())

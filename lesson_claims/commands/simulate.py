"""The subcommand `simulate`: false alarms and delays of the drift test, over years of made-up nights."""

import argparse
from pathlib import Path
from typing import Any

import numpy as np

from lesson_claims.drift.populations import from_run, shapes
from lesson_claims.drift.simulate import (
    SHARES,
    delay_table,
    delays_text,
    false_alarms,
    false_turns,
    precise_table,
    precise_text,
    quiet_text,
    turn_table,
    turns_text,
)
from lesson_claims.results.errors import ReportError
from lesson_claims.results.files import write_files
from lesson_claims.results.tables import read_run


def add_parser(subparsers: Any) -> None:
    """Describe `simulate` to the command line."""
    parser = subparsers.add_parser(
        "simulate",
        help="measure the drift test's false alarms and delays",
        description="Replay years of synthetic nights made from the seed distributions of a run, and print how often"
        " drift alarms while nothing changes, and how soon it finds a change.",
        epilog="example: lesson-claims simulate --run reports/latest --years 10 --markdown drift-test.md",
    )
    parser.add_argument("--run", dest="run_dir", metavar="RUN", help="a run with at least 10 seeds (default: shapes)")
    parser.add_argument("--seeds", type=int, default=20, metavar="N", help="new seeds a night (default: 20)")
    parser.add_argument("--years", type=int, default=5, metavar="N", help="years without a change (default: 5)")
    parser.add_argument("--replications", type=int, default=20, metavar="N", help="plantings of each (default: 20)")
    parser.add_argument("--claims", type=int, default=60, metavar="N", help="claims decided over seeds (default: 60)")
    parser.add_argument("--legs", type=int, default=1, metavar="N", help="legs of the nightly workflow (default: 1)")
    parser.add_argument("--random-seed", type=int, default=0, metavar="S", help="of the simulation (default: 0)")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="also write the tables there")


def run(args: argparse.Namespace) -> int:
    """Simulate, print the tables, and return 0."""
    for name in ("seeds", "years", "replications", "claims", "legs"):
        if getattr(args, name) < 1:
            raise ReportError(f"--{name} {getattr(args, name)}: must be at least 1")
    populations = from_run(read_run(args.run_dir)) if args.run_dir else shapes()
    rng = np.random.default_rng(args.random_seed)
    seeds, replications, claims, legs = args.seeds, args.replications, args.claims, args.legs
    parts = [
        quiet_text(false_alarms(rng, populations, seeds, args.years), len(populations), seeds, legs),
        delays_text(delay_table(rng, populations, seeds, replications)),
        precise_text(precise_table(rng, populations, seeds, 10 * replications)),
        turns_text(false_turns(rng, SHARES, seeds, 10 * args.years, claims), SHARES, 10 * args.years, claims, legs),
        delays_text(turn_table(rng, seeds, 10 * replications, claims)),
    ]
    text = "\n".join(parts)
    if args.markdown:
        write_files(args.markdown.parent, {args.markdown.name: text})
    print(text, end="")
    return 0

"""The subcommand `simulate`: false alarms and delays of the drift test, over years of made-up nights."""

import argparse
from pathlib import Path
from typing import Any

import numpy as np

from lesson_claims.drift.populations import from_run, shapes
from lesson_claims.drift.simulate import delay_table, false_alarms, report
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
    parser.add_argument("--random-seed", type=int, default=0, metavar="S", help="of the simulation (default: 0)")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="also write the tables there")


def run(args: argparse.Namespace) -> int:
    """Simulate, print the tables, and return 0."""
    for name in ("seeds", "years", "replications"):
        if getattr(args, name) < 1:
            raise ReportError(f"--{name} {getattr(args, name)}: must be at least 1")
    populations = from_run(read_run(args.run_dir)) if args.run_dir else shapes()
    rng = np.random.default_rng(args.random_seed)
    counts = false_alarms(rng, populations, args.seeds, args.years)
    table = delay_table(rng, populations, args.seeds, args.replications)
    text = report(counts, table, len(populations), args.seeds)
    if args.markdown:
        write_files(args.markdown.parent, {args.markdown.name: text})
    print(text, end="")
    return 0

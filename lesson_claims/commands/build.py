"""The subcommand `build`: the pages of a run again, from its tables."""

import argparse
import sys
from pathlib import Path
from typing import Any

from lesson_claims.report.build import build
from lesson_claims.results.columns import OPTIONAL_TABLES


def add_parser(subparsers: Any) -> None:
    """Describe `build` to the command line."""
    subparsers.add_parser(
        "build",
        help="make the pages of a run again from its tables",
        description="Make index.html, summary.md and errata.md of a run again, byte for byte, from its tables.",
        epilog="example: lesson-claims build reports/latest",
    ).add_argument("run", metavar="RUN", help="the directory of the run")


def run(args: argparse.Namespace) -> int:
    """Build, say where the page is and what it goes without, and return 0."""
    build(args.run)
    for name in OPTIONAL_TABLES:
        if not Path(args.run, f"{name}.csv").exists():
            print(f"note: {args.run} has no {name}.csv; the pages go without it", file=sys.stderr)
    print(Path(args.run) / "index.html")
    return 0

"""The subcommand `merge`: the shards of one run, in one report."""

import argparse
from pathlib import Path
from typing import Any

from lesson_claims.report.build import write_report
from lesson_claims.report.merge import merge
from lesson_claims.results.tables import read_run


def add_parser(subparsers: Any) -> None:
    """Describe `merge` to the command line."""
    parser = subparsers.add_parser(
        "merge",
        help="put the shards of one run together",
        description="Put the shards of one run together into one report. They must share commit, seeds and arithmetic.",
        epilog="example: lesson-claims merge shard-1 shard-2 --output reports/latest",
    )
    parser.add_argument("runs", metavar="RUN", nargs="+", help="the directory of a shard")
    parser.add_argument("--output", metavar="DIR", required=True, help="the directory of the merged run")


def run(args: argparse.Namespace) -> int:
    """Merge, say where the page is, and return 0."""
    write_report(merge([(name, read_run(name)) for name in args.runs]), args.output)
    print(Path(args.output) / "index.html")
    return 0

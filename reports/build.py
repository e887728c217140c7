"""The pages of a run, made from its tables, and what it was compared with, alone: the same give the same bytes."""

import argparse
import sys
from pathlib import Path
from typing import Any

from reports.tables import OPTIONAL_TABLES, read_run, write_files


def build(path: str | Path) -> None:
    """Write index.html, summary.md and errata.md of the run in directory `path`.

    Raises ReportError where the tables cannot be read or the pages cannot be written.
    """
    # other subcommands need not wait for the plotting library
    from reports.comparison import read_comparison
    from reports.errata import errata
    from reports.html import html
    from reports.summary import summary

    run = read_run(path)
    comparison = read_comparison(path, run)
    pages = {"errata.md": errata(run), "summary.md": summary(run, comparison), "index.html": html(run, comparison)}
    write_files(Path(path), pages)


def add_parser(subparsers: Any) -> None:
    """Describe `build` to the command line."""
    subparsers.add_parser(
        "build",
        help="make the pages of a run again from its tables",
        description="Make index.html, summary.md and errata.md of a run again, byte for byte, from its tables.",
        epilog="example: python -m reports build reports/latest",
    ).add_argument("run", metavar="RUN", help="the directory of the run")


def run(args: argparse.Namespace) -> int:
    """Build, say where the page is and what it goes without, and return 0."""
    build(args.run)
    for name in OPTIONAL_TABLES:
        if not Path(args.run, f"{name}.csv").exists():
            print(f"note: {args.run} has no {name}.csv; the pages go without it", file=sys.stderr)
    print(Path(args.run) / "index.html")
    return 0

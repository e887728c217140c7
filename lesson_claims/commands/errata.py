"""The subcommand `errata`: what to change on the page, in the terminal."""

import argparse
from typing import Any

from lesson_claims.report.errata import errata
from lesson_claims.results.tables import read_run


def add_parser(subparsers: Any) -> None:
    """Describe `errata` to the command line."""
    subparsers.add_parser(
        "errata",
        help="print what to change on the page, and what to add",
        description="Print the errata and additions of a run as Markdown: what the page says, what is so or could be"
        " added, the evidence, and what the page could say.",
        epilog="example: lesson-claims errata reports/latest > errata.md",
    ).add_argument("run", metavar="RUN", nargs="?", default="reports/latest", help="default: reports/latest")


def run(args: argparse.Namespace) -> int:
    """Print the errata, and return 0."""
    print(errata(read_run(args.run)), end="")
    return 0

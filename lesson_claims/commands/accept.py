"""The subcommand `accept`: runs become the baseline."""

import argparse
from typing import Any

from lesson_claims.results.acceptance import accept
from lesson_claims.results.baseline import BASELINE


def add_parser(subparsers: Any) -> None:
    """Describe `accept` to the command line."""
    parser = subparsers.add_parser(
        "accept",
        help="make a run the baseline",
        description="Make runs the baseline of drift, for all claims or some, and keep the reason. In a history, runs"
        " before the first of them no longer count. In the baseline that goes with the code, they replace what other"
        " runs say of these claims; commit the change.",
        epilog="example: lesson-claims accept night-1 night-2 --reason 'new Adam in torch 2.14' --claim 'loss.*'",
    )
    parser.add_argument(
        "--history", metavar="DIR", default=BASELINE, help=f"a history, or a baseline (default: {BASELINE})"
    )
    parser.add_argument("--reason", metavar="TEXT", required=True, help="why the new numbers are right")
    parser.add_argument("--claim", metavar="PATTERN", nargs="+", default=["*"], help="only claims whose id matches")
    parser.add_argument(
        "--platforms", action="store_true", help="accept the platform spread of the runs, and nothing else of them"
    )
    parser.add_argument("run", metavar="RUN", nargs="+", help="the report directory of a run")


def run(args: argparse.Namespace) -> int:
    """Accept, say what was accepted, and return 0."""
    acceptance = accept(args.history, args.run, args.reason, args.claim, platforms=args.platforms)
    more = f" (and {len(args.run) - 1} more)" if len(args.run) > 1 else ""
    what = "platform spread" if args.platforms else "baseline"
    print(f"{acceptance.run}{more} is the {what} of {', '.join(acceptance.claims)}: {acceptance.reason}")
    return 0

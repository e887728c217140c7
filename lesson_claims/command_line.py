"""The command line `lesson-claims`: each subcommand lives in its own module of `lesson_claims.commands`.

Such a module offers `add_parser(subparsers)`, which describes the subcommand, and `run(args)`, which returns the
exit status.
"""

import argparse
import sys
from collections.abc import Sequence
from importlib import import_module

from lesson_claims.results.errors import ReportError

COMMANDS = ("accept", "build", "controls", "diff", "drift", "errata", "merge", "night", "simulate", "trend", "where")
BAD_INPUT = 2


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one subcommand and return its exit status; 2 is bad usage or nothing readable."""
    arguments = sys.argv[1:] if arguments is None else arguments
    # Some import what takes seconds, which the others need not wait for.
    needed = arguments[:1] if arguments and arguments[0] in COMMANDS else COMMANDS
    parser = argparse.ArgumentParser(
        prog="lesson-claims",
        description="What was measured about a page's claims: reports, histories, drift.",
        epilog="example: lesson-claims drift",
    )
    subparsers = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    modules = {name: import_module(f"lesson_claims.commands.{name}") for name in needed}
    for module in modules.values():
        module.add_parser(subparsers)
    args = parser.parse_args(arguments)
    try:
        status: int = modules[args.command].run(args)
    except ReportError as error:
        print(f"error: {error}", file=sys.stderr)
        return BAD_INPUT
    except OSError as error:  # the network, a disk: no bug, and no drift either
        print(f"error: {error.filename or 'the system'}: {error.strerror or error}", file=sys.stderr)
        return BAD_INPUT
    return status

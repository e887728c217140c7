"""The command line, `python -m reports`: each subcommand lives in its own module.

Such a module offers `add_parser(subparsers)`, which describes the subcommand, and `run(args)`, which returns the
exit status.
"""

import argparse
import sys
from collections.abc import Sequence
from importlib import import_module

from reports.errors import ReportError

COMMANDS = {
    "accept": "reports.accept",
    "build": "reports.build",
    "drift": "reports.drift.command",
    "merge": "reports.merge",
    "simulate": "reports.simulate",
    "trend": "reports.trend",
}
BAD_INPUT = 2


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one subcommand and return its exit status; 2 is bad usage or nothing readable."""
    arguments = sys.argv[1:] if arguments is None else arguments
    # Some import what takes seconds, which the others need not wait for.
    needed = arguments[:1] if arguments and arguments[0] in COMMANDS else COMMANDS
    parser = argparse.ArgumentParser(prog="python -m reports", description="Reports of what was measured.")
    subparsers = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    modules = {name: import_module(COMMANDS[name]) for name in needed}
    for module in modules.values():
        module.add_parser(subparsers)
    args = parser.parse_args(arguments)
    try:
        status: int = modules[args.command].run(args)
    except ReportError as error:
        print(f"error: {error}", file=sys.stderr)
        return BAD_INPUT
    return status


if __name__ == "__main__":
    sys.exit(main())

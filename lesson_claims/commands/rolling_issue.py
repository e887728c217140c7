"""The one issue of the nightly job: opened by drift, kept up to date while it lasts, closed when it is gone.

A change lasts until it is accepted or comes back; a night that did not measure what it should closes nothing.

Needs nothing but Python and the `gh` command, so the job that may write issues installs nothing.
"""

import argparse
import csv
import json
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

LABEL = "nightly-drift"
TITLE = "Nightly: numbers of the lessons moved"
LIMIT = 60_000
"""Characters of an issue's body that are used; the service allows 65,536."""

OPEN = ("drifted", "vanished", "seeds lost")
"""States, in drift.csv, of what nobody has accepted yet."""

Gh = Callable[..., str]


def gh(*arguments: str, body: str | None = None) -> str:
    """Run the GitHub command line, which finds token and repository in the environment; return what it prints."""
    done = subprocess.run(["gh", *arguments], input=body, capture_output=True, text=True, check=False)  # noqa: S603, S607
    if done.returncode:
        raise OSError(f"gh {' '.join(arguments[:2])}: {done.stderr.strip()}")
    return done.stdout.strip()


class Found(NamedTuple):
    """What the legs found.

    Attributes:
        text: the issue's text.
        bad: something is open, or was not measured; the issue is to be open.
        new: something is new in the numbers.
        unknown: a leg had nothing to compare with, so nobody can say that what was open is gone.
    """

    text: str
    bad: bool
    new: bool
    unknown: bool


def found_by(results: Path, legs: Sequence[str], link: str) -> Found:
    """Return what the report folders of the legs say.

    A leg that left no comparison did not get so far, and one that did not measure or keep all that it should knows of
    no return: either keeps the issue open, but is nothing new in the numbers.
    """
    parts, bad, new, unknown = [f"Of the last night: {link}"], False, False, False
    for leg in legs:
        info, table, text = (results / leg / name for name in ("drift.json", "drift.csv", "drift.md"))
        if not (info.is_file() and table.is_file() and text.is_file()):
            parts.append(f"# {leg}\n\nNo result: the run was stopped or is broken.")
            bad = True
            continue
        content = json.loads(info.read_text(encoding="utf-8"))
        with table.open(encoding="utf-8", newline="") as lines:
            rows = list(csv.DictReader(lines))
        red = any(row["new"] == "True" for row in rows)
        first = not content["compared"]
        if red or first or content.get("failures") or any(row["state"] in OPEN for row in rows):
            parts.append(f"# {leg}\n\n{text.read_text(encoding='utf-8')}")
            bad, new, unknown = bad or red or not first or bool(content.get("failures")), new or red, unknown or first
    return Found("\n\n".join(parts)[:LIMIT], bad, new, unknown)


def update(results: Path, legs: Sequence[str], link: str, gh: Gh = gh) -> str:
    """Open, update or close the issue, and say which was done."""
    night = found_by(results, legs, link)
    issue = gh(
        "issue", "list", "--label", LABEL, "--state", "open", "--limit", "1", "--json", "number", "--jq", ".[].number"
    )
    if night.bad and not issue:
        gh("label", "create", LABEL, "--force", "--description", "Kept by the nightly job")
        return "opened " + gh(
            "issue", "create", "--title", TITLE, "--label", LABEL, "--body-file", "-", body=night.text
        )
    if issue and (night.bad or night.unknown):
        gh("issue", "edit", issue, "--body-file", "-", body=night.text)
        if night.new:
            gh("issue", "comment", issue, "--body", f"New tonight: {link}")
        return f"updated {issue}"
    if issue:
        gh("issue", "close", issue, "--comment", f"Quiet again: {link}")
        return f"closed {issue}"
    return "quiet, and no issue is open"


def main(arguments: Sequence[str] | None = None) -> int:
    """Update the issue; 2 where that is impossible."""
    parser = argparse.ArgumentParser(
        prog="python -m lesson_claims.commands.rolling_issue",
        description=(__doc__ or "").splitlines()[0],
        epilog="example: python -m lesson_claims.commands.rolling_issue --results results --link URL leg-1 leg-2",
    )
    parser.add_argument("--results", type=Path, required=True, metavar="DIR", help="a report folder per leg")
    parser.add_argument("--link", required=True, metavar="URL", help="where the night's log is")
    parser.add_argument("legs", nargs="+", metavar="LEG", help="the legs that should have a result")
    args = parser.parse_args(arguments)
    try:
        print(update(args.results, args.legs, args.link))
    except (OSError, ValueError, KeyError, AttributeError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""The one issue of the nightly job: opened by drift, kept up to date while it lasts, closed when it is gone.

Needs nothing but Python and the `gh` command, so the job that may write issues installs nothing.
"""

import argparse
import csv
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

LABEL = "nightly-drift"
TITLE = "Nightly: numbers of the lessons moved"
LIMIT = 60_000
"""Characters of an issue's body that are used; the service allows 65,536."""

Gh = Callable[..., str]


def gh(*arguments: str, body: str | None = None) -> str:
    """Run the GitHub command line, which finds token and repository in the environment; return what it prints."""
    done = subprocess.run(["gh", *arguments], input=body, capture_output=True, text=True, check=False)  # noqa: S603, S607
    if done.returncode:
        raise OSError(f"gh {' '.join(arguments[:2])}: {done.stderr.strip()}")
    return done.stdout.strip()


def body_of(results: Path, legs: Sequence[str], link: str) -> tuple[str, bool, bool]:
    """Return the issue's text from the report folders of the legs, whether there is drift, and whether any is new.

    A leg that left no drift.csv did not get so far; that keeps the issue open, but is nothing new in the numbers.
    """
    parts, bad, new = [f"Of the last night: {link}"], False, False
    for leg in legs:
        table, text = results / leg / "drift.csv", results / leg / "drift.md"
        if not (table.is_file() and text.is_file()):
            parts.append(f"# {leg}\n\nNo result: the run was stopped or is broken.")
            bad = True
            continue
        with table.open(encoding="utf-8", newline="") as lines:
            rows = list(csv.DictReader(lines))
        red = any(row["new"] == "True" for row in rows)
        if red or any(row["state"] == "drifted" for row in rows):
            parts.append(f"# {leg}\n\n{text.read_text(encoding='utf-8')}")
            bad, new = True, new or red
    return "\n\n".join(parts)[:LIMIT], bad, new


def update(results: Path, legs: Sequence[str], link: str, gh: Gh = gh) -> str:
    """Open, update or close the issue, and say which was done."""
    body, bad, new = body_of(results, legs, link)
    found = gh(
        "issue", "list", "--label", LABEL, "--state", "open", "--limit", "1", "--json", "number", "--jq", ".[].number"
    )
    if bad and not found:
        gh("label", "create", LABEL, "--force", "--description", "Kept by the nightly job")
        return "opened " + gh("issue", "create", "--title", TITLE, "--label", LABEL, "--body-file", "-", body=body)
    if bad:
        gh("issue", "edit", found, "--body-file", "-", body=body)
        if new:
            gh("issue", "comment", found, "--body", f"New tonight: {link}")
        return f"updated {found}"
    if found:
        gh("issue", "close", found, "--comment", f"Quiet again: {link}")
        return f"closed {found}"
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
    except (OSError, ValueError, KeyError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())

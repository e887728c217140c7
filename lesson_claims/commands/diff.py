"""The subcommand `diff`: how the baseline changed since a git revision, in words."""

import argparse
import subprocess
import tempfile
from pathlib import Path, PurePosixPath
from typing import Any

from lesson_claims.drift.revisions import Changes, compare_states
from lesson_claims.results.aliases import read_aliases
from lesson_claims.results.baseline import BASELINE, is_baseline, read_platforms
from lesson_claims.results.errors import ReportError
from lesson_claims.results.history import History, device_kinds, load
from lesson_claims.results.numbers import count

SECTIONS = (
    ("Another verdict", "verdicts"),
    ("Added", "added"),
    ("Gone", "gone"),
    ("Moved", "moved"),
    ("Within noise", "within_noise"),
    ("Another platform spread", "platforms"),
)
"""Titles of the parts of the answer, and the fields of `Changes` that they show."""


def add_parser(subparsers: Any) -> None:
    """Describe `diff` to the command line."""
    parser = subparsers.add_parser(
        "diff",
        help="say how the baseline changed since a git revision",
        description="Compare the baseline at a git revision with the one of the working tree: claims and figures that"
        " were added or are gone, that moved, or that changed within noise. Exit status: 0 whatever changed, 2 bad"
        " usage or nothing readable.",
        epilog="example: lesson-claims diff main",
    )
    parser.add_argument("--baseline", metavar="DIR", default=BASELINE, help=f"default: {BASELINE}")
    parser.add_argument("revision", metavar="REV", help="a git revision, such as main or HEAD~1")


def run(args: argparse.Namespace) -> int:
    """Print the changes, and return 0."""
    place = Path(args.baseline)
    commit = _commit(args.revision, place)
    with tempfile.TemporaryDirectory() as folder:
        _extract(commit, place, Path(folder))
        text = _text(Path(folder), place)
    print(f"{place}, {args.revision} ({commit[:10]}) against the working tree\n{text}")
    return 0


def _text(before: Path, after: Path) -> str:
    if not is_baseline(before) and not is_baseline(after):
        raise ReportError(f"{after}: no baseline there, then or now; `lesson-claims accept` makes one")
    aliases = read_aliases(after)
    lines: list[str] = []
    for kind in sorted({*device_kinds(before), *device_kinds(after)}):
        old, new = aliases.apply(load(before, kind)), aliases.apply(load(after, kind))
        changes = compare_states(old, new, read_platforms(before, kind), read_platforms(after, kind))
        lines += ["", f"{kind}: {_runs(old)} → {_runs(new)}", *old.problems, *new.problems, _tally(changes)]
        for title, name in SECTIONS:
            found = getattr(changes, name)
            lines += ["", f"{title}", *(f"  {what}: {sentence}" for what, sentence in found)] if found else []
    return "\n".join(lines)


def _runs(history: History) -> str:
    runs = len(history.runs)
    return f"{count(runs, 'run')}, {int(history.runs['seeds'].sum())} seeds" if runs else "nothing"


def _tally(changes: Changes) -> str:
    return (
        f"{len(changes.added)} added, {len(changes.gone)} gone, {len(changes.moved)} moved,"
        f" {len(changes.within_noise)} within noise, {changes.unchanged} unchanged;"
        f" {len(changes.verdicts)} with another verdict, {len(changes.platforms)} with another platform spread"
    )


def _commit(revision: str, place: Path) -> str:
    """Return the commit that a revision names; it is never taken for an option."""
    if revision.startswith("-") or not revision:
        raise ReportError(f"{revision!r}: no git revision; name a commit, a branch or a tag, such as HEAD~1")
    try:
        done = _git(place, "rev-parse", "--verify", "--end-of-options", f"{revision}^{{commit}}")
    except subprocess.CalledProcessError as error:
        said = error.stderr.decode(errors="replace").strip().splitlines()
        reason = said[-1].removeprefix("fatal: ") if said else "git does not know it"
        raise ReportError(f"{revision!r:.100}: no such git revision ({reason}); see `git log`") from None
    return done.decode().strip()


def _extract(commit: str, place: Path, folder: Path) -> None:
    """Write the files that the baseline had at a commit into a folder; nothing is checked out."""
    name = place.absolute().relative_to(_above(place)).as_posix()
    try:
        listed = _git(place, "ls-tree", "-r", "-z", commit, "--", f"{name}/").decode()
        for entry in filter(None, listed.split("\0")):
            about, path = entry.split("\t", 1)
            mode, kind, blob = about.split()
            relative = PurePosixPath(path).relative_to(name)
            if kind != "blob" or mode == "120000" or ".." in relative.parts:  # a link could lead anywhere
                continue
            (folder / relative).parent.mkdir(parents=True, exist_ok=True)
            (folder / relative).write_bytes(_git(place, "cat-file", "blob", blob))
    except subprocess.CalledProcessError as error:
        reason = error.stderr.decode(errors="replace").strip()
        raise ReportError(f"{place} at {commit[:10]}: git cannot show it ({reason:.200})") from None


def _above(place: Path) -> Path:
    """Return the nearest folder above a place that exists."""
    return next((folder for folder in place.absolute().parents if folder.is_dir()), place.absolute())


def _git(place: Path, *arguments: str) -> bytes:
    try:
        return subprocess.run(  # noqa: S603  no shell, and every argument is ours or checked
            ["git", "-C", str(_above(place)), *arguments],  # noqa: S607
            capture_output=True,
            check=True,
        ).stdout
    except OSError as error:
        raise ReportError(f"git cannot be run ({error.strerror or error}); diff needs it") from error

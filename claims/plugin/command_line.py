"""Lets `--run-store DIR` and its like name a directory that exists.

pytest looks for its root directory before it has read any conftest. It does not know our options then, takes DIR for a
path to tests, and looks for its configuration there instead of here. Written as `--run-store=DIR` the value is out of
its sight, so that is how the command line is given to it once more. This module is the one that pytest loads by entry
point, as early as there is any; nothing else belongs in it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

DIRECTORY_OPTIONS = ("--report-dir", "--run-store", "--history")


def joined(arguments: Sequence[str]) -> list[str]:
    """Return a command line in which every directory option and its value are one argument."""
    result: list[str] = []
    for argument in arguments:
        if result and result[-1] in DIRECTORY_OPTIONS and not argument.startswith("-"):
            result[-1] += f"={argument}"
        else:
            result.append(argument)
    return result


def pytest_addoption(parser: pytest.Parser) -> None:
    """Start again with a command line that pytest reads as it is meant, where it would not."""
    started_here = Path(sys.argv[0]).name in ("pytest", "py.test") or sys.argv[0].endswith(("pytest/__main__.py",))
    better = joined(sys.argv[1:])
    here = Path.cwd()
    ours = any((folder / "claims" / "plugin").is_dir() for folder in (here, *here.parents))
    if started_here and better != sys.argv[1:] and ours:
        os.execv(sys.executable, [sys.executable, "-m", "pytest", *better])  # noqa: S606  the same program again

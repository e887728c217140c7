"""What a session whose code is sabotaged needs beside the rest: the stand-in, and a file of what each check decided.

`lesson-claims controls` names this module with `-p`, in a copy of the project. Nothing else loads it.
"""

from __future__ import annotations

import importlib
import json
import re
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from lesson_claims.plugin.check import RECORD
from lesson_claims.plugin.options import SABOTAGED
from lesson_claims.plugin.recording import reason


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options with which the command tells what it wants."""
    group = parser.getgroup("lesson-claims")
    group.addoption("--sabotage-results", metavar="FILE", default="", help="what the checks decided goes there")
    group.addoption("--stand-in", nargs=2, metavar=("PATH", "MODULE:NAME"), help="what to replace, and by what")


def pytest_load_initial_conftests(early_config: pytest.Config) -> None:
    """Put the stand-in in place: after pytest's `pythonpath`, and before any code of the project is imported.

    Raises:
        pytest.UsageError: if there is no such attribute, or no such function.
    """
    wanted = early_config.known_args_namespace.stand_in
    if wanted:
        replace(*wanted)


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Say so before the rest of the plugin asks."""
    config.stash[SABOTAGED] = True
    config.pluginmanager.register(Results(Path(config.getoption("sabotage_results"))), "claims-sabotaged")


class Results:
    """Collects what each check decided, and writes it when the session ends."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.checks: dict[str, dict[str, Any]] = {}
        self.failures: list[str] = []

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Note what a check decided, or what went wrong instead."""
        report = yield
        record = item.stash.get(RECORD, None)
        if record is not None and (call.when == "call" or report.outcome != "passed"):
            verdict = next((value for name, value in report.user_properties if name == "verdict"), "not run")
            if report.failed and call.when != "call":
                verdict = "error"
            self.checks[item.nodeid] = {
                "node": item.nodeid,
                "claim": record.claim.id,
                "expected": record.expected,
                "verdict": verdict,
                "reason": reason(report) if verdict in ("error", "not run") else "",
            }
        return report

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Note a module that cannot be imported."""
        if report.failed:
            self.failures.append(re.sub(r"^E\s+", "", reason(report)))

    def pytest_sessionfinish(self) -> None:
        """Write the file."""
        found = {"checks": list(self.checks.values()), "failures": self.failures}
        self.file.write_text(json.dumps(found), encoding="utf-8")


def replace(attribute: str, by: str) -> None:
    """Replace an attribute of a library by what a function of the project makes of it.

    Raises:
        pytest.UsageError: if there is no such attribute, or no such function.
    """
    *path, name = attribute.split(".")
    owner: Any = None
    for end in range(len(path), 0, -1):
        try:
            owner = importlib.import_module(".".join(path[:end]))
        except ModuleNotFoundError:
            continue
        for part in path[end:]:
            owner = getattr(owner, part, None)
        break
    if not hasattr(owner, name):
        raise pytest.UsageError(f"stand_in {attribute!r}: there is no such attribute here; correct the path")
    module, _, function = by.partition(":")
    try:
        made = getattr(importlib.import_module(module), function)(getattr(owner, name))
    except Exception as error:
        raise pytest.UsageError(f"stand_in {attribute!r}: {by}: {type(error).__name__}: {error}") from error
    setattr(owner, name, made)

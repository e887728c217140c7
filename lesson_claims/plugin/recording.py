"""The controller's side: collect what the checks recorded, wherever they ran, and write the report once.

Only the controller writes. It knows what was to run, so that what never came back is named: a check whose worker was
killed is an error, one that was never started has not run, and the report says that it is incomplete.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from typing import Any

import pytest

from lesson_claims.plugin.collected import Collected, Result
from lesson_claims.plugin.options import (
    OWN_STORE,
    SESSION,
    Session,
    environment_of,
    has_workers,
    is_worker,
    report_folder,
)
from lesson_claims.recorded import Wins
from lesson_claims.results.vocabulary import SettingAgreement
from lesson_claims.runs.store import RunStoreError
from lesson_claims.settings import SettingsError, row_of
from lesson_claims.traceability import check_id


@pytest.hookimpl(trylast=True)
def pytest_configure(config: pytest.Config) -> None:
    """Record in the controller, or in the one process there is."""
    session = config.stash.get(SESSION, None)
    if session is None or session.sabotaged:
        return
    if not is_worker(config) and not config.option.collectonly:
        config.pluginmanager.register(Recorder(config, session), "claims-recorder")


def pytest_unconfigure(config: pytest.Config) -> None:
    """Remove the store of runs if it was made for this session."""
    own = config.stash.get(OWN_STORE, None)
    if own is not None:
        shutil.rmtree(own, ignore_errors=True)


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Send the environment in which the numbers were measured from a worker to the controller."""
    if is_worker(session.config) and SESSION in session.config.stash:
        session.config.workeroutput["environment"] = environment_of(session.config)  # type: ignore[attr-defined]
        session.config.workeroutput["stated"] = stated_rows(session.config.stash[SESSION])  # type: ignore[attr-defined]


def stated_rows(session: Session) -> list[dict[str, str]]:
    """Return what the pages state of their runs, as rows that nobody has measured.

    If that cannot be told, there are none: the checks that need it have said why.
    """
    try:
        stated = session.stated
    except (SettingsError, RunStoreError):
        return []
    return [
        row_of(run, statement, SettingAgreement.NOT_MEASURED)
        for each in stated.values()
        for run, settings in each.items()
        for statement in settings.values()
    ]


class Recorder:
    """Collects results and writes the report when the session ends."""

    def __init__(self, config: pytest.Config, session: Session) -> None:
        self.config = config
        self.session = session
        self.collected = Collected()
        self.lines: list[str] = []

    # What was to run -----------------------------------------------------------------------------------------------

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Note what one process is going to run."""
        self._collect(item.nodeid for item in session.items)

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids: Iterable[str]) -> None:
        """Note what the workers are going to run."""
        self._collect(ids)

    def _collect(self, node_ids: Iterable[str]) -> None:
        self.collected.nodes |= {node for node in node_ids if check_id(node) in self.session.checks}

    # What came back ------------------------------------------------------------------------------------------------

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Take in a report; a killed worker's comes with the phase `???`."""
        if check_id(report.nodeid) not in self.session.checks:
            return
        if report.when == "call":
            self.collected.results[report.nodeid] = self._result(report)
        elif report.failed:
            what = "its worker was killed" if str(report.when) == "???" else f"failed in {report.when}"
            result = self.collected.results.setdefault(report.nodeid, Result(report.nodeid, "error"))
            result.verdict, result.reason = "error", what
            self.collected.problems.append(f"{report.nodeid}: {what}")
            self.collected.killed = self.collected.killed or str(report.when) == "???"
        elif report.skipped and report.when == "setup":
            self.collected.results[report.nodeid] = Result(report.nodeid, "not run", reason="skipped")

    def _result(self, report: pytest.TestReport) -> Result:
        result = Result(report.nodeid, "error", report.duration)
        recorded = None
        for name, value in report.user_properties:
            if name == "verdict":
                result.verdict = str(value)
            elif name == "nodes":
                result.nodes = int(value)  # type: ignore[call-overload]
            elif name == "wins":
                result.wins = Wins(int(value[0]), int(value[1])) if value else None  # type: ignore[index]
            elif name == "contradicted":
                result.contradicted = bool(value)
            elif name == "recorded":
                recorded = int(value)  # type: ignore[call-overload]
            elif name in ("measurement", "decision", "curve", "setting"):
                getattr(result, f"{name}s").append(value)
        for row in result.decisions:
            row["sentence"] = row["sentence"][:1].upper() + row["sentence"][1:]  # a decider starts with a name as given
        arrived = sum(map(len, (result.measurements, result.decisions, result.curves, result.settings)))
        if recorded != arrived:
            result.verdict = "error"
            self.collected.problems.append(f"{report.nodeid}: {recorded} records were made and {arrived} arrived")
        if result.verdict == "error":
            result.reason = reason(report)
            self.collected.problems.append(f"{report.nodeid}: error: {result.reason}")
        return result

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any, error: object | None) -> None:
        """Take the environment from a worker that ended, and note one that was lost."""
        output = getattr(node, "workeroutput", None) or {}
        self.collected.environment = output.get("environment", self.collected.environment)
        self.collected.stated = output.get("stated", self.collected.stated)
        if error:
            self.collected.killed = True
            self.collected.problems.append(f"worker {node.gateway.id} was lost: {error}")

    # The report ----------------------------------------------------------------------------------------------------

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int | pytest.ExitCode) -> None:
        """Write the report, unless nothing was recorded; a session that recorded nothing never succeeds."""
        if not has_workers(self.config):
            self.collected.stated = stated_rows(self.session)
        results = self.collected.results.values()
        if not any(result.measurements or result.decisions or result.settings for result in results):
            if self.collected.nodes and exitstatus == pytest.ExitCode.OK:
                session.exitstatus = pytest.ExitCode.TESTS_FAILED
            if self.collected.nodes:
                self.lines = [f"no report: nothing was recorded; what is in {report_folder(self.config)} is as it was"]
            return
        # Workers, which load this module too, need not load what makes a report.
        from lesson_claims.plugin import report_writing

        self.lines, well = report_writing.write(self.config, self.session, self.collected, int(exitstatus))
        if not well and exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """End with the tally, what changed and where the report is."""
        if self.lines:
            terminalreporter.section("claims of the lessons")
            for line in self.lines:
                terminalreporter.write_line(line)


def reason(report: pytest.TestReport | pytest.CollectReport) -> str:
    """Return in one line what went wrong: the message of the exception, or the last line of what was told instead."""
    crash = getattr(report.longrepr, "reprcrash", None)
    lines = (crash.message if crash is not None else report.longreprtext).strip().splitlines()
    return lines[0 if crash is not None else -1] if lines else "no reason given"

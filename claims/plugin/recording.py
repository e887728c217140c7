"""The controller's side: collect what the checks recorded, wherever they ran, and write the report once.

Only the controller writes. It knows what was to run, so that what never came back is named: a check whose worker was
killed is an error, one that was never started has not run, and the report says that it is incomplete.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import shutil
import subprocess
import threading
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from claims.errata import errata
from claims.plugin.options import OWN_STORE, SESSION, Session, is_worker, report_folder
from claims.registry import CORRECTED
from claims.traceability import check_id

if TYPE_CHECKING:
    from reports.tables import Run


@dataclass
class Result:
    """What came back of one parametrised check."""

    node: str
    verdict: str
    seconds: float = 0.0
    nodes: int = 1
    measurements: list[dict[str, Any]] = field(default_factory=list)
    decisions: list[dict[str, Any]] = field(default_factory=list)
    curves: list[dict[str, Any]] = field(default_factory=list)
    reason: str = ""


@pytest.hookimpl(trylast=True)
def pytest_configure(config: pytest.Config) -> None:
    """Record in the controller, or in the one process there is."""
    session = config.stash.get(SESSION, None)
    if session is not None and not is_worker(config) and not config.option.collectonly:
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
        session.config.workeroutput["environment"] = _environment(session.config)  # type: ignore[attr-defined]


def _environment(config: pytest.Config) -> dict[str, str | int]:
    # Importing torch takes seconds, which only a process that has measured something need spend.
    from claims.numerics import environment, resolve_device

    return environment(resolve_device(config.getoption("device")))


class Recorder:
    """Collects results and writes the report when the session ends."""

    def __init__(self, config: pytest.Config, session: Session) -> None:
        self.config = config
        self.session = session
        self.started = datetime.now(UTC)
        self.clock = time.perf_counter()
        self.collected: set[str] = set()
        self.results: dict[str, Result] = {}
        self.environment: dict[str, str | int] = {}
        self.killed = False
        self.problems: list[str] = []
        self.lines: list[str] = []

    # What was to run -----------------------------------------------------------------------------------------------

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Note what one process is going to run."""
        self._collect(item.nodeid for item in session.items)

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids: Iterable[str]) -> None:
        """Note what the workers are going to run, and get ready for the report while they do."""
        if not self.collected:  # each worker collects the same
            threading.Thread(target=_import_what_the_report_needs, daemon=True).start()
        self._collect(ids)

    def _collect(self, node_ids: Iterable[str]) -> None:
        self.collected |= {node for node in node_ids if check_id(node) in self.session.checks}

    # What came back ------------------------------------------------------------------------------------------------

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Take in a report; a killed worker's comes with the phase `???`."""
        if check_id(report.nodeid) not in self.session.checks:
            return
        if report.when == "call":
            self.results[report.nodeid] = self._result(report)
        elif report.failed:
            what = "its worker was killed" if str(report.when) == "???" else f"failed in {report.when}"
            result = self.results.setdefault(report.nodeid, Result(report.nodeid, "error"))
            result.verdict, result.reason = "error", what
            self.problems.append(f"{report.nodeid}: {what}")
            self.killed = self.killed or str(report.when) == "???"
        elif report.skipped and report.when == "setup":
            self.results[report.nodeid] = Result(report.nodeid, "not run", reason="skipped")

    def _result(self, report: pytest.TestReport) -> Result:
        result = Result(report.nodeid, "error", report.duration)
        recorded = None
        for name, value in report.user_properties:
            if name == "verdict":
                result.verdict = str(value)
            elif name == "nodes":
                result.nodes = int(value)  # type: ignore[call-overload]
            elif name == "recorded":
                recorded = int(value)  # type: ignore[call-overload]
            elif name in ("measurement", "decision", "curve"):
                getattr(result, f"{name}s").append(value)
        for row in result.decisions:
            row["sentence"] = row["sentence"][:1].upper() + row["sentence"][1:]  # a decider starts with a name as given
        arrived = len(result.measurements) + len(result.decisions) + len(result.curves)
        if recorded != arrived:
            result.verdict = "error"
            self.problems.append(f"{report.nodeid}: {recorded} records were made and {arrived} arrived")
        if result.verdict == "error":
            result.reason = next(reversed(report.longreprtext.strip().splitlines()), "no reason given")
            self.problems.append(f"{report.nodeid}: error: {result.reason}")
        return result

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any, error: object | None) -> None:
        """Take the environment from a worker that ended, and note one that was lost."""
        output = getattr(node, "workeroutput", None) or {}
        self.environment = output.get("environment", self.environment)
        if error:
            self.killed = True
            self.problems.append(f"worker {node.gateway.id} was lost: {error}")

    # The report ----------------------------------------------------------------------------------------------------

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int | pytest.ExitCode) -> None:
        """Write the report, unless nothing was recorded; a session that recorded nothing never succeeds."""
        if not any(result.measurements or result.decisions for result in self.results.values()):
            if self.collected and exitstatus == pytest.ExitCode.OK:
                session.exitstatus = pytest.ExitCode.TESTS_FAILED
            if self.collected:
                self.lines = [f"no report: nothing was recorded; what is in {report_folder(self.config)} is as it was"]
            return
        lost = sorted(self.collected - set(self.results))
        if lost:
            self.problems.append(f"{len(lost)} checks never came back, the first of them {lost[0]}")
        claims = self._claim_rows()
        unmeasured = self._unmeasured(claims)
        self.problems += [f"{claim}: figure {name!r} was not measured" for claim, name in unmeasured]
        if (lost or unmeasured) and exitstatus == pytest.ExitCode.OK:
            session.exitstatus = exitstatus = pytest.ExitCode.TESTS_FAILED
        # Only the controller needs pandas, and only now.
        from reports.errors import ReportError
        from reports.settling import settle
        from reports.since import since
        from reports.tables import read_run, write_run

        complete = not lost and not self.killed and exitstatus in (0, 1)
        run = settle(self._run(claims, complete=complete, exit_status=int(exitstatus)))
        with contextlib.suppress(ReportError):  # no run before, or none that can be read
            run.info["since"] = since(read_run(report_folder(self.config)), run)
        from reports.summary import terminal_lines

        self.lines = terminal_lines(run)
        # What was measured is told whatever happens to it, and each error stands beside what went well.
        try:
            write_run(run, report_folder(self.config))
            self.lines.append(f"report: {report_folder(self.config) / 'index.html'}")
            if self.config.getoption("history") is not None:
                from reports.history import append

                append(self.config.getoption("history"), run)
        except ReportError as error:
            self.lines.append(f"error: {error}")
            if session.exitstatus == pytest.ExitCode.OK:
                session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """End with the tally, what changed and where the report is."""
        if self.lines:
            terminalreporter.section("claims of the lessons")
            for line in self.lines:
                terminalreporter.write_line(line)

    def _claim_rows(self) -> list[dict[str, Any]]:
        """Return a row for each claim, with its verdict as its tests alone decided."""
        from reports.settling import changed

        registry = self.session.registry
        checks: dict[str, list[str]] = {}
        for check in self.session.checks.values():
            checks.setdefault(check.claim, []).append(check.id)
        by_check: dict[str, list[Result]] = {}
        for node in sorted(self.results):
            by_check.setdefault(check_id(node), []).append(self.results[node])
        rows = []
        for claim in registry.claims.values():
            results = [result for check in checks[claim.id] for result in by_check.get(check, [])]
            selected = [node for node in self.collected if check_id(node) in checks[claim.id]]
            verdict = _verdict(
                results, partial=not self._all_ran(checks[claim.id], by_check), lost=len(selected) > len(results)
            )
            decisions = [decision for result in results for decision in result.decisions]
            rows.append(
                {
                    "claim": claim.id,
                    "lesson": claim.lesson,
                    "where": claim.where,
                    "statement": claim.says,
                    "kind": claim.kind,
                    "verdict": verdict,
                    "expected": claim.expect,
                    "changed": changed(verdict, claim.expect),
                    "seeds": max((decision["seeds"] for decision in decisions), default=0) or None,
                    "evidence": _evidence(results, verdict),
                    "controls": "",
                    "checks": len(results),
                    "seconds": sum(result.seconds for result in results),
                }
            )
        return rows

    def _all_ran(self, checks: list[str], by_check: dict[str, list[Result]]) -> bool:
        return all(by_check.get(check) and len(by_check[check]) >= by_check[check][0].nodes for check in checks)

    def _unmeasured(self, claims: list[dict[str, Any]]) -> list[tuple[str, str]]:
        """Return the page's figures that a claim's checks, all of which ran, have not measured."""
        decided = {row["claim"] for row in claims if row["verdict"] in ("holds", "refuted")}
        measured = {
            (self.session.checks[check_id(result.node)].claim, row["figure"])
            for result in self.results.values()
            for row in result.measurements
        }
        return [
            (claim, name)
            for claim, figures in self.session.registry.figures.items()
            for name in figures
            if claim in decided and (claim, name) not in measured
        ]

    def _measurement_rows(self) -> list[dict[str, Any]]:
        registry = self.session.registry
        rows: dict[tuple[str, str], dict[str, Any]] = {}
        for node in sorted(self.results):
            result = self.results[node]
            claim = self.session.checks[check_id(node)].claim
            for row in result.measurements:
                key = (claim, row["figure"])
                if key in rows:
                    self.problems.append(f"{claim}: figure {row['figure']!r} was measured twice; the first is kept")
                    continue
                rows[key] = {"claim": claim, **row, "check": node, "seconds": result.seconds}
        for claim, figures in registry.figures.items():
            for figure in figures.values():
                rows.setdefault(
                    (claim, figure.name),
                    {
                        "claim": claim,
                        "figure": figure.name,
                        "kind": figure.kind,
                        "printed": figure.printed,
                        "agreement": "not measured",
                    },
                )
        order = {claim: place for place, claim in enumerate(registry.claims)}
        within = {(claim, name): i for claim, names in registry.figures.items() for i, name in enumerate(names)}
        return sorted(
            rows.values(), key=lambda row: (order[row["claim"]], within.get((row["claim"], row["figure"]), 10**6))
        )

    def _run(self, claims: list[dict[str, Any]], *, complete: bool, exit_status: int) -> Run:
        registry = self.session.registry
        measurements = self._measurement_rows()
        in_page_order = sorted(self.results, key=lambda node: (list(self.session.checks).index(check_id(node)), node))
        nodes = [(node, self.session.checks[check_id(node)].claim, self.results[node]) for node in in_page_order]
        verdicts = {row["claim"]: row["verdict"] for row in claims}
        first: dict[str, str] = {}
        for _, claim, result in nodes:
            for decision in result.decisions:
                if decision["verdict"] == verdicts[claim]:
                    first.setdefault(claim, decision["sentence"])
        corrections = errata(registry, verdicts, measurements, first)
        for row in corrections:
            page = registry.claims[row["claim"]]
            decided = {verdicts[page.id], verdicts.get(page.id + CORRECTED, "holds")} <= {"holds", "refuted"}
            if page.suggest and not row["suggestion"] and "figure" not in row and decided:
                self.problems.append(f"{page.id}: the suggested sentence names a number that is not measured")
        commit, dirty = _commit(self.config.rootpath)
        info = {
            "complete": complete,
            "started": self.started.isoformat(timespec="seconds"),
            "seconds": time.perf_counter() - self.clock,
            "selected": _selected(self.config),
            "seeds": self.config.getoption("seeds"),
            "options": {
                name: self.config.getoption(name) for name in ("seeds", "first_seed", "device", "claim", "keyword")
            },
            "exit_status": exit_status,
            "problems": self.problems,
            "repository": _repository(),
            "commit": commit,
            "dirty": dirty,
            "environment": {**(self.environment or _environment(self.config)), "workers": _workers(self.config)},
            "lessons": {
                name: {"title": lesson.title, "parts": list(lesson.parts)} for name, lesson in registry.lessons.items()
            },
            "checklist": [{"advice": piece.advice, "claims": list(piece.claims)} for piece in registry.checklist],
            "source": {check.id: f"{check.id.split('::')[0]}#L{check.line}" for check in self.session.checks.values()},
        }
        from reports.tables import Run

        return Run.from_rows(
            info=info,
            claims=claims,
            measurements=[{k: v for k, v in row.items() if k != "sample"} for row in measurements],
            samples=[
                {"claim": row["claim"], "figure": row["figure"], "seed": seed, "value": value}
                for row in measurements
                for seed, value in row.get("sample", [])
                if not isinstance(value, str)
            ],
            decisions=[
                {"claim": claim, "check": node, **row} for node, claim, result in nodes for row in result.decisions
            ],
            curves=[{"claim": claim, **row} for _, claim, result in nodes for row in result.curves],
            errata=corrections,
        )


def _import_what_the_report_needs() -> None:
    """Import, in a controller that waits for its workers, what would take seconds when they are done."""
    with contextlib.suppress(ImportError):  # the report itself will say so
        for module in ("scipy.stats", "reports.settling", "reports.html"):
            importlib.import_module(module)


def _verdict(results: list[Result], *, partial: bool, lost: bool) -> str:
    from reports.settling import WORST_FIRST

    verdicts = {result.verdict for result in results}
    if lost or "error" in verdicts:
        return "error" if "error" in verdicts or results else "not run"
    if partial or "not run" in verdicts:
        return "not run"
    return next(verdict for verdict in WORST_FIRST if verdict in verdicts)


def _evidence(results: list[Result], verdict: str) -> str:
    """Return what is behind a claim's verdict: the sentences of its decisions, or what went wrong."""
    from reports.settling import evidence

    if verdict == "error":
        return " ".join(f"{result.node}: {result.reason}." for result in results if result.verdict == "error")
    return evidence([decision for result in results for decision in result.decisions], verdict)


def _selected(config: pytest.Config) -> str:
    options = [f"--claim {pattern}" for pattern in config.getoption("claim")]
    options += [f"-k {config.option.keyword}"] if config.option.keyword else []
    options += [f"-m {config.option.markexpr}"] if config.option.markexpr else []
    places = [str(argument) for argument in config.args if argument != "claims"]
    return " ".join([*options, *places])


def _workers(config: pytest.Config) -> int:
    return len(getattr(config.option, "tx", None) or []) or 1


def _repository() -> str:
    """Return the address of the repository where a hosted job runs, so that the report can link to the source."""
    server, name = os.environ.get("GITHUB_SERVER_URL"), os.environ.get("GITHUB_REPOSITORY")
    return f"{server}/{name}" if server and name else ""


def _commit(root: Path) -> tuple[str | None, bool]:
    """Return the checked-out commit and whether files differ from it; None outside a repository."""
    try:
        commit = subprocess.run(["git", "rev-parse", "HEAD"], cwd=root, capture_output=True, text=True, check=True)  # noqa: S607  git of the path
        status = subprocess.run(["git", "status", "--porcelain"], cwd=root, capture_output=True, text=True, check=True)  # noqa: S607  git of the path
    except (OSError, subprocess.CalledProcessError):
        return None, False
    return commit.stdout.strip(), bool(status.stdout.strip())

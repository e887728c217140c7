"""Says every half minute how far a long run is and how long it is likely to take, on a terminal or in a file."""

from __future__ import annotations

import csv
import threading
import time
from collections.abc import Iterable, Mapping
from pathlib import Path

import pytest

from lesson_claims.plugin.options import SESSION, is_worker, report_folder
from lesson_claims.registry import Registry
from lesson_claims.traceability import check_id

INTERVAL_SECONDS = 30.0
ENOUGH_DONE = 0.03
"""Share of the work from which the rest can be estimated."""
NEEDS_TRAINING = ("trained", "ordering")


@pytest.hookimpl(trylast=True)
def pytest_configure(config: pytest.Config) -> None:
    """Watch the run from the controller, or from the one process there is."""
    if SESSION in config.stash and not is_worker(config) and not config.option.collectonly:
        config.pluginmanager.register(Progress(config), "claims-progress")


class Progress:
    """Counts what has come back, and reports from a thread of its own, since one check can take minutes."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.checks = config.stash[SESSION].checks
        self.started = time.monotonic()
        self.waiting: set[str] = set()
        self.done = 0
        self.ended = threading.Event()
        self.before = seconds_before(report_folder(config) / "claims.csv") or usual_seconds(
            config.stash[SESSION].registry
        )

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Note what is to run, and start to watch."""
        self._start(item.nodeid for item in session.items)

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids: Iterable[str]) -> None:
        """Note what the workers are to run, and start to watch."""
        self._start(ids)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note a check that has come back."""
        if report.nodeid in self.waiting and (report.when == "call" or report.failed or report.skipped):
            self.waiting.discard(report.nodeid)
            self.done += 1

    def pytest_sessionfinish(self) -> None:
        """Stop."""
        self.ended.set()

    def _start(self, node_ids: Iterable[str]) -> None:
        if self.waiting or self.done:
            return  # another worker has collected the same
        self.waiting = {node for node in node_ids if check_id(node) in self.checks}
        threading.Thread(target=self._watch, daemon=True).start()

    def _watch(self) -> None:
        reporter = self.config.pluginmanager.get_plugin("terminalreporter")
        while not self.ended.wait(INTERVAL_SECONDS):
            if reporter is not None:
                reporter.ensure_newline()
                reporter.write_line(self.line(time.monotonic() - self.started))
                reporter.flush()

    def line(self, elapsed: float) -> str:
        """Return the line for `elapsed` seconds since the start."""
        claims_waiting = {self.checks[check_id(node)].claim for node in list(self.waiting)}
        left = seconds_left(elapsed, self.done, len(self.waiting), claims_waiting, self.before)
        store = Path(self.config.getoption("run_store"))
        runs = sum(1 for _ in store.glob("*/*.json"))
        told = f"about {duration(left)} left" if left is not None else "too early to say how long it takes"
        return (
            f"{self.done} of {self.done + len(self.waiting)} checks, {runs} training runs in the store; "
            f"{duration(elapsed)} gone, {told}"
        )


def seconds_left(
    elapsed: float, done: int, waiting: int, claims_waiting: Iterable[str], before: Mapping[str, float]
) -> float | None:
    """Estimate the seconds that are left; None as long as too little is done to tell.

    With the seconds that each claim took before, or usually takes, the share of the work that is done tells; without,
    the share of the checks.
    """
    total = sum(before.values())
    left = sum(before.get(claim, 0.0) for claim in claims_waiting)
    if 0 < left < total:
        return elapsed * left / (total - left) if total - left >= ENOUGH_DONE * total else None
    return elapsed * waiting / max(done, 1)


def seconds_before(claims_table: Path) -> dict[str, float]:
    """Return the seconds of each claim in an earlier report; empty if there is none that can be read."""
    try:
        with claims_table.open(newline="", encoding="utf-8") as file:
            return {row["claim"]: float(row["seconds"]) for row in csv.DictReader(file) if row.get("seconds")}
    except (OSError, ValueError, KeyError, csv.Error):
        return {}


def usual_seconds(registry: Registry) -> dict[str, float]:
    """Return how long each claim takes beside the others: about a hundred times as long if it needs training."""
    return {claim.id: 100.0 if claim.kind in NEEDS_TRAINING else 1.0 for claim in registry.claims.values()}


def duration(seconds: float) -> str:
    """Return a number of seconds as a reader says it: `40 s`, `3 min`, `2 h 5 min`."""
    if seconds < 100:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 100 else f"{minutes // 60} h {minutes % 60} min"

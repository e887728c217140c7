"""What a check works with: the fixtures `measure`, `decide`, `evidence` and `device`; and its settling."""

from __future__ import annotations

import random
import sys
from collections.abc import Generator
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from lesson_claims.decisions import ClaimRefuted, Decision, Verdict
from lesson_claims.plugin.options import SESSION, device_with_its_settings
from lesson_claims.project import ProjectError
from lesson_claims.record import FEWEST_TO_DECIDE, Decide, Measure, NotEnoughSeeds, Record
from lesson_claims.runs.device import INSTALL_TORCH, Device, DeviceError, torch_is_installed
from lesson_claims.runs.evidence import Evidence, EvidenceOf, gather
from lesson_claims.runs.recipe import Recipe, RecipeError
from lesson_claims.runs.store import RunStore, RunStoreError
from lesson_claims.traceability import Check, check_id

if TYPE_CHECKING:  # not every lesson needs it
    import torch


BAD_INPUT = (ProjectError, RunStoreError, DeviceError, RecipeError)
"""Errors that are no bugs, in a check or a fixture: their one line says it all, and a trace would hide it."""

RECORD = pytest.StashKey[Record]()
NODES = pytest.StashKey[int]()


@pytest.fixture
def measure(request: pytest.FixtureRequest) -> Measure:
    """Record measured numbers."""
    return Measure(request.node.stash[RECORD], request.config.stash[SESSION].registry)


@pytest.fixture
def decide(request: pytest.FixtureRequest) -> Decide:
    """Record decisions."""
    return Decide(request.node.stash[RECORD])


@pytest.fixture(scope="session")
def session_device(pytestconfig: pytest.Config) -> Device:
    """Return the device of this session, with this worker's share of the cores set up."""
    return device_with_its_settings(pytestconfig)


@pytest.fixture
def _noted_device(session_device: Device, request: pytest.FixtureRequest) -> Device:
    """Return the device of this session, and note it for the check's measurements."""
    request.node.stash[RECORD].device = str(session_device)
    return session_device


@pytest.fixture
def device(_noted_device: Device) -> torch.device:
    """Return the device of this session, as torch has it."""
    return _noted_device.torch()


@pytest.fixture
def evidence(
    run_store: RunStore,
    seeds: tuple[int, ...],
    _noted_device: Device,
    request: pytest.FixtureRequest,
    pytestconfig: pytest.Config,
) -> EvidenceOf:
    """Return the function that gives a recipe's evidence over the session's seeds, making the runs that are missing.

    A run that no page made serves to decide a claim alone; with too few seeds to decide anything it is not made.
    """
    session = pytestconfig.stash[SESSION]
    lesson = request.node.stash[RECORD].claim.lesson
    page_seed = session.registry.lessons[lesson].page_seed
    platforms = session.page_runs[lesson] if pytestconfig.getoption("platforms") else {}

    def evidence_of(recipe: Recipe) -> Evidence:
        session.project.require(recipe)
        if len(seeds) < FEWEST_TO_DECIDE and not session.made_by_page(recipe, lesson):
            raise NotEnoughSeeds(FEWEST_TO_DECIDE)
        on_platforms = platforms.get(recipe)
        return gather(run_store, recipe, seeds, _noted_device, page_seed=page_seed, on_platforms=on_platforms)

    return evidence_of


@pytest.fixture(autouse=True)
def _same_numbers_in_any_order(request: pytest.FixtureRequest) -> None:
    """Start every check from the same state of the global generators, whatever ran before it."""
    if RECORD in request.node.stash:
        request.getfixturevalue("_noted_device")
        if "torch" in sys.modules:
            sys.modules["torch"].manual_seed(0)
        random.seed(0)
        np.random.seed(0)  # noqa: NPY002  scikit-learn takes what is not given a seed from here


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Say in one line that torch is missing, where a module of checks needs it."""
    report = yield
    ours = report.failed and SESSION in collector.config.stash
    if ours and "No module named 'torch" in str(report.longrepr) and not torch_is_installed():
        report.longrepr = f"{collector.nodeid}: needs torch, which is not installed: {INSTALL_TORCH}"
    return report


def pytest_make_parametrize_id(val: object, argname: str) -> str | None:
    """Let a test id read as the claim: `length=10`, `cell=lstm`."""
    return f"{argname}={val}" if isinstance(val, (str, int, float, bool)) else None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Count the parametrised nodes of each check before anything is deselected; mark expected failures."""
    session = config.stash.get(SESSION, None)
    if session is None:
        return
    nodes: dict[str, int] = {}
    for item in items:
        nodes[check_id(item.nodeid)] = nodes.get(check_id(item.nodeid), 0) + 1
    for item in items:
        check = session.checks.get(check_id(item.nodeid))
        if check is None:
            continue
        _same_claim(item, check)
        claim = session.registry.claims[check.claim]
        item.stash[NODES] = nodes[check.id]
        if item.get_closest_marker("refuted") is not None:
            item.add_marker(pytest.mark.xfail(raises=ClaimRefuted, strict=True, reason=claim.reason))


def _same_claim(item: pytest.Item, check: Check) -> None:
    mark = item.get_closest_marker("claim")
    if mark is None or mark.args != (check.claim,):
        raise pytest.UsageError(f"{item.nodeid}: the mark says {mark}, its source says {check.claim}")


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Give each check its empty record."""
    session = item.config.stash.get(SESSION, None)
    check = session.checks.get(check_id(item.nodeid)) if session is not None else None
    if session is not None and check is not None:
        item.stash[RECORD] = Record(session.registry.claims[check.claim], item.stash[NODES])


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> Generator[None, Any, Any]:
    """Run a check and settle what it recorded."""
    record = pyfuncitem.stash.get(RECORD, None)
    if record is None:
        return (yield)
    result = None
    try:
        result = yield
    except NotEnoughSeeds as few:
        record.decisions.append(
            Decision(
                Verdict.INCONCLUSIVE,
                f"Needs at least {few.args[0]} seeds; the runs for it were not made.",
                "too few seeds",
                needed=few.args[0],
            )
        )
    decision = record.settle()
    if record.misprints and pyfuncitem.get_closest_marker("refuted") is not None:
        # Where the claim is expected to fail, a wrong figure would pass for that failure.
        raise RuntimeError(f"{record.claim.id}: {'; '.join(record.misprints)}")
    if decision.verdict == Verdict.REFUTED:
        raise ClaimRefuted(decision.sentence)
    if decision.verdict == Verdict.INCONCLUSIVE:
        more = f" {decision.needed} seeds would decide it." if decision.needed else ""
        pytest.skip(f"inconclusive: {decision.sentence}{more}")
    return result


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Let the record travel with the report, to the controller and into JUnit XML; tell bad input in one line."""
    record = item.stash.get(RECORD, None)
    if record is not None and call.when == "call":
        item.user_properties += [
            ("claim", record.claim.id),
            ("verdict", _verdict(record, call)),
            ("nodes", record.nodes),
            ("recorded", len(record.measurements) + len(record.decisions) + len(record.curves)),
            *((f"figure: {row['figure']}", str(row["measured"])) for row in record.measurements),
            *(("measurement", row) for row in record.measurements),
            *(("decision", {**asdict(d), "verdict": str(d.verdict)}) for d in record.decisions),
            *(("curve", row) for row in record.curves),
        ]
    report = yield
    if call.excinfo is not None and isinstance(call.excinfo.value, BAD_INPUT):
        report.longrepr = str(call.excinfo.value)
    return report


def _verdict(record: Record, call: pytest.CallInfo[None]) -> str:
    raised = call.excinfo.value if call.excinfo is not None else None
    if raised is None:
        return str(Verdict.HOLDS)
    if isinstance(raised, ClaimRefuted):
        return str(Verdict.REFUTED)
    if isinstance(raised, pytest.skip.Exception):
        undecided = any(decision.verdict == Verdict.INCONCLUSIVE for decision in record.decisions)
        return str(Verdict.INCONCLUSIVE) if undecided else "not run"
    return "error"

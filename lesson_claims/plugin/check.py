"""What a check works with: the fixtures `measure`, `decide`, `evidence` and `device`; and its settling."""

from __future__ import annotations

import inspect
import random
import sys
from collections import Counter
from collections.abc import Generator, Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from lesson_claims.decisions import ClaimRefuted, Decision, Verdict
from lesson_claims.plugin.options import SESSION, Session, device_with_its_settings
from lesson_claims.plugin.work_sharing import seeds_of
from lesson_claims.project import ProjectError
from lesson_claims.record import FEWEST_TO_DECIDE, Decide, Measure, NotEnoughSeeds, Record
from lesson_claims.recorded import RecordContradicted
from lesson_claims.registry import Claim
from lesson_claims.results.vocabulary import TOO_FEW_SEEDS, Kind
from lesson_claims.runs.device import INSTALL_TORCH, Device, DeviceError, torch_is_installed
from lesson_claims.runs.evidence import Evidence, EvidenceOf, gather
from lesson_claims.runs.recipe import Recipe, RecipeError, is_seedless
from lesson_claims.runs.store import RunStore, RunStoreError
from lesson_claims.settings import SettingsError
from lesson_claims.traceability import Check, check_id

if TYPE_CHECKING:  # not every lesson needs it
    import torch


BAD_INPUT = (ProjectError, RunStoreError, DeviceError, RecipeError, SettingsError)
"""Errors that are no bugs, in a check or a fixture: their one line says it all, and a trace would hide it."""

RECORD = pytest.StashKey[Record]()
NODES = pytest.StashKey[dict[str, int]]()
PROPERTIES = pytest.StashKey[Iterable[tuple[str, object]]]()


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
    run_store: RunStore, _noted_device: Device, request: pytest.FixtureRequest, pytestconfig: pytest.Config
) -> EvidenceOf:
    """Return the function that gives a recipe's evidence over seeds, making the runs that are missing.

    A run that no page made serves to decide a claim alone; with too few seeds to decide anything it is not made.
    """
    session = pytestconfig.stash[SESSION]
    record = request.node.stash[RECORD]
    lesson = record.claim.lesson
    page_seed = session.registry.lessons[lesson].page_seed
    platforms = session.page_runs[lesson] if pytestconfig.getoption("platforms") else {}
    used: dict[Recipe, int] = {}
    """The recipes whose evidence the check asked for, each with the number of seeds of the look at which it did."""

    def evidence_of(recipe: Recipe) -> Evidence:
        session.project.require(recipe)
        if record.seeds < FEWEST_TO_DECIDE and not session.made_by_page(recipe, lesson):
            raise NotEnoughSeeds(FEWEST_TO_DECIDE)
        seeds = seeds_of(pytestconfig, lesson, record.seeds)
        if used.get(recipe, record.seeds) < record.seeds:
            # All that the next look needs is asked for at once, so that idle processes find something to do.
            again = [each for each in used if not is_seedless(each)]
            run_store.all_of([(each, seed) for seed in seeds for each in again], _noted_device)
            used.update(dict.fromkeys(used, record.seeds))
        used[recipe] = record.seeds
        on_platforms = platforms.get(recipe)
        found = gather(run_store, recipe, seeds, _noted_device, page_seed=page_seed, on_platforms=on_platforms)
        record.made(session.made_as_stated(recipe, lesson, found.page.outcome))
        return found

    return evidence_of


@pytest.fixture(autouse=True)
def _same_numbers_in_any_order(request: pytest.FixtureRequest) -> None:
    """Start every check from the same state of the global generators, whatever ran before it."""
    if RECORD in request.node.stash:
        request.getfixturevalue("_noted_device")
        _seed_the_generators()


def _seed_the_generators() -> None:
    if "torch" in sys.modules:
        sys.modules["torch"].manual_seed(0)
    random.seed(0)
    np.random.seed(0)  # noqa: NPY002  scikit-learn takes what is not given a seed from here


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Count the parametrised nodes of each check, whichever are chosen then; say in one line that torch is missing."""
    report = yield
    if SESSION not in collector.config.stash:
        return report
    # The session's own report holds what the command line names, which may be some of a module's nodes.
    of_module = [item for item in report.result or () if isinstance(item, pytest.Function) and item.parent is collector]
    found = (check_id(item.nodeid) for item in of_module)
    collector.config.stash.setdefault(NODES, {}).update(Counter(found))
    if report.failed and "No module named 'torch" in str(report.longrepr) and not torch_is_installed():
        report.longrepr = f"{collector.nodeid}: needs torch, which is not installed: {INSTALL_TORCH}"
    return report


def pytest_make_parametrize_id(val: object, argname: str) -> str | None:
    """Let a test id read as the claim: `length=10`, `cell=lstm`."""
    return f"{argname}={val}" if isinstance(val, (str, int, float, bool)) else None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark the checks whose failure is expected."""
    session = config.stash.get(SESSION, None)
    if session is None:
        return
    for item in items:
        check = session.checks.get(check_id(item.nodeid))
        if check is None:
            continue
        _same_claim(item, check)
        claim = session.registry.claims[check.claim]
        if item.get_closest_marker("refuted") is not None:
            item.add_marker(pytest.mark.xfail(raises=ClaimRefuted, strict=True, reason=claim.reason))


def _same_claim(item: pytest.Item, check: Check) -> None:
    mark = item.get_closest_marker("claim")
    if mark is None or mark.args != (check.claim,):
        raise pytest.UsageError(f"{item.nodeid}: the mark says {mark}, its source says {check.claim}")


def _expected(item: pytest.Item, claim: Claim) -> str:
    """Return what is on record for a check: what its mark says, or else that it holds, as its claim does."""
    for mark, expected in (("refuted", "refuted"), ("depends_on_seed", "depends")):
        if item.get_closest_marker(mark) is not None:
            return expected
    return "open" if claim.expect in ("open", "refuted") else "holds"


def _aside(session: Session, check: Check, expected: str) -> frozenset[Kind]:
    """Return the kinds of printed figures that may not turn the verdict of a check whose code is sabotaged.

    The page printed them in the world as it is. So none of them is asked where a claim is to hold or to be decided in
    another world. Where it is to be refuted, a number that a run gave is not: whatever changes the run changes it, be
    it what the claim is about or not. It stays where the claim's checks decide nothing else.
    """
    if not session.sabotaged:
        return frozenset()
    if expected in ("refuted", "depends"):
        return frozenset(Kind)
    own = [each for each in session.checks.values() if each.claim == check.claim]
    return frozenset({Kind.TRAINED} if any(each.decides for each in own) else ())


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Give each check its empty record."""
    session = item.config.stash.get(SESSION, None)
    check = session.checks.get(check_id(item.nodeid)) if session is not None else None
    if session is not None and check is not None:
        # A plugin may run a check again: what the attempt before has recorded goes.
        item.user_properties[:] = item.stash.setdefault(PROPERTIES, list(item.user_properties))
        nodes = item.config.stash[NODES][check.id]
        item.stash[RECORD] = Record(
            session.registry.claims[check.claim],
            nodes,
            _expected(item, session.registry.claims[check.claim]),
            decides=check.decides,
            checks=session.statistical_checks(check.claim) * nodes,
            levels=session.levels,
            recorded=session.recorded,
            seeds=session.looks.first,
            aside=_aside(session, check, _expected(item, session.registry.claims[check.claim])),
        )


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> Generator[None, Any, Any]:
    """Run a check and settle what it recorded; run it again over more seeds as long as these may decide it."""
    record = pyfuncitem.stash.get(RECORD, None)
    if record is None:
        return (yield)
    result = None
    try:
        result = yield
        decision = record.settle()
        for number in pyfuncitem.config.stash[SESSION].looks.numbers[1:]:
            if decision.verdict != Verdict.INCONCLUSIVE or not record.more_may_decide:
                break
            record.look_again(number)
            _seed_the_generators()
            wanted = inspect.signature(pyfuncitem.obj).parameters
            result = pyfuncitem.obj(**{name: pyfuncitem.funcargs[name] for name in wanted})
            decision = record.settle()
    except NotEnoughSeeds as few:
        record.decisions.append(
            Decision(
                Verdict.INCONCLUSIVE,
                f"Needs at least {few.args[0]} seeds; the runs for it were not made.",
                TOO_FEW_SEEDS,
            )
        )
        decision = record.settle()
    _tell(pyfuncitem, record, decision)
    return result


def _tell(item: pytest.Function, record: Record, decision: Decision) -> None:
    """Raise what makes pytest's outcome that of a settled check."""
    if record.misprints and record.expected == "refuted":
        # Where the claim is expected to fail, a wrong figure would pass for that failure.
        raise RuntimeError(f"{record.claim.id}: {'; '.join(record.misprints)}")
    if record.expected == "depends" and decision.verdict != Verdict.INCONCLUSIVE:
        raise RecordContradicted(
            f"{record.claim.id} is on record as depending on the seed or the machine, and is decided now:"
            f" {decision.verdict}. {decision.sentence} Change expect, and take the mark @depends_on_seed off the check"
        )
    if decision.verdict == Verdict.REFUTED:
        if record.claim.expect == "open":
            pytest.skip(f"refuted, and on record as open: {decision.sentence}")
        raise ClaimRefuted(decision.sentence)
    if decision.verdict == Verdict.INCONCLUSIVE:
        if record.contradicted:
            raise RecordContradicted(f"{record.claim.id} {record.contradicted}. {decision.sentence}")
        pytest.skip(f"inconclusive: {decision.sentence}")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Let the record travel with the report, to the controller and into JUnit XML; tell bad input in one line."""
    record = item.stash.get(RECORD, None)
    if record is not None and call.when == "call":
        decisions = [*record.decisions, *record.notes]
        weakest = record.weakest
        item.user_properties += [
            ("claim", record.claim.id),
            ("verdict", _verdict(record, call)),
            ("nodes", record.nodes),
            ("recorded", len(record.measurements) + len(decisions) + len(record.curves) + len(record.settings)),
            ("wins", [weakest.wins, weakest.seeds] if weakest is not None else []),
            ("contradicted", isinstance(call.excinfo.value, RecordContradicted) if call.excinfo else False),
            *((f"figure: {row['figure']}", str(row["measured"])) for row in record.measurements),
            *(("measurement", row) for row in record.measurements),
            *(("decision", _row(decision)) for decision in decisions),
            *(("curve", row) for row in record.curves),
            *(("setting", row) for row in record.settings.values()),
        ]
    report = yield
    if call.excinfo is not None and isinstance(call.excinfo.value, BAD_INPUT):
        report.longrepr = str(call.excinfo.value)
    return report


def _row(decision: Decision) -> dict[str, Any]:
    """Return a decision in plain values, as it travels to the controller."""
    row = {
        name: getattr(decision, name) for name in ("sentence", "rule", "estimate", "low", "high", "p", "level", "seeds")
    }
    return {**row, "verdict": str(decision.verdict), "wins": decision.tested.wins if decision.tested else None}


def _verdict(record: Record, call: pytest.CallInfo[None]) -> str:
    raised = call.excinfo.value if call.excinfo is not None else None
    if raised is None:
        return str(Verdict.HOLDS)
    if isinstance(raised, (ClaimRefuted, RecordContradicted, pytest.skip.Exception)):
        # A check that skips itself has not been settled.
        return str(record.verdict) if record.verdict is not None else "not run"
    return "error"

"""The training runs of a session, and how its workers share the work of making them.

Workers that need the same runs meet in the run store. A worker that would wait there for another, or that has no
checks left, makes runs ahead of the checks that will need them, and runs that another worker asks for, so that no core
is idle while there is something to train.
"""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, cast

import pytest

from claims.asking import Asking
from claims.plugin.options import SESSION, device_with_its_settings, is_worker
from claims.traceability import check_id

if TYPE_CHECKING:
    from claims.run_store import RunStore
    from lessons.recipes import Recipe

OPENED = pytest.StashKey["RunStore"]()
ASKING = pytest.StashKey[Asking]()


@pytest.fixture(scope="session")
def seeds(pytestconfig: pytest.Config) -> tuple[int, ...]:
    """Return the seeds of this session."""
    return _seeds(pytestconfig)


def _seeds(config: pytest.Config) -> tuple[int, ...]:
    first = config.getoption("first_seed")
    return tuple(range(first, first + config.getoption("seeds")))


@pytest.hookimpl(tryfirst=True)
def pytest_collection_finish(session: pytest.Session) -> None:
    """Be at work before any worker can run out of checks, which starts when all of them have collected theirs."""
    config = session.config
    if is_worker(config) and SESSION in config.stash:
        worker = config.workerinput  # type: ignore[attr-defined]
        folder = Path(config.getoption("run_store"), "asking")
        with contextlib.suppress(OSError):  # opening the store says what is wrong with it
            config.stash[ASKING] = Asking(folder, worker["claims_session"], worker["workerid"])


@pytest.fixture(scope="session")
def run_store(request: pytest.FixtureRequest) -> RunStore:
    """Return the store of training runs that this session's workers share."""
    return _opened(request.session)


def _opened(session: pytest.Session) -> RunStore:
    config = session.config
    if OPENED not in config.stash:
        from claims.run_store import RunStore

        named = recipes_named(session) if is_worker(config) else []
        config.stash[OPENED] = RunStore(
            Path(config.getoption("run_store")),
            ahead=_with_seeds(_surely_needed(session, named), config),
            known=_with_seeds(named, config),
            asking=config.stash.get(ASKING, None),
        )
    return config.stash[OPENED]


def recipes_named(session: pytest.Session) -> list[Recipe]:
    """Return the recipes that the modules of a session's checks name at their top level.

    The pages' own come last and from the end, because the checks come from the beginning; the others are more often
    long.
    """
    from lessons.recipes import PAGE_RUNS

    modules = dict.fromkeys(item.module for item in session.items if isinstance(item, pytest.Function))
    named = dict.fromkeys(
        recipe for module in modules for value in vars(module).values() for recipe in recipes_in(value)
    )
    of_pages = list(dict.fromkeys(reversed(PAGE_RUNS.values())))
    return [recipe for recipe in named if recipe not in of_pages] + [recipe for recipe in of_pages if recipe in named]


def _surely_needed(session: pytest.Session, named: Sequence[Recipe]) -> list[Recipe]:
    """Return those of the recipes that the checks of this session are sure to need; none unless it runs them all."""
    from claims.record import FEWEST_SEEDS
    from lessons.recipes import PAGE_RUNS

    if session.config.option.maxfail or not _runs_everything(session):
        return []
    of_pages = set(PAGE_RUNS.values())
    return [recipe for recipe in named if recipe in of_pages or len(_seeds(session.config)) >= FEWEST_SEEDS]


def _with_seeds(recipes: Sequence[Recipe], config: pytest.Config) -> list[tuple[Recipe, int]]:
    return [(recipe, seed) for seed in dict.fromkeys([0, *_seeds(config)]) for recipe in recipes]


def _runs_everything(session: pytest.Session) -> bool:
    return set(session.config.stash[SESSION].checks) <= {check_id(item.nodeid) for item in session.items}


def recipes_in(value: object) -> Iterator[Recipe]:
    """Yield the recipes in a value: itself if it is one, or those in a mapping."""
    if isinstance(value, Mapping):
        for item in value.values():
            yield from recipes_in(item)
    elif is_dataclass(value) and not isinstance(value, type) and callable(getattr(value, "run", None)):
        yield cast("Recipe", value)


@pytest.hookimpl(wrapper=True)
def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> Generator[None, None, None]:
    """Make the runs that other workers need, when this one has no checks left."""
    if ASKING in session.config.stash and exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
        from claims.run_store import RunStoreError

        with contextlib.suppress(RunStoreError):  # a check that needs the store will say so
            _opened(session).help_until_the_others_are_done(device_with_its_settings(session.config))
    return (yield)


@pytest.hookimpl(trylast=True)
def pytest_unconfigure(config: pytest.Config) -> None:
    """Spare a process that ends the last sweep over torch's objects, which takes it a second."""
    if SESSION in config.stash:
        gc.freeze()

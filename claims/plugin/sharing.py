"""The training runs of a session, and how its workers share the work of making them.

Workers that need the same runs meet in the run store. A worker that would wait there for another, or that has no
checks left, makes runs ahead of the checks that will need them, so that no core is idle while there is something to
train.
"""

from __future__ import annotations

import gc
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, cast

import pytest

from claims.plugin.options import SESSION, is_worker
from claims.traceability import check_id

if TYPE_CHECKING:
    import torch

    from claims.run_store import RunStore
    from lessons.recipes import Recipe

SHARED = pytest.StashKey[tuple["RunStore", "torch.device"]]()


@pytest.fixture(scope="session")
def seeds(pytestconfig: pytest.Config) -> tuple[int, ...]:
    """Return the seeds of this session."""
    first = pytestconfig.getoption("first_seed")
    return tuple(range(first, first + pytestconfig.getoption("seeds")))


@pytest.fixture(scope="session")
def run_store(request: pytest.FixtureRequest, seeds: tuple[int, ...], session_device: torch.device) -> RunStore:
    """Return the store of training runs that this session's workers share."""
    from claims.run_store import RunStore

    config = request.config
    wanted = _needed_recipes(request.session, seeds) if is_worker(config) else []
    ahead = [(recipe, seed) for seed in dict.fromkeys([0, *seeds]) for recipe in wanted]
    store = RunStore(Path(config.getoption("run_store")), ahead)
    config.stash[SHARED] = (store, session_device)
    return store


def _needed_recipes(session: pytest.Session, seeds: Sequence[int]) -> list[Recipe]:
    """Return the recipes that the checks of this session are sure to need; none unless it runs them all.

    They are what the checks' modules name at their top level. The pages' own come last and from the end, because the
    checks come from the beginning; the others are more often long.
    """
    from claims.record import FEWEST_SEEDS
    from lessons.recipes import PAGE_RUNS

    if session.config.option.maxfail or not _runs_everything(session):
        return []
    of_pages = list(dict.fromkeys(reversed(PAGE_RUNS.values())))
    if len(seeds) < FEWEST_SEEDS:
        return of_pages
    modules = dict.fromkeys(item.module for item in session.items if isinstance(item, pytest.Function))
    named = dict.fromkeys(
        recipe for module in modules for value in vars(module).values() for recipe in recipes_in(value)
    )
    return [recipe for recipe in named if recipe not in of_pages] + of_pages


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
    """Go on with the runs that other workers will need, when this one has no checks left."""
    if SHARED in session.config.stash and exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
        store, device = session.config.stash[SHARED]
        while store.make_ahead(device):
            pass
    return (yield)


@pytest.hookimpl(trylast=True)
def pytest_unconfigure(config: pytest.Config) -> None:
    """Spare a process that ends the last sweep over torch's objects, which takes it a second."""
    if SESSION in config.stash:
        gc.freeze()

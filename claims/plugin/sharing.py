"""The training runs of a session, and how its workers share the work of making them.

Workers that need the same runs meet in the run store. A worker that would wait there for another, or that has no
checks left, makes runs of the pages ahead of the checks that will need them, so that no core is idle while there is
something to train.
"""

from __future__ import annotations

import gc
from collections.abc import Generator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from claims.plugin.options import SESSION, is_worker
from claims.traceability import check_id

if TYPE_CHECKING:
    import torch

    from claims.run_store import RunStore

EVERYTHING = pytest.StashKey[bool]()
"""Whether the session runs every check there is, so that every run of the pages is needed."""

SHARED = pytest.StashKey[tuple["RunStore", "torch.device"]]()


@pytest.fixture(scope="session")
def seeds(pytestconfig: pytest.Config) -> tuple[int, ...]:
    """Return the seeds of this session."""
    first = pytestconfig.getoption("first_seed")
    return tuple(range(first, first + pytestconfig.getoption("seeds")))


@pytest.fixture(scope="session")
def run_store(pytestconfig: pytest.Config, seeds: tuple[int, ...], session_device: torch.device) -> RunStore:
    """Return the store of training runs that this session's workers share."""
    from claims.run_store import RunStore
    from lessons.recipes import PAGE_RUNS

    # From the end, because the checks come from the beginning.
    recipes = list(dict.fromkeys(reversed(PAGE_RUNS.values())))
    ahead = [(recipe, seed) for seed in dict.fromkeys([0, *seeds]) for recipe in recipes]
    store = RunStore(
        Path(pytestconfig.getoption("run_store")), ahead if pytestconfig.stash.get(EVERYTHING, False) else ()
    )
    pytestconfig.stash[SHARED] = (store, session_device)
    return store


def pytest_collection_finish(session: pytest.Session) -> None:
    """Note in a worker whether all checks are to run."""
    config = session.config
    if is_worker(config) and SESSION in config.stash and not config.option.maxfail:
        config.stash[EVERYTHING] = set(config.stash[SESSION].checks) <= {
            check_id(item.nodeid) for item in session.items
        }


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

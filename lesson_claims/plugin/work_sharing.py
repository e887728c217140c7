"""The runs of a session, and how its workers share the work of making them.

Workers that need the same runs meet in the run store. A worker that would wait there for another, or that has no
checks left, makes runs ahead of the checks that will need them, and runs that another worker asks for, so that no core
is idle while there is something to train.
"""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, is_dataclass
from pathlib import Path
from typing import cast

import pytest

from lesson_claims.plugin.options import SESSION, device_with_its_settings, is_worker
from lesson_claims.record import FEWEST_TO_DECIDE
from lesson_claims.runs.recipe import Recipe, is_seedless
from lesson_claims.runs.requests import Requests
from lesson_claims.runs.store import RunStore, RunStoreError
from lesson_claims.traceability import check_id

OPENED = pytest.StashKey[RunStore]()
REQUESTS = pytest.StashKey[Requests]()


def seeds_of(config: pytest.Config, lesson: str, number: int) -> tuple[int, ...]:
    """Return so many of the seeds over which this session decides the claims of a lesson."""
    return config.stash[SESSION].seeds(lesson, config.getoption("first_seed"), number)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_finish(session: pytest.Session) -> None:
    """Count as at work before any worker can run out of checks: that begins when all have collected theirs."""
    config = session.config
    if is_worker(config) and SESSION in config.stash:
        worker = config.workerinput  # type: ignore[attr-defined]
        folder = Path(config.getoption("run_store"), "requests")
        with contextlib.suppress(OSError):  # opening the store says what is wrong with it
            config.stash[REQUESTS] = Requests(folder, worker["claims_session"], worker["workerid"])


@pytest.fixture(scope="session")
def run_store(request: pytest.FixtureRequest) -> RunStore:
    """Return the store of training runs that this session's workers share."""
    return _opened(request.session)


def _opened(session: pytest.Session) -> RunStore:
    config = session.config
    if OPENED not in config.stash:
        named = named_runs(session) if is_worker(config) else []
        config.stash[OPENED] = RunStore(
            Path(config.getoption("run_store")),
            ahead=_with_seeds(_surely_needed(session, named), config, config.stash[SESSION].looks.first),
            known=_with_seeds(named, config, config.stash[SESSION].looks.most),
            requests=config.stash.get(REQUESTS, None),
            declared=config.stash[SESSION].project.packages,
        )
    return config.stash[OPENED]


@dataclass(frozen=True)
class NamedRecipe:
    """A recipe that a module of checks names, and the lesson of these checks."""

    recipe: Recipe
    lesson: str


def named_runs(session: pytest.Session) -> list[NamedRecipe]:
    """Return the recipes that the modules of a session's checks name at their top level.

    The pages' own come last and from the end, because the checks come from the beginning; the others are more often
    long.
    """
    known = session.config.stash[SESSION]
    modules: dict[object, str] = {}
    for item in session.items:
        if isinstance(item, pytest.Function) and (check := known.checks.get(check_id(item.nodeid))):
            modules.setdefault(item.module, known.registry.claims[check.claim].lesson)
    named = dict.fromkeys(
        NamedRecipe(recipe, lesson)
        for module, lesson in modules.items()
        for value in vars(module).values()
        for recipe in recipes_in(value)
    )
    of_pages = [NamedRecipe(recipe, lesson) for lesson, runs in known.page_runs.items() for recipe in runs]
    return [each for each in named if each not in of_pages] + [each for each in reversed(of_pages) if each in named]


def _surely_needed(session: pytest.Session, named: Sequence[NamedRecipe]) -> list[NamedRecipe]:
    """Return those of the recipes that the checks of this session are sure to need; none unless it runs them all."""
    if session.config.option.maxfail or not _runs_everything(session):
        return []
    enough = session.config.stash[SESSION].looks.most >= FEWEST_TO_DECIDE
    known = session.config.stash[SESSION]
    return [each for each in named if enough or known.made_by_page(each.recipe, each.lesson)]


def _with_seeds(named: Sequence[NamedRecipe], config: pytest.Config, number: int) -> list[tuple[Recipe, int]]:
    """Return the runs of recipes: at the pages' seeds first, then at so many of the session's, seed by seed."""
    lessons = config.stash[SESSION].registry.lessons
    at_page = [(each.recipe, lessons[each.lesson].page_seed) for each in named]
    seeds = {lesson: seeds_of(config, lesson, number) for lesson in lessons}
    moved = [each for each in named if not is_seedless(each.recipe)]
    over_seeds = [(each.recipe, seeds[each.lesson][place]) for place in range(number) for each in moved]
    return list(dict.fromkeys([*at_page, *over_seeds]))


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
    if REQUESTS in session.config.stash:
        if exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
            with contextlib.suppress(RunStoreError):  # a check that needs the store will say so
                _opened(session).help_until_the_others_are_done(device_with_its_settings(session.config))
        else:
            session.config.stash[REQUESTS].stop()  # an interrupted process lives on, and others would wait for it
    return (yield)


@pytest.hookimpl(trylast=True)
def pytest_unconfigure(config: pytest.Config) -> None:
    """Spare a process that ends the last sweep over torch's objects, which takes it a second."""
    if SESSION in config.stash:
        gc.freeze()

"""Which runs a worker that has nothing to do makes ahead."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any, ClassVar

import pytest
from plugin_project import forget_the_checks

from lesson_claims.looks import Looks
from lesson_claims.plugin.options import SESSION
from lesson_claims.plugin.work_sharing import NamedRecipe, _surely_needed, _with_seeds, recipes_in
from lessons.recipes import CELLS, LENGTH_SWEEP, LSTM, PAGE_RUNS, TWO_LAYERS_LONGER, Training

NAMES = [f"claims.{path.stem}" for path in sorted(Path(__file__).parent.parent.glob("claims/test_*.py"))]


@pytest.fixture(scope="module")
def modules() -> Iterator[dict[str, ModuleType]]:
    """The modules of the checks, which must go again: projects of other tests have others of the same names."""
    forget_the_checks(None)
    yield {name: importlib.import_module(name) for name in NAMES}
    forget_the_checks(None)


def test_recipes_are_found_alone_and_in_mappings_and_nothing_else_is():
    assert list(recipes_in(CELLS["rnn"])) == [CELLS["rnn"]]
    assert list(recipes_in({"a": {"b": CELLS["gru"]}, "c": 1})) == [CELLS["gru"]]
    assert list(recipes_in(LENGTH_SWEEP)) == list(LENGTH_SWEEP.values())
    for other in (type(CELLS["rnn"]), LSTM, Training(), "rnn", None, recipes_in):
        assert list(recipes_in(other)) == []


def test_recipes_in_mappings_are_hashable(modules):
    named = [recipe for module in modules.values() for value in vars(module).values() for recipe in recipes_in(value)]
    assert len(set(named)) > 40
    assert set(named) >= set(PAGE_RUNS.values()), "what a page runs, a check needs"


@pytest.mark.parametrize("module_name", NAMES)
def test_a_module_names_no_recipe_that_its_checks_do_not_use(modules, module_name):
    """An unused one would be trained for nothing, by whichever worker is idle."""
    module = modules[module_name]
    source = Path(str(module.__file__)).read_text(encoding="utf-8")
    for name, value in vars(module).items():
        if list(recipes_in(value)):
            uses = source.split(name)
            assert len(uses) > 2, f"{name} is imported or defined, and never used"


def session(items: list[str], checks: list[str], maxfail: int = 0, seeds: int = 1) -> Any:
    """A session with these items and these checks on record."""
    options = {"first_seed": 0}
    config = SimpleNamespace(
        option=SimpleNamespace(maxfail=maxfail),
        stash={
            SESSION: SimpleNamespace(
                checks=dict.fromkeys(checks),
                looks=Looks((seeds,), every_look=False),
                made_by_page=lambda recipe, lesson: recipe in PAGE_RUNS.values(),
                registry=SimpleNamespace(lessons={"a lesson": SimpleNamespace(page_seed=0)}),
                seeds=lambda lesson, first, number: tuple(range(first + 1, first + 1 + number)),
            )
        },
        getoption=options.__getitem__,
    )
    return SimpleNamespace(config=config, items=[SimpleNamespace(nodeid=name) for name in items])


def test_what_is_surely_needed_is_what_every_check_needs():
    page, other = CELLS["rnn"], TWO_LAYERS_LONGER
    named = [NamedRecipe(other, "a lesson"), NamedRecipe(page, "a lesson")]
    assert _surely_needed(session(["a", "b[1]", "b[2]"], ["a", "b"]), named) == named[1:]
    assert _surely_needed(session(["a", "b"], ["a", "b"], seeds=5), named) == named, "enough seeds to decide by"
    assert _surely_needed(session(["a"], ["a", "b"], seeds=5), named) == [], "a part of the checks"
    assert _surely_needed(session(["a"], ["a"], maxfail=1, seeds=5), named) == [], "it may end at the first failure"


@dataclass(frozen=True)
class Seedless:
    seedless: ClassVar[bool] = True

    def run(self, seed: int) -> dict[str, int]:
        return {"value": 1}


def test_runs_ahead_are_the_page_s_own_and_then_seed_by_seed_and_of_what_a_seed_moves():
    rnn, gru, still = CELLS["rnn"], CELLS["gru"], Seedless()
    named = [NamedRecipe(recipe, "a lesson") for recipe in (rnn, still, gru)]
    runs = _with_seeds(named, session(["a"], ["a"]).config, 2)
    assert runs == [(rnn, 0), (still, 0), (gru, 0), (rnn, 1), (gru, 1), (rnn, 2), (gru, 2)]

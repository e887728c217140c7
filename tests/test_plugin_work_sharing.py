"""Which runs a worker that has nothing to do makes ahead."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from plugin_project import forget_the_checks

from lesson_claims.plugin.options import SESSION
from lesson_claims.plugin.work_sharing import NamedRecipe, _surely_needed, recipes_in
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
    options = {"first_seed": 0, "seeds": seeds}
    config = SimpleNamespace(
        option=SimpleNamespace(maxfail=maxfail),
        stash={
            SESSION: SimpleNamespace(
                checks=dict.fromkeys(checks), made_by_page=lambda recipe, lesson: recipe in PAGE_RUNS.values()
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

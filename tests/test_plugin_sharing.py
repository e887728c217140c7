"""Which runs a worker that has nothing to do makes ahead."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest

from claims.plugin.sharing import recipes_in
from lessons.recipes import CELLS, LENGTH_SWEEP, LSTM, PAGE_RUNS, Training

MODULES = [
    importlib.import_module(f"claims.{path.stem}")
    for path in sorted(Path(__file__).parent.parent.glob("claims/test_*.py"))
]


def test_recipes_are_found_alone_and_in_mappings_and_nothing_else_is():
    assert list(recipes_in(CELLS["rnn"])) == [CELLS["rnn"]]
    assert list(recipes_in({"a": {"b": CELLS["gru"]}, "c": 1})) == [CELLS["gru"]]
    assert list(recipes_in(LENGTH_SWEEP)) == list(LENGTH_SWEEP.values())
    for other in (type(CELLS["rnn"]), LSTM, Training(), "rnn", None, recipes_in):
        assert list(recipes_in(other)) == []


def test_recipes_in_mappings_are_hashable():
    named = [recipe for module in MODULES for value in vars(module).values() for recipe in recipes_in(value)]
    assert len(set(named)) > 40
    assert set(named) & set(PAGE_RUNS.values())


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_a_module_names_no_recipe_that_its_checks_do_not_use(module):
    """An unused one would be trained for nothing, by whichever worker is idle."""
    source = Path(str(module.__file__)).read_text(encoding="utf-8")
    for name, value in vars(module).items():
        if list(recipes_in(value)):
            uses = source.split(name)
            assert len(uses) > 2, f"{name} is imported or defined, and never used"

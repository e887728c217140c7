from __future__ import annotations

from dataclasses import replace

from lessons.length_sweep import LARGER_BUDGET, TIMES_THE_ROWS, UNCLIPPED_SWEEP
from lessons.memory_task import MemoryTask
from lessons.recipes import LENGTH_SWEEP


def test_the_unclipped_sweep_differs_in_clipping_alone() -> None:
    assert {length for _, length in UNCLIPPED_SWEEP} == {6, 10}
    for place, recipe in UNCLIPPED_SWEEP.items():
        assert recipe.training.clip is None
        assert replace(recipe, training=replace(recipe.training, clip=1.0)) == LENGTH_SWEEP[place]


def test_the_larger_budget_differs_in_rows_alone() -> None:
    assert LARGER_BUDGET.data == MemoryTask(length=16, training_rows=8000 * TIMES_THE_ROWS)
    assert replace(LARGER_BUDGET, data=MemoryTask(length=16)) == LENGTH_SWEEP["LSTM", 16]

"""Variations on the length sweep of week07 day 5: without clipping, and with more rows to learn from."""

from __future__ import annotations

from dataclasses import replace

from lessons.memory_task import MemoryTask
from lessons.recipes import LENGTH_SWEEP, LENGTHS

UNCLIPPED_SWEEP = {
    (name, length): replace(recipe, training=replace(recipe.training, clip=None))
    for (name, length), recipe in LENGTH_SWEEP.items()
    if length < max(LENGTHS)
}
"""The sweep with nothing changed but the clipping, so that seeds pair. At length 16 nothing is learnt, and gradients
stay below the limit."""

TIMES_THE_ROWS = 4
LARGER_BUDGET = replace(
    LENGTH_SWEEP["LSTM", 16], data=MemoryTask(length=16, training_rows=TIMES_THE_ROWS * MemoryTask.training_rows)
)
"""The LSTM at length 16 with four times the rows, hence four times the steps, and the page's recipe otherwise.

More rows rather than more epochs: forty epochs over the page's own 8,000 rows left two seeds at 0.52 and 0.53.
"""

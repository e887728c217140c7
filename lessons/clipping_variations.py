"""Variations on the clipping runs of week07 day 5: what they score, and a limit a hundred times tighter."""

from __future__ import annotations

from dataclasses import replace

from lessons.memory_task import MemoryTask
from lessons.recipes import CLIPPING, PLAIN_RNN, Classification

CLIPPING_SCORED = {name: Classification(MemoryTask(), PLAIN_RNN, probe.training) for name, probe in CLIPPING.items()}
"""The page's two runs, with nothing changed, scored on rows that they have not seen."""

TIGHT_LIMIT = 0.01
TIGHTLY_CLIPPED = replace(
    CLIPPING["with clipping"], training=replace(CLIPPING["with clipping"].training, clip=TIGHT_LIMIT)
)
"""The page's clipped run with a hundredth of its limit."""

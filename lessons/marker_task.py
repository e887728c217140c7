"""A task whose evidence can stand far from the end: does the marker occur in the first half of the sequence?

A worked example at length 8, label 1 because the marker 9 stands at position 2:

    4 7 9 1 3 3 8 2
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from lessons.classifiers import Pooling, RecurrentClassifierConfig
from lessons.recipes import Classification
from lessons.splits import Split
from lessons.training import Training

MARKER = 9


def marker_task(rows: int, length: int, seed: int) -> tuple[Tensor, Tensor]:
    """Draw sequences of 1..8, and plant the marker in the first half of those labelled 1.

    Args:
        rows: number of sequences.
        length: positions per sequence, at least 2; the marker stands at one of the first length // 2.
        seed: of one CPU generator.

    Returns:
        sequences, int64 of shape (rows, length) with values 1..9, and labels, int64 of shape (rows,), 0 or 1.
    """
    generator = torch.Generator().manual_seed(seed)
    sequences = torch.randint(1, MARKER, (rows, length), generator=generator)
    labels = torch.randint(0, 2, (rows,), generator=generator)
    places = torch.randint(0, length // 2, (rows, 1), generator=generator)
    planted = sequences.scatter(1, places, MARKER)
    return torch.where(labels[:, None] == 1, planted, sequences), labels


@dataclass(frozen=True)
class MarkerTask:
    """Training rows from data seed 2s and validation rows from 2s + 1, for seed s."""

    length: int = 40
    training_rows: int = 4000
    validation_rows: int = 1000

    def split(self, seed: int) -> Split:
        """Draw both parts for seed `seed` ≥ 0; see `marker_task` for shapes."""
        return Split(
            marker_task(self.training_rows, self.length, 2 * seed),
            marker_task(self.validation_rows, self.length, 2 * seed + 1),
        )


def _pooled(pooling: Pooling) -> Classification:
    return Classification(MarkerTask(), RecurrentClassifierConfig("rnn", pooling=pooling), Training(epochs=3))


MARKER_POOLINGS = {"last": _pooled("last"), "max": _pooled("max")}
"""week07 day 3: a plain RNN for a task where pooling wins."""

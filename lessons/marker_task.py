"""A task whose evidence stands where we want it: does the sequence contain the marker?

A worked example at length 8 with the marker 9 anywhere, label 1 because it stands at position 2:

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


def marker_task(rows: int, length: int, seed: int, first: int = 0) -> tuple[Tensor, Tensor]:
    """Draw sequences of 1..8, and plant one marker in those labelled 1, at any position from `first` on.

    Args:
        rows: number of sequences.
        length: positions per sequence, at least 1.
        seed: of one CPU generator.
        first: 0..length − 1.

    Returns:
        sequences, int64 of shape (rows, length) with values 1..9, and labels, int64 of shape (rows,), 0 or 1.
    """
    generator = torch.Generator().manual_seed(seed)
    sequences = torch.randint(1, MARKER, (rows, length), generator=generator)
    labels = torch.randint(0, 2, (rows,), generator=generator)
    places = torch.randint(first, length, (rows, 1), generator=generator)
    planted = sequences.scatter(1, places, MARKER)
    return torch.where(labels[:, None] == 1, planted, sequences), labels


@dataclass(frozen=True)
class MarkerTask:
    """Training rows from data seed 2s and validation rows from 2s + 1, for seed s; the marker from `first` on."""

    first: int = 0
    length: int = 40
    training_rows: int = 4000
    validation_rows: int = 1000

    def split(self, seed: int) -> Split:
        """Draw both parts for seed `seed` ≥ 0; see `marker_task` for shapes."""
        return Split(
            marker_task(self.training_rows, self.length, 2 * seed, self.first),
            marker_task(self.validation_rows, self.length, 2 * seed + 1, self.first),
        )


ANYWHERE = MarkerTask()
AT_THE_END = MarkerTask(first=36)
"""The marker stands at one of the last four of 40 positions."""


def _poolings(task: MarkerTask) -> dict[str, Classification]:
    poolings: tuple[Pooling, ...] = ("last", "mean", "max")
    return {
        pooling: Classification(task, RecurrentClassifierConfig("rnn", pooling=pooling), Training(epochs=3))
        for pooling in poolings
    }


MARKER_ANYWHERE = _poolings(ANYWHERE)
MARKER_AT_THE_END = _poolings(AT_THE_END)
"""week07 day 3: a plain RNN for two tasks that ask for different poolings."""

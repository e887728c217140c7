"""The memory task of week07: does the digit at position 0 occur again?

A worked example, the first two rows that data seed 0 gives at length 8:

    9 5 6 2 6 6 4 7   label 0   (9 never returns)
    1 6 6 3 3 5 3 1   label 1   (1 returns at the last position)
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

from lessons.splits import Source, Split

VOCABULARY = 10
"""Tokens 0..9; 0 is never drawn, so that it is free to mean padding or "hidden"."""


def memory_task(rows: int, length: int, seed: int) -> tuple[Tensor, Tensor]:
    """Draw sequences and labels in the page's own order of random draws.

    Args:
        rows: number of sequences, at least 1.
        length: positions per sequence, at least 2.
        seed: the data seed, of one CPU generator.

    Returns:
        sequences, int64 of shape (rows, length) with values 1..9, and labels, int64 of shape (rows,), 0 or 1.

    Raises:
        ValueError: if rows or length is too small.
    """
    if rows < 1 or length < 2:
        raise ValueError(f"the memory task needs at least 1 row and 2 positions, got {rows} and {length}")
    generator = torch.Generator().manual_seed(seed)
    first = torch.randint(1, 10, (rows, 1), generator=generator)
    rest = torch.randint(1, 9, (rows, length - 1), generator=generator)
    rest = rest + (rest >= first).long()  # skips the first digit, which so never returns by accident
    labels = torch.randint(0, 2, (rows,), generator=generator)
    place = torch.randint(0, length - 1, (rows, 1), generator=generator)
    planted = rest.scatter(1, place, first)
    rest = torch.where(labels[:, None] == 1, planted, rest)
    return torch.cat([first, rest], dim=1), labels


@dataclass(frozen=True)
class MemoryTask:
    """Training rows from data seed 2s and validation rows from 2s + 1, for seed s.

    `view` shows the model less than the row: "all" is the row itself, "first hidden" replaces position 0 by
    token 0 in every row.
    """

    length: int = 8
    training_rows: int = 8000
    validation_rows: int = 2000
    view: Literal["all", "first hidden"] = "all"

    def split(self, seed: int) -> Split:
        """Draw both parts for seed `seed` ≥ 0; see `memory_task` for shapes."""
        training = memory_task(self.training_rows, self.length, 2 * seed)
        validation = memory_task(self.validation_rows, self.length, 2 * seed + 1)
        return Split(self._seen(training), self._seen(validation))

    def source(self, inputs: Tensor, seeds: Iterable[int]) -> Source | None:
        """Return from which of these data seeds whole rows of shape (rows, length) come; None if from none of them."""
        rows, length = inputs.shape
        for seed in seeds:
            sequences, labels = memory_task(rows, length, seed)
            if torch.equal(sequences, inputs.cpu()):
                return Source(seed, rows, length, labels)
        return None

    def _seen(self, part: tuple[Tensor, Tensor]) -> tuple[Tensor, Tensor]:
        sequences, labels = part
        if self.view == "first hidden":
            sequences = sequences.clone()
            sequences[:, 0] = 0
        return sequences, labels

"""What every data set hands to training: a training part, a validation part, and further parts to look at.

And where rows that a run has used come from.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from torch import Tensor

Part = tuple[Tensor, Tensor]
"""Inputs, int64 of shape (rows, length), and labels, int64 of shape (rows,)."""


@dataclass(frozen=True)
class Split:
    """The parts of a data set. `others` are evaluated too, each under its name, and never trained on."""

    training: Part
    validation: Part
    others: dict[str, Part] = field(default_factory=dict)


@dataclass(frozen=True)
class Source:
    """Where rows come from, found by drawing the data again.

    Attributes:
        seed: the data seed.
        rows: how many they are; or which ones of how many, such as "1 to 1200 of 1500".
        length: positions of the data's sequences.
        labels: theirs, int64 of shape (rows,), or (rows, …) where every position has one.
        contents: what else can be told from the rows, by name.
    """

    seed: int
    rows: int | str
    length: int
    labels: Tensor
    contents: dict[str, str] = field(default_factory=dict)

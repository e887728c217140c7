"""What every data set hands to training: a training part, a validation part, and further parts to look at."""

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

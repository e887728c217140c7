"""A run that goes well until its recurrence starts to expand: a linear recurrence learns to keep a running total.

The recurrence contracts at first. A total over many steps needs a recurrence that neither forgets nor expands, so
training raises its gain towards 1; one step beyond it, gradients grow exponentially in the length of the sequence.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from lessons.recurrence import identity, states
from lessons.training import Step, Training, train

START_GAIN = 0.6
"""Factor by which the recurrence multiplies its state at each step, before training."""


def running_totals(rows: int, length: int, seed: int) -> tuple[Tensor, Tensor]:
    """Draw sequences of numbers, evenly from −1..1, and a quarter of each one's total.

    Args:
        rows: number of sequences.
        length: numbers per sequence.
        seed: of one CPU generator.

    Returns:
        float of shape (rows, length), and float of shape (rows,).
    """
    generator = torch.Generator().manual_seed(seed)
    numbers = 2 * torch.rand(rows, length, generator=generator) - 1
    return numbers, numbers.sum(dim=1) / 4


class LinearRecurrence(nn.Module):
    """State to state by one matrix, without a nonlinearity to bound it; weights from the global generator."""

    def __init__(self, hidden: int) -> None:
        super().__init__()
        self.input_weights = nn.Parameter(torch.randn(1, hidden) / 4)
        self.state_weights = nn.Parameter(START_GAIN * torch.eye(hidden))
        self.head = nn.Parameter(torch.randn(hidden) / 4)

    def forward(self, numbers: Tensor) -> Tensor:
        """Read float numbers of shape (batch, length); returns one float per sequence, shape (batch,)."""
        visited = states(numbers[:, :, None], self.input_weights, self.state_weights, activation=identity)
        return visited[-1] @ self.head


class _Diverged(Exception):  # noqa: N818  it stops a training run, and nothing went wrong in the suite
    """A loss or a parameter is no longer a finite number."""


@dataclass(frozen=True)
class RunningTotal:
    """Learn the running total with plain SGD, on rows that are all seen once, and stop where a number breaks down.

    Attributes:
        clip: largest gradient norm, or None.
        learning_rate: one at which an unclipped run goes well as long as the recurrence contracts.
        steps: at most.
        batch_size: rows per step.
        length: numbers per sequence.
        hidden: size of the state.
    """

    clip: float | None
    learning_rate: float = 0.03
    steps: int = 200
    batch_size: int = 32
    length: int = 50
    hidden: int = 16

    def run(self, seed: int, device: torch.device) -> dict[str, Any]:
        """Train and watch; `seed` is the data seed and the global seed.

        Returns:
            `diverged`, whether a loss or a parameter became infinite or NaN; `steps`, the steps whose loss was finite;
            `losses` of these steps, each before its update, so that runs of unequal length have lists of unequal
            length; `first loss` and `lowest loss`. All numbers are finite and ≥ 0.
        """
        numbers, totals = running_totals(self.steps * self.batch_size, self.length, seed)
        torch.manual_seed(seed)
        model = LinearRecurrence(self.hidden).to(device)
        losses: list[float] = []

        def observe(step: Step) -> None:
            if not math.isfinite(step.loss):
                raise _Diverged
            losses.append(step.loss)
            if not all(parameter.isfinite().all() for parameter in step.model.parameters()):
                raise _Diverged

        training = Training("sgd", self.learning_rate, epochs=1, batch_size=self.batch_size, clip=self.clip)
        diverged = False
        try:
            train(
                model,
                numbers.to(device),
                totals.to(device),
                training,
                loss_function=functional.mse_loss,
                observe=observe,
            )
        except _Diverged:
            diverged = True
        return {
            "diverged": diverged,
            "steps": len(losses),
            "losses": losses,
            "first loss": losses[0],
            "lowest loss": min(losses),
        }


UNCLIPPED_TOTAL = RunningTotal(clip=None)
CLIPPED_TOTAL = RunningTotal(clip=1.0)
"""week07 day 5: the same run without and with clipping."""

"""A run that goes well until one batch comes in other units: a linear recurrence learns to keep a running total.

A total over many steps needs a recurrence that neither forgets nor expands, and training brings it there slowly. One
batch of numbers that are a hundred times as large, as when centimetres stand where metres belong, then gives a gradient
that throws an unclipped run far beyond that point; and what expands grows exponentially in the length of the sequence.
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

WINDOW = 10
"""Steps over which a loss is averaged."""


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


def _mean(values: list[float]) -> float:
    return math.fsum(values) / len(values)


@dataclass(frozen=True)
class RunningTotal:
    """Learn the running total with plain SGD, on rows that are all seen once, and stop where a number breaks down.

    Attributes:
        clip: largest gradient norm, or None.
        learning_rate: one at which an unclipped run goes well until the bad batch comes.
        steps: at most.
        bad_batch: the batch, counted from 0, whose numbers and totals come in other units.
        factor: how many times as large they are.
        batch_size: rows per step.
        length: numbers per sequence.
        hidden: size of the state.
    """

    clip: float | None
    learning_rate: float = 2.5e-3
    steps: int = 240
    bad_batch: int = 190
    factor: float = 100.0
    batch_size: int = 128
    length: int = 50
    hidden: int = 16

    def run(self, seed: int, device: torch.device) -> dict[str, Any]:
        """Train and watch; `seed` is the data seed and the global seed.

        Returns:
            `diverged`, whether a loss or a parameter became infinite or NaN; `steps`, the steps whose loss was finite;
            `losses` of these steps, each before its update, so that runs of unequal length have lists of unequal
            length; the mean over ten of them, `first loss` from the first on, `loss before the bad batch`, and `last
            loss`. All numbers are finite and ≥ 0.
        """
        numbers, totals = running_totals(self.steps * self.batch_size, self.length, seed)
        bad = slice(self.bad_batch * self.batch_size, (self.bad_batch + 1) * self.batch_size)
        torch.manual_seed(seed)
        model = LinearRecurrence(self.hidden).to(device)
        losses: list[float] = []

        def observe(step: Step) -> None:
            if not math.isfinite(step.loss):
                raise _Diverged
            losses.append(step.loss)
            if not all(parameter.isfinite().all() for parameter in step.model.parameters()):
                raise _Diverged

        def learn(numbers: Tensor, totals: Tensor) -> None:
            training = Training("sgd", self.learning_rate, epochs=1, batch_size=self.batch_size, clip=self.clip)
            rows = numbers.to(device), totals.to(device)
            train(model, *rows, training, loss_function=functional.mse_loss, observe=observe)

        diverged = False
        try:
            # Plain SGD remembers nothing, so that the three calls are one run.
            learn(numbers[: bad.start], totals[: bad.start])
            learn(self.factor * numbers[bad], self.factor * totals[bad])
            learn(numbers[bad.stop :], totals[bad.stop :])
        except _Diverged:
            diverged = True
        return {
            "diverged": diverged,
            "steps": len(losses),
            "losses": losses,
            "first loss": _mean(losses[:WINDOW]),
            "loss before the bad batch": _mean(losses[: self.bad_batch][-WINDOW:]),
            "last loss": _mean(losses[-WINDOW:]),
        }


UNCLIPPED_TOTAL = RunningTotal(clip=None)
CLIPPED_TOTAL = RunningTotal(clip=1.0)
"""week07 day 5: the same run without and with clipping."""

LOOSELY_CLIPPED_TOTAL = RunningTotal(clip=1000.0)
TIGHTLY_CLIPPED_TOTAL = RunningTotal(clip=0.01)
"""The same with a thousand times the limit, and with a hundredth of it."""

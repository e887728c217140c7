"""How far clipping turns the step that an optimiser takes from one and the same state."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from lessons.classifiers import RecurrentClassifierConfig
from lessons.memory_task import MemoryTask
from lessons.optimizers import OPTIMIZERS, Optimizer
from lessons.recipes import CLIPPING
from lessons.training import Training, flatten, global_norm, shuffled_batches


def angle(a: Tensor, b: Tensor) -> float:
    """Angle between two vectors in degrees, 0..180, precise near 0 as well (Kahan's formula); shapes (n,)."""
    a, b = a.double() / a.double().norm(), b.double() / b.double().norm()
    return math.degrees(2 * math.atan2((a - b).norm().item(), (a + b).norm().item()))


@torch.no_grad()
def step(parameters: nn.Parameter, update: Optimizer) -> Tensor:
    """Let the optimiser make one update, in place; return the change, shape (parameters,)."""
    before = parameters.detach().clone()
    update()
    return parameters.detach() - before


@dataclass(frozen=True)
class TurnedSteps:
    """Train with clipping. Wherever it acts, take the step without it first, and go back before the one with it.

    Attributes:
        training: the recipe, with clipping.
        model: what is trained.
        data: on what.
    """

    training: Training
    model: RecurrentClassifierConfig = RecurrentClassifierConfig("rnn")
    data: MemoryTask = MemoryTask()

    def run(self, seed: int, device: torch.device) -> dict[str, Any]:
        """Train and measure; `seed` is that of the data and of the weights.

        Returns:
            `clipped steps`, in how many steps clipping acted; the `largest turn` and the `median turn` of these
            steps, in degrees 0..180; the `largest ratio` of a clipped step's length to the unclipped one's. At least
            one step must have been clipped.
        """
        clip = self.training.clip or math.inf
        inputs, labels = (part.to(device) for part in self.data.split(seed).training)
        torch.manual_seed(seed)
        model = self.model.build().to(device)
        each = list(model.parameters())
        flat = flatten(model)
        update = OPTIMIZERS[self.training.optimizer]([flat], self.training.learning_rate)
        turns: list[float] = []
        ratios: list[float] = []
        for _ in range(self.training.epochs):
            for batch, targets in shuffled_batches(inputs, labels, self.training.batch_size):
                flat.grad = torch.zeros_like(flat) if flat.grad is None else flat.grad.zero_()
                functional.cross_entropy(model(batch), targets).backward()  # type: ignore[no-untyped-call]
                norm = global_norm([parameter.grad for parameter in each if parameter.grad is not None])
                if norm > clip:
                    kept = [tensor.detach().clone() for tensor in (flat, *update.state)]
                    unclipped = step(flat, update)
                    with torch.no_grad():
                        for tensor, value in zip((flat, *update.state), kept, strict=True):
                            tensor.copy_(value)
                    nn.utils.clip_grads_with_norm_([flat], clip, norm)
                    clipped = step(flat, update)
                    turns.append(angle(clipped, unclipped))
                    ratios.append((clipped.norm() / unclipped.norm()).item())
                else:
                    update()
        return {
            "clipped steps": len(turns),
            "largest turn": max(turns),
            "median turn": torch.tensor(turns).median().item(),
            "largest ratio": max(ratios),
        }


ADAM_TURNED = TurnedSteps(CLIPPING["with clipping"].training)
"""week07 day 5: the page's clipped run."""

SGD_TURNED = TurnedSteps(Training("sgd", 0.5, epochs=1, clip=0.1, reseed=False))
"""Plain SGD, whose gradients here hardly reach 1, so that the limit is lower."""

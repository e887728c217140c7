"""What clipping the gradient norm changes: the gradient handed to the optimiser, and the step that is then taken."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from lessons.classifiers import Cell, RecurrentClassifierConfig
from lessons.memory_task import MemoryTask, memory_task
from lessons.observation import Observation
from lessons.settings import observed_settings
from lessons.training import Step, Training, train


def gradient_vector(model: nn.Module) -> Tensor:
    """Concatenate a model's gradients, in float64 of shape (parameters,)."""
    return torch.cat([p.grad.double().reshape(-1) for p in model.parameters() if p.grad is not None])


def parameter_vector(model: nn.Module) -> Tensor:
    """Concatenate a model's parameters, in float64 of shape (parameters,)."""
    return torch.cat([p.detach().double().reshape(-1) for p in model.parameters()])


@dataclass(frozen=True)
class ClippingProbe:
    """A training run that looks at every step: the gradient before and after clipping, and the parameters' change.

    Attributes:
        training: the recipe, with or without clipping.
        model: what is trained.
        data: on what.
    """

    training: Training
    model: RecurrentClassifierConfig = RecurrentClassifierConfig("rnn")
    data: MemoryTask = MemoryTask()

    def run(self, seed: int, device: torch.device) -> dict[str, Any]:
        """Train as `Classification` does, and measure.

        Returns:
            for each step `norms before` and `norms after` clipping, of all gradients together, and `changes`, the
            Euclidean norm of the change of all parameters together; and at the page's seed `settings`, what was seen
            of how the run was made.
        """
        inputs, labels = (part.to(device) for part in self.data.split(seed).training)
        torch.manual_seed(seed)
        model = self.model.build().to(device)
        if self.training.reseed:
            torch.manual_seed(seed)
        after: list[float] = []
        changes: list[float] = []
        parameters = parameter_vector(model)

        def observe(step: Step) -> None:
            nonlocal parameters
            before_step, parameters = parameters, parameter_vector(step.model)
            after.append(gradient_vector(step.model).norm().item())
            changes.append((parameters - before_step).norm().item())

        seen = Observation(model) if seed == 0 else None
        trace = train(model, inputs, labels, self.training, observe=observe, observation=seen)
        settings = {"settings": observed_settings(seen, self.data, self.model.build)} if seen else {}
        return {"norms before": trace.norms, "norms after": after, "changes": changes, **settings}


SGD_RATE = 0.5


def sgd(clip: float | None) -> ClippingProbe:
    """Return 50 steps of the page's model with plain SGD, at a rate that makes them large."""
    return ClippingProbe(
        Training("sgd", SGD_RATE, epochs=2, clip=clip, reseed=False), data=MemoryTask(training_rows=1600)
    )


def handed_over(cell: Cell, clip: float | None, seed: int, device: torch.device) -> tuple[float, Tensor]:
    """Take one training step on 64 rows, and look at the gradient that the optimiser was given.

    Args:
        cell: of the classifier, which is built from global seed `seed`.
        clip: largest gradient norm, or None.
        seed: of the rows too.
        device: where it runs.

    Returns:
        the norm before any clipping, and the gradient after it, float64 of shape (parameters,) on the CPU.
    """
    inputs, labels = memory_task(64, 8, seed)
    torch.manual_seed(seed)
    model = RecurrentClassifierConfig(cell).build().to(device)
    one_step = Training("sgd", epochs=1, batch_size=None, clip=clip)
    trace = train(model, inputs.to(device), labels.to(device), one_step)
    return trace.norms[0], gradient_vector(model).cpu()

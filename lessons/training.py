"""One training loop for every recipe of both lessons.

It is the plain loop over a shuffling `DataLoader`, without the loader's cost per row: batches come from the same
random draws, the parameters lie in one flat tensor so that the optimiser makes one update instead of one per
parameter, and the weights that come out are bit for bit those of the plain loop (`tests/test_lessons_training.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

import torch
from torch import Tensor, nn
from torch.nn import functional

from lessons.optimizers import OPTIMIZERS

Loss = Callable[[Tensor, Tensor], Tensor]


@dataclass(frozen=True)
class Training:
    """How a model is trained. The defaults are the training recipe of week07.

    Attributes:
        optimizer: Adam, or SGD without momentum; all but the learning rate as the library has it.
        learning_rate: step size, > 0.
        epochs: passes over the training rows, ≥ 1.
        batch_size: rows per step; None is the full batch, in order and without a random draw.
        clip: largest global norm of the gradients handed to the optimiser, or None.
        reseed: whether the global generator is seeded again between building the model and training it.
    """

    optimizer: Literal["adam", "sgd"] = "adam"
    learning_rate: float = 3e-3
    epochs: int = 10
    batch_size: int | None = 64
    clip: float | None = None
    reseed: bool = True


@dataclass
class Trace:
    """What a training run shows of itself.

    Attributes:
        losses: mean training loss of each epoch.
        norms: global gradient norm of each step before any clipping.
    """

    losses: list[float] = field(default_factory=list)
    norms: list[float] = field(default_factory=list)


@dataclass(frozen=True)
class Step:
    """What an observer sees after each step: `epoch` and `index` count from 0, the loss is before the step."""

    epoch: int
    index: int
    loss: float
    model: nn.Module


def shuffled_batches(inputs: Tensor, targets: Tensor, size: int | None) -> Iterator[tuple[Tensor, Tensor]]:
    """Yield one epoch of batches, in the order of a shuffling `DataLoader` without a generator of its own.

    Such a loader takes two numbers from the global generator: a base seed, which only worker processes use, and the
    sampler's seed, which seeds the generator of the permutation.

    Args:
        inputs: shape (rows, …).
        targets: shape (rows, …).
        size: rows per batch (the last may have fewer), or None for everything at once without a draw.
    """
    if size is None:
        yield inputs, targets
        return
    torch.empty((), dtype=torch.int64).random_()
    seed = int(torch.empty((), dtype=torch.int64).random_().item())
    permutation = torch.randperm(len(inputs), generator=torch.Generator().manual_seed(seed)).to(inputs.device)
    yield from zip(torch.split(inputs[permutation], size), torch.split(targets[permutation], size), strict=True)


def flatten(model: nn.Module) -> nn.Parameter:
    """Lay a model's parameters and their gradients into one flat tensor that shares memory with them.

    Every optimiser here works element by element, so that an update of the flat tensor is the update of all
    parameters, to the bit.

    Args:
        model: all its parameters need gradients and share one device and dtype.

    Returns:
        the flat parameter, of shape (parameters,); its `grad` holds the model's gradients.
    """
    parameters = list(model.parameters())
    flat = nn.Parameter(torch.cat([parameter.detach().reshape(-1) for parameter in parameters]))
    flat.grad = torch.zeros_like(flat)
    start = 0
    for parameter in parameters:
        end = start + parameter.numel()
        parameter.data = flat.data[start:end].view_as(parameter)
        parameter.grad = flat.grad[start:end].view_as(parameter)
        start = end
    return flat


def global_norm(gradients: Sequence[Tensor]) -> Tensor:
    """Return the norm of all gradients as if they were one vector, a float of shape ().

    It is computed as the library's clipping does, as the norm of the gradients' norms, and equal to that to the bit.
    """
    norm: Tensor = torch.linalg.vector_norm(torch.stack([torch.linalg.vector_norm(grad) for grad in gradients]))
    return norm


def train(
    model: nn.Module,
    inputs: Tensor,
    targets: Tensor,
    training: Training,
    *,
    loss_function: Loss = functional.cross_entropy,
    observe: Callable[[Step], None] | None = None,
) -> Trace:
    """Train a model in place.

    Args:
        model: on the device of the data; left in training mode.
        inputs: shape (rows, …), as the model takes them.
        targets: shape (rows, …), as the loss takes them.
        training: the recipe.
        loss_function: from (model output, targets) to a scalar.
        observe: called after each step.

    Returns:
        the losses of the epochs and the gradient norms of the steps.
    """
    model.train()
    # The kernels of a GPU want a recurrent layer's weights in their own layout, and complain about any other.
    parameters = list(model.parameters())
    updated = [flatten(model)] if inputs.device.type == "cpu" else parameters
    update = OPTIMIZERS[training.optimizer](updated, training.learning_rate)
    losses: list[list[Tensor]] = []
    norms: list[Tensor] = []
    for epoch in range(training.epochs):
        losses.append([])
        for batch, batch_targets in shuffled_batches(inputs, targets, training.batch_size):
            for parameter in updated:
                if parameter.grad is not None:
                    parameter.grad.zero_()
            loss = loss_function(model(batch), batch_targets)
            loss.backward()  # type: ignore[no-untyped-call]
            norm = global_norm([p.grad for p in parameters if p.grad is not None])
            if training.clip is not None:
                nn.utils.clip_grads_with_norm_(updated, training.clip, norm)
            update()
            losses[-1].append(loss.detach())
            norms.append(norm)
            if observe is not None:
                observe(Step(epoch, len(norms) - 1, loss.item(), model))
    # One transfer at the end: reading each loss as it comes would make a GPU wait at every step.
    return Trace(
        losses=[torch.stack(epoch_losses).mean().item() for epoch_losses in losses],
        norms=torch.stack(norms).tolist(),
    )


@torch.no_grad()
def accuracy(model: nn.Module, inputs: Tensor, labels: Tensor) -> float:
    """Share of rows whose largest logit is the label's, in eval mode; a number in 0..1."""
    model.eval()
    correct: Tensor = model(inputs).argmax(dim=-1) == labels
    return correct.double().mean().item()

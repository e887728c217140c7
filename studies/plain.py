"""The pages' training loop as a page writes it: a shuffling `DataLoader`, one update per parameter."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.utils.data import DataLoader, TensorDataset

from lessons.training import Loss, Step, Trace, Training

OPTIMIZERS: dict[str, Callable[..., torch.optim.Optimizer]] = {"adam": torch.optim.Adam, "sgd": torch.optim.SGD}


def train_plainly(
    model: nn.Module,
    inputs: Tensor,
    targets: Tensor,
    training: Training,
    *,
    loss_function: Loss = functional.cross_entropy,
    observe: Callable[[Step], None] | None = None,
) -> Trace:
    """Train as `lessons.training.train` does, the plain way."""
    model.train()
    optimizer = OPTIMIZERS[training.optimizer](model.parameters(), lr=training.learning_rate)
    data = TensorDataset(inputs, targets)
    shuffled = DataLoader(data, batch_size=training.batch_size or len(data), shuffle=True)
    trace = Trace()
    for epoch in range(training.epochs):
        losses = []
        for batch, batch_targets in shuffled if training.batch_size else [(inputs, targets)]:
            optimizer.zero_grad()
            loss = loss_function(model(batch), batch_targets)
            loss.backward()  # type: ignore[no-untyped-call]
            if training.clip is not None:
                nn.utils.clip_grad_norm_(model.parameters(), training.clip)
            optimizer.step()
            losses.append(loss.detach())
            if observe is not None:
                observe(Step(epoch, epoch * len(losses), loss.item(), model))
        trace.losses.append(torch.stack(losses).mean().item())
    trace.norms = [0.0] * training.epochs  # the pages do not look at them
    return trace


def train_each_plainly(
    model: nn.Module, inputs: Tensor, targets: Tensor, trainings: Iterable[Training]
) -> Iterator[tuple[Training, Trace]]:
    """Train as `lessons.training.train_together` does, the plain way, by one recipe alone."""
    (training,) = trainings
    yield training, train_plainly(model, inputs, targets, training)

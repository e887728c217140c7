"""Adam and SGD: the library's own updates, without the objects that it wraps around them.

Constructing an optimiser object imports the library's compiler, more than a second in every process, and each of its
steps costs about as much again as the update. The functions that the objects call give the same bits
(`tests/test_lessons_training.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import nn
from torch.optim import adam as library_adam
from torch.optim import sgd as library_sgd

Update = Callable[[], None]
"""Changes the parameters in place, by the gradients that they hold when it is called."""


def adam(parameters: Sequence[nn.Parameter], learning_rate: float) -> Update:
    """Return Adam's update with the library's defaults: β = 0.9 and 0.999, ε = 1e-8, no weight decay.

    Args:
        parameters: hold their gradients whenever the update is called.
        learning_rate: > 0.
    """
    averages = [torch.zeros_like(parameter) for parameter in parameters]
    averages_of_squares = [torch.zeros_like(parameter) for parameter in parameters]
    steps = [torch.zeros(()) for _ in parameters]

    @torch.no_grad()
    def update() -> None:
        library_adam.adam(
            list(parameters),
            [parameter.grad for parameter in parameters if parameter.grad is not None],
            averages,
            averages_of_squares,
            [],
            steps,
            amsgrad=False,
            beta1=0.9,
            beta2=0.999,
            lr=learning_rate,
            weight_decay=0.0,
            eps=1e-8,
            maximize=False,
        )

    return update


def sgd(parameters: Sequence[nn.Parameter], learning_rate: float) -> Update:
    """Return plain SGD's update: no momentum, no weight decay.

    Args:
        parameters: hold their gradients whenever the update is called.
        learning_rate: > 0.
    """

    @torch.no_grad()
    def update() -> None:
        library_sgd.sgd(
            list(parameters),
            [parameter.grad for parameter in parameters if parameter.grad is not None],
            [None for _ in parameters],
            weight_decay=0.0,
            momentum=0.0,
            lr=learning_rate,
            dampening=0.0,
            nesterov=False,
            maximize=False,
        )

    return update


OPTIMIZERS = {"adam": adam, "sgd": sgd}

"""Adam and SGD: the library's own updates, without the objects that it wraps around them.

Constructing an optimiser object imports the library's compiler, more than a second in every process, and each of its
steps costs about as much again as the update. The functions that the objects call give the same bits
(`tests/test_lessons_training.py`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.optim import adam as library_adam
from torch.optim import sgd as library_sgd


class Optimizer(ABC):
    """Changes the parameters in place, by the gradients that they hold when it is called.

    Attributes:
        state: all that it remembers from one update to the next, changed in place.
    """

    def __init__(self, parameters: Sequence[nn.Parameter], learning_rate: float) -> None:
        """Start.

        Args:
            parameters: hold their gradients whenever an update is made.
            learning_rate: > 0.
        """
        self._parameters = list(parameters)
        self._learning_rate = learning_rate
        self.state: list[Tensor] = []

    @abstractmethod
    def __call__(self) -> None:
        """Make one update."""


class Adam(Optimizer):
    """Adam with the library's defaults: β = 0.9 and 0.999, ε = 1e-8, no weight decay."""

    def __init__(self, parameters: Sequence[nn.Parameter], learning_rate: float) -> None:
        """Start with averages of 0; see `Optimizer`."""
        super().__init__(parameters, learning_rate)
        self._averages = [torch.zeros_like(parameter) for parameter in parameters]
        self._averages_of_squares = [torch.zeros_like(parameter) for parameter in parameters]
        self._steps = [torch.zeros(()) for _ in parameters]
        self.state = [*self._averages, *self._averages_of_squares, *self._steps]

    @torch.no_grad()
    def __call__(self) -> None:
        """Make one update."""
        library_adam.adam(
            list(self._parameters),
            [parameter.grad for parameter in self._parameters if parameter.grad is not None],
            self._averages,
            self._averages_of_squares,
            [],
            self._steps,
            amsgrad=False,
            beta1=0.9,
            beta2=0.999,
            lr=self._learning_rate,
            weight_decay=0.0,
            eps=1e-8,
            maximize=False,
        )


class SGD(Optimizer):
    """Plain stochastic gradient descent: no momentum, no weight decay."""

    @torch.no_grad()
    def __call__(self) -> None:
        """Make one update."""
        library_sgd.sgd(
            list(self._parameters),
            [parameter.grad for parameter in self._parameters if parameter.grad is not None],
            [None for _ in self._parameters],
            weight_decay=0.0,
            momentum=0.0,
            lr=self._learning_rate,
            dampening=0.0,
            nesterov=False,
            maximize=False,
        )


OPTIMIZERS: dict[str, type[Optimizer]] = {"adam": Adam, "sgd": SGD}

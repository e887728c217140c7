"""What a training run really does, seen by hooks on its model and by notes that the training loop leaves.

Nothing here is told what was meant: rows, order, modes, layers and dropout are read off the passes through the model.
What they amount to, in the words of a page, is in `lessons.settings`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn

Layer = tuple[nn.Module, Tensor, Tensor]
"""A layer without layers of its own, what came in and what went out; of a recurrent one, its outputs."""


LOOKED_AT = 64
"""Rows of a pass whose way through the layers is kept."""


@dataclass
class Pass:
    """One pass through the model.

    Attributes:
        tokens: what came in, shape (batch, …).
        training: whether the model was in training mode.
        layers: in the order of their calls; empty where nobody looked.
        outputs: of the model; None where nobody looked.
        gradient: of the loss in the outputs; None where nobody looked, or where no gradient came.
    """

    tokens: Tensor
    training: bool
    layers: list[Layer] = field(default_factory=list)
    outputs: Tensor | None = None
    gradient: Tensor | None = None


@dataclass
class Epoch:
    """One epoch of training. Of its passes, the first was looked into.

    Attributes:
        generator: state of the global generator on the CPU before the first batch was drawn.
        passes: one for each step.
        handed: global norm of the gradients that the optimiser was handed at each step.
    """

    generator: Tensor
    passes: list[Pass] = field(default_factory=list)
    handed: list[Tensor] = field(default_factory=list)


@dataclass(frozen=True)
class Update:
    """What the optimiser was handed and made of it: the gradient and the change, float64 of shape (parameters,)."""

    gradient: Tensor
    change: Tensor


class Observation:
    """What has been seen of a run so far.

    Attributes:
        inputs: rows handed to the training loop, in their own order.
        targets: theirs.
        initial: the parameters before the first step.
        epochs: those that led to the parameters as they are now.
        updates: of two steps from the optimiser's beginning, with gradients far beyond any limit.
        scored: passes since the last epoch of training began that belong to no step.
    """

    def __init__(self, model: nn.Module) -> None:
        """Look at all passes through a model from now on."""
        self.inputs = self.targets = torch.empty(0)
        self.initial: list[Tensor] = []
        self.epochs: list[Epoch] = []
        self.updates: list[Update] = []
        self.scored: list[Pass] = []
        self._in_epoch = self._looking = False
        self._now: Pass | None = None
        model.register_forward_pre_hook(self._begin)
        model.register_forward_hook(self._end)
        for module in model.modules():
            if not any(True for _ in module.children()):
                module.register_forward_hook(self._layer)

    def begin(self, model: nn.Module, inputs: Tensor, targets: Tensor) -> None:
        """Note what is there before the first step."""
        self.inputs, self.targets = inputs, targets
        self.initial = [parameter.detach().clone() for parameter in model.parameters()]

    def begin_epoch(self) -> None:
        """Note that the steps of an epoch follow."""
        self.epochs.append(Epoch(torch.random.get_rng_state()))
        self.scored.clear()
        self._in_epoch = True

    def end_epoch(self) -> None:
        """Note that the epoch is over."""
        self._in_epoch = False

    def before_update(self, parameters: Sequence[nn.Parameter]) -> None:
        """Note what the optimiser is handed."""
        norms = [torch.linalg.vector_norm(each.grad) for each in parameters if each.grad is not None]
        self.epochs[-1].handed.append(norms[0] if len(norms) == 1 else torch.linalg.vector_norm(torch.stack(norms)))

    def finish(self, probe: Callable[[], list[Update]]) -> None:
        """Note what the optimiser does, when the training is over."""
        scored = list(self.scored)
        self.updates = probe()
        self.scored = scored

    @property
    def looked_into(self) -> list[Pass]:
        """The first pass of each epoch."""
        return [epoch.passes[0] for epoch in self.epochs if epoch.passes]

    def _begin(self, model: nn.Module, arguments: tuple[Tensor, ...]) -> None:
        is_step = self._in_epoch and torch.is_grad_enabled()
        self._now = Pass(arguments[0], model.training)
        (self.epochs[-1].passes if is_step else self.scored).append(self._now)
        self._looking = not is_step or len(self.epochs[-1].passes) == 1

    def _layer(self, layer: nn.Module, arguments: tuple[Any, ...], output: Any) -> None:
        inputs, outputs = arguments[0], output[0] if isinstance(output, tuple) else output
        # Packed sequences, which no run of the pages has, are no tensors.
        if self._now is not None and self._looking and isinstance(inputs, Tensor) and isinstance(outputs, Tensor):
            self._now.layers.append((layer, inputs[:LOOKED_AT].detach(), outputs[:LOOKED_AT].detach()))

    def _end(self, _model: nn.Module, _arguments: tuple[Tensor, ...], outputs: Tensor) -> None:
        seen, self._now = self._now, None
        if seen is not None and self._looking:
            seen.outputs = outputs.detach()
            if outputs.requires_grad:
                outputs.register_hook(lambda gradient: setattr(seen, "gradient", gradient))  # type: ignore[no-untyped-call]

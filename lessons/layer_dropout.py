"""Where dropout acts at a recurrent layer: between the layers of a stack, or in front of and behind a layer by hand."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn import functional


def single_layers(stack: nn.RNNBase) -> list[nn.RNNBase]:
    """Take a stack of one-way layers (`batch_first`) apart: each layer on its own, with a copy of its weights."""
    cell: Callable[..., nn.RNNBase] = type(stack)
    layers: list[nn.RNNBase] = []
    for index in range(stack.num_layers):
        features = stack.input_size if index == 0 else stack.hidden_size
        with torch.random.fork_rng(
            devices=[]
        ):  # its weights are replaced; masks are drawn from the generator as it was
            layer = cell(features, stack.hidden_size, batch_first=True)
        layer.load_state_dict(
            {name: stack.state_dict()[name.replace("_l0", f"_l{index}")] for name in layer.state_dict()}
        )
        layers.append(layer)
    return layers


def stacked_by_hand(stack: nn.RNNBase, inputs: Tensor, rate: float) -> Tensor:
    """Run a stack's layers one after the other, with dropout on what each hands to the next, and nowhere else.

    Args:
        stack: one-way, `batch_first`, on the CPU.
        inputs: float of shape (batch, length, features).
        rate: probability of dropping, 0..1. Masks come from the global generator, drawn as the library draws them.

    Returns:
        the last layer's outputs, float of shape (batch, length, hidden).
    """
    first, *others = single_layers(stack)
    outputs: Tensor = first(inputs)[0]
    for layer in others:
        outputs = layer(functional.dropout(outputs, rate))[0]
    return outputs


class DropoutAround(nn.Module):
    """A recurrent layer with dropout of one's own in front of it, behind it, or both. Returns its outputs alone."""

    def __init__(self, layer: nn.RNNBase, *, in_front: float = 0.0, behind: float = 0.0) -> None:
        super().__init__()
        self.in_front = nn.Dropout(in_front)
        self.layer = layer
        self.behind = nn.Dropout(behind)

    def forward(self, inputs: Tensor) -> Tensor:
        """From float inputs of shape (batch, length, features) to outputs of shape (batch, length, hidden)."""
        outputs, _ = self.layer(self.in_front(inputs))
        dropped: Tensor = self.behind(outputs)
        return dropped


def dropped_from(values: Tensor, original: Tensor, rate: float) -> bool:
    """Say whether values are what dropout makes of the original: some 0, all others the original over 1 − rate."""
    zero = values == 0
    kept = torch.isclose(values, original / (1 - rate), rtol=1e-5, atol=0.0)
    return bool((zero | kept).all() and zero.any() and kept.any())

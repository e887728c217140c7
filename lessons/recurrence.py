"""The recurrence written by hand, and what particular weights make of it.

h_t = g(x_t·W_x + h_{t−1}·W_h + b), one step after the other, with the same weights at every step. The library's
`nn.RNN` runs this loop with g = tanh; by hand, g is free and every state can be differentiated.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn

Activation = Callable[[Tensor], Tensor]


def identity(value: Tensor) -> Tensor:
    """Return the value itself: the activation of a linear recurrence."""
    return value


def states(
    inputs: Tensor,
    input_weights: Tensor,
    state_weights: Tensor,
    bias: Tensor | float = 0.0,
    *,
    initial: Tensor | None = None,
    activation: Activation = torch.tanh,
) -> list[Tensor]:
    """Run the loop and keep every state.

    Args:
        inputs: float of shape (batch, length, features).
        input_weights: W_x, shape (features, hidden).
        state_weights: W_h, shape (hidden, hidden).
        bias: b, shape (hidden,), or one number.
        initial: h_0, shape (batch, hidden); zeros if None.
        activation: g, applied elementwise.

    Returns:
        h_0, h_1, …, h_length, each of shape (batch, hidden).
    """
    if initial is None:
        initial = inputs.new_zeros(len(inputs), len(state_weights))
    visited = [initial]
    for step in inputs.unbind(dim=1):
        visited.append(activation(step @ input_weights + visited[-1] @ state_weights + bias))
    return visited


def orthogonal(size: int, generator: torch.Generator) -> Tensor:
    """Draw a random orthogonal matrix, float64 of shape (size, size): it turns a state and keeps its norm."""
    q: Tensor = torch.linalg.qr(torch.randn(size, size, dtype=torch.float64, generator=generator)).Q
    return q


LATCH_GAIN = 2.0
"""Recurrent weight of the latch. Above 1, tanh(2h) = h has the three solutions 0 and ±0.957: two places to stay."""

LATCH_NOISE = 0.3
"""Inputs of this magnitude cannot move the latch: from 0.7 or more, tanh(2·0.7 − 0.3) = 0.80 is 0.7 or more again."""


def latch() -> nn.RNN:
    """Build a plain recurrent layer, 1→1, that keeps the sign of its first input, ±1, for ever.

    Every later input may be anything within ±`LATCH_NOISE`. tanh(1) = 0.76 writes the bit; the bound on the noise
    keeps |h| ≥ 0.7 at every step thereafter, by induction.
    """
    layer = nn.RNN(1, 1, bias=False, batch_first=True)
    layer.load_state_dict({"weight_ih_l0": torch.ones(1, 1), "weight_hh_l0": torch.full((1, 1), LATCH_GAIN)})
    return layer

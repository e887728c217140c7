"""How much of the gradient at the last step of a recurrent layer reaches the first one.

Three experiments: the page's probe (default initialisation, or a raised forget-gate bias), and a hand-written
recurrence whose gain per step is known.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from lessons.classifiers import CELLS, Cell
from lessons.recurrence import Activation, identity, orthogonal, states

LENGTHS = (5, 20, 50, 100)
"""Lengths of the page's probe, in the order in which it draws their inputs."""

ACTIVATIONS: dict[str, Activation] = {"linear": identity, "tanh": torch.tanh}


def gradient_at_first_input(layer: nn.RNNBase, inputs: Tensor) -> Tensor:
    """Differentiate the sum of the last output in the input at the first step.

    Args:
        layer: built with `batch_first=True`.
        inputs: float of shape (batch, length, features).

    Returns:
        float of shape (batch, features).
    """
    inputs = inputs.detach().requires_grad_()
    outputs, _ = layer(inputs)
    (gradient,) = torch.autograd.grad(outputs[:, -1].sum(), inputs)
    return gradient[:, 0]


def absolute_gradients(layer: nn.RNNBase, inputs: Sequence[Tensor]) -> list[float]:
    """Return |`gradient_at_first_input`| of each input of shape (1, length, 1)."""
    return [gradient_at_first_input(layer, x).abs().item() for x in inputs]


def set_forget_bias(lstm: nn.LSTM, bias: float) -> None:
    """Give all forget gates of a one-layer LSTM a bias, in place.

    A gate of bias b starts near σ(b): 0.50, 0.73, 0.95 and 0.99 for b = 0, 1, 3 and 5. The library adds two biases
    and orders the gates input, forget, cell, output; the whole of `bias` goes into the first, 0 into the second.
    """
    hidden = lstm.hidden_size
    with torch.no_grad():
        lstm.get_parameter("bias_ih_l0")[hidden : 2 * hidden] = bias
        lstm.get_parameter("bias_hh_l0")[hidden : 2 * hidden] = 0.0


@dataclass(frozen=True)
class GradientProbe:
    """week07 day 2: a layer 1→16 reads one random sequence of each length.

    Attributes:
        cell: "rnn", "gru" or "lstm".
        forget_bias: bias of the forget gates, for the LSTM alone; None leaves the library's initialisation.
        lengths: in steps, read in this order without reseeding.
        hidden: size of the state.
    """

    cell: Cell
    forget_bias: float | None = None
    lengths: tuple[int, ...] = LENGTHS
    hidden: int = 16

    def draw(self, seed: int, device: torch.device) -> tuple[nn.RNNBase, list[Tensor]]:
        """Build the layer and draw an input of shape (1, length, 1) for each length; `seed` is the global seed."""
        torch.manual_seed(seed)
        layer = CELLS[self.cell](1, self.hidden, batch_first=True)
        if self.forget_bias is not None:
            if not isinstance(layer, nn.LSTM):
                raise ValueError(f"forget_bias needs an LSTM: the cell {self.cell!r} has no forget gate")
            set_forget_bias(layer, self.forget_bias)
        layer.to(device)
        return layer, [torch.randn(1, length, 1).to(device) for length in self.lengths]

    def run(self, seed: int, device: torch.device) -> dict[str, Any]:
        """Draw and measure; the page's seed is 0.

        Returns:
            `gradients`: for each length, the absolute gradient of the last output's sum in the first input, > 0.
        """
        return {"gradients": absolute_gradients(*self.draw(seed, device))}


PLAIN_RNN_PROBE = GradientProbe("rnn")
GRU_PROBE = GradientProbe("gru")
LSTM_PROBE = GradientProbe("lstm")

FORGET_BIASES = (1.0, 3.0, 5.0)
RAISED_FORGET_GATES = {bias: GradientProbe("lstm", forget_bias=bias) for bias in FORGET_BIASES}
"""The LSTM of the probe with its forget gates held open at the start."""


@dataclass(frozen=True)
class RecurrenceProbe:
    """A hand-written recurrence with recurrent weights gain·Q, where Q is random and orthogonal.

    Each step of the linear recurrence multiplies the norm of a gradient by exactly `gain`; with tanh, by the slopes
    of tanh at the states as well, which are at most 1.

    Attributes:
        gain: factor per step, > 0.
        activation: "linear" or "tanh".
        steps: how far back to look.
        hidden: size of the state.
        input_scale: standard deviation of the inputs.
    """

    gain: float
    activation: str = "linear"
    steps: int = 100
    hidden: int = 16
    input_scale: float = 0.1

    def run(self, seed: int, device: torch.device) -> dict[str, Any]:
        """Draw weights, inputs and a unit vector v from generator seed `seed`, and measure.

        It runs in float64 on the CPU whatever `device` is, because some GPUs have no float64.

        Returns:
            `norms`: norm of the gradient of v·h_steps in the state t steps back, for t = 0..steps.
        """
        generator = torch.Generator().manual_seed(seed)
        state_weights = self.gain * orthogonal(self.hidden, generator)
        input_weights = torch.eye(self.hidden, dtype=torch.float64)
        inputs = self.input_scale * torch.randn(1, self.steps, self.hidden, dtype=torch.float64, generator=generator)
        direction = torch.randn(self.hidden, dtype=torch.float64, generator=generator)
        start = torch.zeros(1, self.hidden, dtype=torch.float64, requires_grad=True)
        visited = states(
            inputs,
            input_weights,
            state_weights,
            initial=start,
            activation=ACTIVATIONS[self.activation],
        )
        last = visited[-1] @ (direction / direction.norm())
        gradients = torch.autograd.grad(last.sum(), visited)
        return {"norms": [gradient.norm().item() for gradient in reversed(gradients)]}


FAR = 1000
"""Steps after which a gradient that does not stay has shown it: gains of 0.99 and 1.01 change it ten-thousandfold."""

NEAR_ONE = {
    **{f"linear, gain {gain:g}": RecurrenceProbe(gain, steps=FAR) for gain in (0.9, 0.99, 1.0, 1.01, 1.1)},
    "tanh, gain 1, inputs of 0.0001": RecurrenceProbe(1.0, "tanh", steps=FAR, input_scale=1e-4),
}
"""Settings of a plain recurrence around the border between a gradient that shrinks and one that grows."""


def stays(norms: Sequence[float]) -> bool:
    """Say whether a gradient of such norms, t = 0, 1, … steps back, neither halves nor doubles at any step."""
    return all(norms[0] / 2 < norm < 2 * norms[0] for norm in norms)


def jacobian_by_autograd(
    inputs: Tensor, input_weights: Tensor, state_weights: Tensor, bias: Tensor, initial: Tensor
) -> Tensor:
    """Differentiate the final state of a tanh recurrence in its initial one, end to end.

    Args:
        inputs: float of shape (1, length, features).
        input_weights: shape (features, hidden).
        state_weights: shape (hidden, hidden).
        bias: shape (hidden,).
        initial: shape (1, hidden).

    Returns:
        shape (hidden, hidden); row i, column j is ∂h_length[j] / ∂h_0[i].
    """

    def final(state: Tensor) -> Tensor:
        return states(inputs, input_weights, state_weights, bias, initial=state)[-1][0]

    jacobian: Tensor = torch.autograd.functional.jacobian(final, initial)  # type: ignore[no-untyped-call]
    return jacobian[:, 0].T


def jacobian_by_product(
    inputs: Tensor, input_weights: Tensor, state_weights: Tensor, bias: Tensor, initial: Tensor
) -> Tensor:
    """Multiply the derivatives of the single steps, W_h·diag(1 − h_t²); arguments and result as above."""
    product = torch.eye(len(state_weights), dtype=state_weights.dtype, device=state_weights.device)
    for state in states(inputs, input_weights, state_weights, bias, initial=initial)[1:]:
        product = product @ (state_weights * (1 - state.square()))
    return product

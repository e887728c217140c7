"""One step of an LSTM and of a GRU, written out by hand, and what an LSTM's forget gates leave of its cell.

The formulas are those of the library's documentation (`torch.nn.LSTM`, `torch.nn.GRU`), for one layer and one
direction; σ is the logistic function and ∗ multiplies element by element.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from lessons.gradients import GradientProbe


class LSTMStep(NamedTuple):
    """What one step of an LSTM computes, each float of shape (batch, hidden); gates lie between 0 and 1."""

    forget: Tensor
    add: Tensor
    put_out: Tensor
    candidate: Tensor
    cell: Tensor
    hidden: Tensor

    @property
    def gates(self) -> tuple[Tensor, ...]:
        """The three gates: what to forget of the cell, what to add to it, what to put out of it."""
        return self.forget, self.add, self.put_out


def lstm_step(lstm: nn.LSTM, x: Tensor, hidden: Tensor, cell: Tensor) -> LSTMStep:
    """Make one step: cell = forget ∗ cell + add ∗ candidate, and hidden = put_out ∗ tanh(cell).

    Args:
        lstm: of one layer; its rows are ordered add, forget, candidate, put_out.
        x: float of shape (batch, features).
        hidden: float of shape (batch, hidden), the output one step before.
        cell: float of shape (batch, hidden), the cell state one step before.
    """
    from_input, from_state = _transforms(lstm, x, hidden)
    add, forget, candidate, put_out = (from_input + from_state).chunk(4, dim=1)
    add, forget, put_out = add.sigmoid(), forget.sigmoid(), put_out.sigmoid()
    candidate = candidate.tanh()
    cell = forget * cell + add * candidate
    return LSTMStep(forget, add, put_out, candidate, cell, put_out * cell.tanh())


def gru_step(gru: nn.GRU, x: Tensor, hidden: Tensor) -> Tensor:
    """Make one step: hidden = (1 − update) ∗ candidate + update ∗ hidden; arguments and shapes as for an LSTM."""
    from_input, from_state = _transforms(gru, x, hidden)
    reset, update = (from_input + from_state)[:, : 2 * gru.hidden_size].sigmoid().chunk(2, dim=1)
    candidate = (from_input.chunk(3, dim=1)[2] + reset * from_state.chunk(3, dim=1)[2]).tanh()
    return (1 - update) * candidate + update * hidden


def _transforms(layer: nn.RNNBase, x: Tensor, hidden: Tensor) -> tuple[Tensor, Tensor]:
    input_weights, state_weights, input_bias, state_bias = layer.all_weights[0]
    return x @ input_weights.T + input_bias, hidden @ state_weights.T + state_bias


def lstm_steps(lstm: nn.LSTM, inputs: Tensor) -> Iterator[LSTMStep]:
    """Run an LSTM by hand along `inputs`, float of shape (batch, length, features), from states of zeros."""
    hidden = cell = inputs.new_zeros(len(inputs), lstm.hidden_size)
    for x in inputs.unbind(dim=1):
        step = lstm_step(lstm, x, hidden, cell)
        yield step
        hidden, cell = step.hidden, step.cell


def direct_path(steps: list[LSTMStep]) -> Tensor:
    """Differentiate the last cell state in each one before it, along the additive path alone.

    The additive path is cell = forget ∗ cell + …, with the gates and what they add held as they were. Each number of
    the cell then depends on itself alone.

    Args:
        steps: of one run, each with tensors of shape (batch, hidden).

    Returns:
        float of shape (steps + 1, batch, hidden): ∂cell_T / ∂cell_{T − t} for t = 0..steps.
    """
    start = torch.zeros_like(steps[0].cell).requires_grad_()
    cells = [start]
    for step in steps:
        cells.append(step.forget.detach() * cells[-1] + (step.add * step.candidate).detach())
    return torch.stack(torch.autograd.grad(cells[-1].sum(), cells)[::-1])


@dataclass(frozen=True)
class DirectPath:
    """week07 day 2: how much of the gradient comes back along the additive path of the page's LSTM, 1→16.

    Attributes:
        forget_bias: bias of the forget gates; None leaves the library's initialisation.
        steps: how far back to look, along one random sequence.
    """

    forget_bias: float | None = None
    steps: int = 100

    def run(self, seed: int, device: torch.device) -> dict[str, Any]:
        """Draw weights and a sequence from global seed `seed`, as the page's probe does, and measure.

        Returns:
            `left`: norm of the derivative of the last cell state in that t steps before, as a share of that at t = 0,
            for t = 0..steps; `forget gate`: the mean over steps and units, 0..1.
        """
        lstm, (inputs,) = GradientProbe("lstm", self.forget_bias, lengths=(self.steps,)).draw(seed, device)
        assert isinstance(lstm, nn.LSTM)
        steps = list(lstm_steps(lstm, inputs))
        norms = direct_path(steps).double().norm(dim=(1, 2))  # squares of 1e-30 are 0 in float32
        return {
            "left": (norms / norms[0]).tolist(),
            "forget gate": torch.stack([step.forget for step in steps]).mean().item(),
        }


DIRECT_PATH = DirectPath()
DIRECT_PATH_OPEN = DirectPath(forget_bias=5.0)

"""What recurrence and attention cost as sequences lengthen, by count instead of by clock.

Work is the floating-point operations of all matrix products; depth is the longest chain of operations of which each
must wait for the one before. A recurrent layer runs here as the loop over its cell: as one fused kernel it hides its
products from the library's counter, which reports 0 for an LSTM layer.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor, nn
from torch.autograd.graph import Node
from torch.utils.flop_counter import FlopCounterMode

RecurrentCell = nn.RNNCell | nn.GRUCell | nn.LSTMCell

RECURRENT_CELLS: dict[str, type[nn.RNNCell] | type[nn.GRUCell] | type[nn.LSTMCell]] = {
    "RNN": nn.RNNCell,
    "GRU": nn.GRUCell,
    "LSTM": nn.LSTMCell,
}


def recur(cell: RecurrentCell, inputs: Tensor) -> Tensor:
    """Run a cell along sequences, from a state of zeros.

    Args:
        cell: from `features` to `hidden`.
        inputs: float of shape (batch, length ≥ 1, features).

    Returns:
        float of shape (batch, length, hidden), the outputs at all positions.
    """
    outputs: list[Tensor] = []
    state = None
    for element in inputs.unbind(dim=1):
        state = cell(element, state)
        outputs.append(state[0] if isinstance(state, tuple) else state)
    return torch.stack(outputs, dim=1)


def attend(attention: nn.MultiheadAttention, inputs: Tensor, queries: Tensor | None = None) -> Tensor:
    """Let positions look at a whole sequence.

    Args:
        attention: batch first, in training mode (in eval mode a fused kernel would hide its products).
        inputs: float of shape (batch, length, features), what is looked at.
        queries: float of shape (batch, positions, features), those who look; all of `inputs` by default.

    Returns:
        float of shape (batch, positions, features).
    """
    outputs: Tensor = attention(inputs if queries is None else queries, inputs, inputs)[0]
    return outputs


def counted_operations(compute: Callable[[], object]) -> int:
    """Count the floating-point operations of the matrix products in a computation, two per multiply-add."""
    with FlopCounterMode(display=False) as counter:
        compute()
    return int(counter.get_total_flops())


def sequential_depth(output: Tensor) -> int:
    """Length of the longest chain of recorded operations that ends in `output`.

    Args:
        output: computed with gradients enabled, from parameters or inputs that need gradients.

    Returns:
        operations in the chain; 0 for a tensor that nothing was computed for.
    """
    depths: dict[Node, int] = {}
    pending = [] if output.grad_fn is None else [output.grad_fn]
    while pending:
        node = pending[-1]
        # Leaves of the graph only collect gradients: no operation of the forward pass stands behind them.
        before = [other for other, _ in node.next_functions if other is not None and other.next_functions]
        waiting = [other for other in before if other not in depths]
        if waiting:
            pending.extend(waiting)
        else:
            depths[pending.pop()] = 1 + max((depths[other] for other in before), default=0)
    return depths[output.grad_fn] if output.grad_fn is not None else 0


def training_gradients(cell: RecurrentCell, inputs: Tensor) -> tuple[Tensor, ...]:
    """Make the forward and the backward pass of one training step; the loss is the sum of all outputs.

    Args:
        cell: from `features` to `hidden`.
        inputs: float of shape (batch, length ≥ 1, features).

    Returns:
        the gradient of each of the cell's parameters, with both passes recorded, so that `sequential_depth` sees both.
    """
    return torch.autograd.grad(recur(cell, inputs).sum(), list(cell.parameters()), create_graph=True)


def waits_for(outputs: Sequence[Tensor], step: int) -> set[int]:
    """Tell for which other steps one step of a computation waits itself, and not by way of another.

    Args:
        outputs: of steps 1, 2, …, each with its computation recorded.
        step: which one to ask about.

    Returns:
        the numbers of the steps whose outputs it takes.
    """
    steps = {output.grad_fn: number for number, output in enumerate(outputs, start=1)}
    found: set[int] = set()
    seen: set[Node] = set()
    pending = [outputs[step - 1].grad_fn]
    while pending:
        node = pending.pop()
        for before, _ in node.next_functions if node is not None else ():
            if before in steps:
                found.add(steps[before])
            elif before is not None and before not in seen:
                seen.add(before)
                pending.append(before)
    return found

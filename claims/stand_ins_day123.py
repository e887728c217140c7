"""What stands in for functions of the library, to see whether the checks of days 1 to 3 notice."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

Forward = Callable[..., tuple[Any, Any]]


def final_batch_first(forward: Forward) -> Forward:
    """Let a layer put the batch first in its final state too."""

    def transposed(layer: nn.RNNBase, inputs: Tensor, state: Any = None) -> tuple[Tensor, Tensor]:
        output, final = forward(layer, inputs, state)
        return output, final.transpose(0, 1)

    return transposed


def last_output_alone(forward: Forward) -> Forward:
    """Let a batch-first layer return the output of the last step and no other."""

    def shortened(layer: nn.RNNBase, inputs: Tensor, state: Any = None) -> tuple[Tensor, Any]:
        output, final = forward(layer, inputs, state)
        return output[:, -1:], final

    return shortened


def first_as_final(forward: Forward) -> Forward:
    """Let a batch-first layer return as the final state the one after the first step."""

    def stale(layer: nn.RNNBase, inputs: Tensor, state: Any = None) -> tuple[Tensor, Tensor]:
        output, final = forward(layer, inputs, state)
        return output, torch.cat([final[:-1], output[None, :, 0]])

    return stale


def growing_weights(forward: Forward) -> Forward:
    """Give each step of a batch-first layer input weights of its own, which grow along the sequence."""

    def weighted(layer: nn.RNNBase, inputs: Tensor, state: Any = None) -> tuple[Tensor, Any]:
        growth = 1 + torch.arange(inputs.shape[1], device=inputs.device)[:, None] / 10
        return forward(layer, inputs * growth, state)

    return weighted


def batch_first_by_default(init: Callable[..., None]) -> Callable[..., None]:
    """Let a recurrent layer take the batch first unless it is asked otherwise."""

    def initialise(layer: nn.RNNBase, *sizes: Any, **options: Any) -> None:
        init(layer, *sizes, **{"batch_first": True, **options})

    return initialise


def refuses_sequence_first(forward: Forward) -> Forward:
    """Let a layer that was not asked for batch_first raise where batch size and length differ."""

    def strict(layer: nn.RNNBase, inputs: Tensor, state: Any = None) -> tuple[Any, Any]:
        if not layer.batch_first and inputs.shape[0] != inputs.shape[1]:
            raise RuntimeError("did you forget batch_first?")
        return forward(layer, inputs, state)

    return strict


FEATURES_SECOND = (nn.Conv1d, nn.BatchNorm1d, nn.GroupNorm, nn.InstanceNorm1d)
ATTENTION = (nn.MultiheadAttention, nn.TransformerEncoderLayer, nn.TransformerDecoderLayer)


def all_batch_first(call: Callable[..., Any]) -> Callable[..., Any]:
    """Let every layer take (batch, sequence, features), whatever the library has it take."""
    within = False  # a layer's own parts get what they always got

    def batch_first(layer: nn.Module, *inputs: Any, **options: Any) -> Any:
        nonlocal within
        swapped = (1, 2) if isinstance(layer, FEATURES_SECOND) else (0, 1) if isinstance(layer, ATTENTION) else None
        if within or swapped is None or (swapped == (0, 1) and takes_batch_first(layer)):
            return call(layer, *inputs, **options)
        within = True
        try:
            output = call(layer, *(each.transpose(*swapped) for each in inputs), **options)
        finally:
            within = False
        first, *others = output if isinstance(output, tuple) else (output,)
        return (first.transpose(*swapped), *others) if others else first.transpose(*swapped)

    return batch_first


def takes_batch_first(layer: nn.Module) -> bool:
    """Say whether a layer of attention was asked for batch_first."""
    attention = layer if isinstance(layer, nn.MultiheadAttention) else layer.get_submodule("self_attn")
    return bool(attention.batch_first)


def a_gru(_: type[nn.LSTM]) -> type[nn.GRU]:
    """Let the LSTM have the three transforms of a GRU."""
    return nn.GRU


def never_forgets(forward: Forward) -> Forward:
    """Let a one-layer LSTM hold its forget gates open, whatever its weights say."""

    def kept(layer: nn.LSTM, inputs: Tensor, state: Any = None) -> tuple[Tensor, Any]:
        forget = layer.get_parameter("bias_ih_l0").data[layer.hidden_size : 2 * layer.hidden_size]
        learnt = forget.clone()
        forget.fill_(1000.0)
        try:
            return forward(layer, inputs, state)
        finally:
            forget.copy_(learnt)

    return kept


def pair_of_states(forward: Forward) -> Forward:
    """Let a layer of one state return a pair of states, as an LSTM does."""

    def paired(layer: nn.RNNBase, inputs: Tensor, state: Any = None) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        output, final = forward(layer, inputs, state)
        return output, (final, torch.zeros_like(final))

    return paired


def cell_batch_first(forward: Forward) -> Forward:
    """Let an LSTM put the batch first in its final cell state."""

    def transposed(layer: nn.LSTM, inputs: Tensor, state: Any = None) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        output, (hidden, cell) = forward(layer, inputs, state)
        return output, (hidden, cell.transpose(0, 1))

    return transposed


def scaled_rows(embedding: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """Let an embedding multiply the rows that it looks up, as a transformer's does."""

    def scaled(tokens: Tensor, table: Tensor, *options: Any, **more: Any) -> Tensor:
        rows: Tensor = embedding(tokens, table, *options, **more)
        return rows * math.sqrt(table.shape[1])

    return scaled

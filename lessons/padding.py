"""Sequences of unequal length in one rectangle, and how to read them where they are real.

A worked example, the page's own sequences and their rectangle:

    1 2 3 4 5
    6 7 0 0 0
    8 9 1 0 0
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence, pad_packed_sequence, pad_sequence

PADDING = 0

PAGE_SEQUENCES = ((1, 2, 3, 4, 5), (6, 7), (8, 9, 1))
"""The sequences of week07 day 4."""

RecurrentLayer = nn.RNN | nn.GRU | nn.LSTM


def pad(sequences: Sequence[Sequence[int]], padding: int = PADDING) -> tuple[Tensor, Tensor]:
    """Fill sequences up to the longest.

    Args:
        sequences: at least one, none of them empty.
        padding: the token to fill with.

    Returns:
        tokens, int64 of shape (sequences, longest), and lengths, int64 of shape (sequences,).

    Raises:
        ValueError: if there is no sequence, or one of them is empty.
    """
    if not sequences or not all(sequences):
        raise ValueError("padding needs at least one sequence, and none of length 0: an empty one has no last position")
    tokens = pad_sequence([torch.tensor(sequence) for sequence in sequences], batch_first=True, padding_value=padding)
    return tokens, torch.tensor([len(sequence) for sequence in sequences])


def pack(inputs: Tensor, lengths: Tensor) -> PackedSequence:
    """Drop the padding of inputs, float of shape (batch, length, features); lengths may come in any order."""
    return pack_padded_sequence(inputs, lengths.cpu(), batch_first=True, enforce_sorted=False)


def run(layer: RecurrentLayer, inputs: Tensor, lengths: Tensor | None = None) -> tuple[Tensor, Tensor]:
    """Run a layer over a rectangle as it stands, or packed where lengths are given.

    Args:
        layer: batch first.
        inputs: float of shape (batch, length, features).
        lengths: int64 of shape (batch,), values 1..length.

    Returns:
        outputs, float of shape (batch, length, directions · hidden), 0 beyond a packed sequence's end; and the final
        hidden states, float of shape (layers · directions, batch, hidden), both in the order of the inputs.
    """
    if lengths is None:
        outputs, state = layer(inputs)
    else:
        packed, state = layer(pack(inputs, lengths))
        outputs, _ = pad_packed_sequence(packed, batch_first=True, total_length=inputs.shape[1])
    return outputs, state[0] if isinstance(state, tuple) else state


def real_by_length(lengths: Tensor, longest: int) -> Tensor:
    """Mark the real positions of a rectangle by its sequences' lengths, int64 of shape (batch,), values 1..longest.

    Returns:
        bool of shape (batch, longest).
    """
    return torch.arange(longest, device=lengths.device) < lengths[:, None]


def real_by_token(tokens: Tensor, padding: int = PADDING) -> Tensor:
    """Mark the positions of a rectangle that hold another token than `padding`.

    These are the real ones only where no sequence contains `padding` as a token of its own.

    Returns:
        bool of the tokens' shape.
    """
    return tokens != padding


def masked_mean(outputs: Tensor, lengths: Tensor) -> Tensor:
    """Mean over each sequence's own positions.

    Args:
        outputs: float of shape (batch, length, features).
        lengths: int64 of shape (batch,), values 1..length.

    Returns:
        float of shape (batch, features).
    """
    real = real_by_length(lengths, outputs.shape[1])
    # A mask by selection, not by multiplication, keeps out whatever stands in the padding, NaN included.
    return torch.where(real[..., None], outputs, 0).sum(dim=1) / lengths[:, None]

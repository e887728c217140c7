"""An embedding table two ways: looking a token's row up, and multiplying its one-hot vector by the table."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional

PAGE_TOKENS = ((1, 5, 9, 0), (2, 2, 3, 4))
"""The tokens of week07 day 3."""


def look_up(tokens: Tensor, table: Tensor) -> Tensor:
    """Take each token's row, as `nn.Embedding` does.

    Args:
        tokens: int64 of any shape, values 0..vocabulary − 1.
        table: float of shape (vocabulary, features).

    Returns:
        float of shape (*tokens.shape, features).
    """
    return functional.embedding(tokens, table)


def multiply(tokens: Tensor, table: Tensor) -> Tensor:
    """The same by a matrix product with the tokens' one-hot vectors; arguments and result are those of `look_up`."""
    return one_hot(tokens, len(table)).to(table.dtype) @ table


def one_hot(tokens: Tensor, vocabulary: int) -> Tensor:
    """One-hot vectors, float32 of shape (*tokens.shape, vocabulary), of tokens 0..vocabulary − 1."""
    return torch.zeros(*tokens.shape, vocabulary, device=tokens.device).scatter_(-1, tokens[..., None], 1.0)

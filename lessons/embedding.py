"""An embedding table two ways: looking a token's row up, and multiplying its one-hot vector by the table."""

from __future__ import annotations

from collections.abc import Callable

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


def elements_touched(compute: Callable[[Tensor], Tensor], table: Tensor) -> int:
    """Count the numbers of a table that a computation works with, whether they matter to its result or not.

    A number that is not a number (NaN) makes a NaN of everything computed with it, even times zero. So each number of
    the table in turn is made one: it was touched if a NaN comes out.

    Args:
        compute: from a table to its result, both float.
        table: finite, of any shape; left as it is.
    """
    poisoned = table.detach().clone()
    touched = 0
    for place, value in enumerate(table.flatten().tolist()):
        poisoned.view(-1)[place] = float("nan")
        touched += int(compute(poisoned).isnan().any())
        poisoned.view(-1)[place] = value
    return touched

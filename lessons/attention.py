"""How far back one block of a transformer sees: the gradient of its last output in the input at each position."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

LENGTHS = (5, 10, 20, 50, 100, 200)


def transformer_block(width: int, heads: int) -> nn.TransformerEncoderLayer:
    """Build self-attention and feed-forward layer, each with its residual path and normalisation; no dropout."""
    return nn.TransformerEncoderLayer(width, heads, dim_feedforward=4 * width, dropout=0.0, batch_first=True)


def gradient_by_position(block: nn.Module, inputs: Tensor, direction: Tensor) -> Tensor:
    """Differentiate direction·(last output) in the inputs.

    Args:
        block: from (batch, length, width) to the same.
        inputs: float of shape (batch, length, width).
        direction: float of shape (width,).

    Returns:
        float of shape (length,): the norm of the gradient at each position, averaged over the batch.
    """
    inputs = inputs.detach().requires_grad_()
    (gradient,) = torch.autograd.grad((block(inputs)[:, -1] @ direction).sum(), inputs)
    norms: Tensor = gradient.norm(dim=2).mean(dim=0)
    return norms


@dataclass(frozen=True)
class AttentionProbe:
    """A transformer block with its initial weights reads random sequences of each length."""

    lengths: tuple[int, ...] = LENGTHS
    width: int = 16
    heads: int = 2
    batch: int = 64

    def run(self, seed: int, device: torch.device) -> dict[str, Any]:
        """Build the block and measure; `seed` is the global seed.

        Returns:
            for each length, `gradients`: norm of the last output's gradient in the first input, > 0; and
            `gradients of a neighbour`: the same in the input one before the last.
        """
        torch.manual_seed(seed)
        block = transformer_block(self.width, self.heads).to(device)
        direction = nn.functional.normalize(torch.randn(self.width), dim=0).to(device)
        first, neighbour = [], []
        for length in self.lengths:
            inputs = torch.randn(self.batch, length, self.width).to(device)
            gradient = gradient_by_position(block, inputs, direction)
            first.append(gradient[0].item())
            neighbour.append(gradient[-2].item())
        return {"gradients": first, "gradients of a neighbour": neighbour}

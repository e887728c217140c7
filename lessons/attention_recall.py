"""The recall task for one block of attention, in place of a recurrent layer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from lessons.attention import transformer_block
from lessons.recall import DISTRACTORS, LONGER, REMEMBERED, Recall, train_to_recall
from lessons.training import Training


class AttentionClassifier(nn.Module):
    """Embedding, one transformer block, linear head at the last position: tokens (batch, length) to logits (batch, 2).

    It has no positions: the tokens to remember are told from the others by what they are.
    """

    def __init__(self, width: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(REMEMBERED + DISTRACTORS, width)
        self.block = transformer_block(width, heads=1)
        self.head = nn.Linear(width, REMEMBERED)

    def forward(self, tokens: Tensor) -> Tensor:
        """Name the class of int64 tokens of shape (batch, length ≥ 1); returns float logits of shape (batch, 2)."""
        logits: Tensor = self.head(self.block(self.embedding(tokens))[:, -1])
        return logits


@dataclass(frozen=True)
class AttentionRecall:
    """Train one block of attention on the recall task; see `lessons.recall.train_to_recall` for rows and seeds.

    With as many rows as `lessons.recall.Recall`, and twice as many epochs.
    """

    length: int
    width: int = 16
    training_rows: int = 1000
    validation_rows: int = 1000
    training: Training = LONGER

    def run(self, seed: int, device: torch.device) -> dict[str, Any]:
        """Train and measure; returns what `train_to_recall` returns."""
        rows = self.training_rows, self.validation_rows
        return train_to_recall(
            self.build, length=self.length, rows=rows, training=self.training, seed=seed, device=device
        )

    def build(self) -> nn.Module:
        """Construct the model on the CPU with weights from the global generator."""
        return AttentionClassifier(self.width)


RECALL_BY_ATTENTION = {length: AttentionRecall(length) for length in (50, 200)}
RECALL_BY_RECURRENCE = {length: Recall("rnn", length=length, training=LONGER) for length in RECALL_BY_ATTENTION}
"""detector: one bit over 50 and over 200 steps, trained alike."""

"""The bidirectional classifier read at both ends: the forward half at the last position, the backward at the first.

There each half has read the whole sequence. At the last position, where the page's classifier reads both, the backward
half has read one token.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
from torch import Tensor, nn

from lessons.classifiers import RecurrentClassifier, RecurrentClassifierConfig
from lessons.memory_task import MemoryTask
from lessons.recipes import DEPTH_AND_DIRECTION, Classification
from lessons.training import Training


@dataclass(frozen=True)
class BothEndsConfig(RecurrentClassifierConfig):
    """The bidirectional classifier of week07, with the same initial weights, read at both ends. `pooling` is unused."""

    bidirectional: bool = True

    def build(self) -> nn.Module:
        """Construct the model on the CPU with weights from the global generator."""
        return BothEnds(self)


class BothEnds(RecurrentClassifier):
    """The model that `BothEndsConfig` configures."""

    def forward(self, tokens: Tensor) -> Tensor:
        """Classify int64 tokens of shape (batch, length ≥ 1); returns float logits of shape (batch, classes)."""
        outputs, _ = self.recurrent(self.embedding(tokens))
        forward, backward = outputs.chunk(2, dim=-1)
        logits: Tensor = self.head(torch.cat([forward[:, -1], backward[:, 0]], dim=1))
        return logits


HALF = Training(epochs=5)
"""Half of the page's epochs: the one-way layer has not finished learning, so that there is something to gain."""

AFTER_HALF = {
    "one-way": replace(DEPTH_AND_DIRECTION["one layer"], training=HALF),
    "two-way, last position": replace(DEPTH_AND_DIRECTION["bidirectional"], training=HALF),
    "two-way, both ends": Classification(MemoryTask(), BothEndsConfig(), HALF),
}
"""week07 day 4: what the second direction brings on the page's own task."""

"""Convolutional networks for sequences: one with a head for a fixed number of positions, one for any number.

The convolution itself slides over whatever it is given. What can tie a network to one length is the head that follows.
"""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor, nn


@dataclass(frozen=True)
class ConvolutionClassifier:
    """Embedding, one convolution over positions, ReLU, a linear head.

    `length` is None for global pooling, the maximum over positions. With a number, the outputs at that many positions
    are laid side by side for the head, as in the image classifiers of textbooks.
    """

    vocabulary: int
    classes: int
    length: int | None = None
    embedding: int = 32
    channels: int = 32
    width: int = 3

    def build(self) -> nn.Module:
        """Construct the model on the CPU with weights from the global generator."""
        return ConvolutionalNetwork(self)


class ConvolutionalNetwork(nn.Module):
    """The model that `ConvolutionClassifier` configures. Tokens (batch, length) to logits (batch, classes)."""

    def __init__(self, config: ConvolutionClassifier) -> None:
        super().__init__()
        self.length = config.length
        self.embedding = nn.Embedding(config.vocabulary, config.embedding)
        self.convolution = nn.Conv1d(config.embedding, config.channels, config.width, padding="same")
        self.head = nn.Linear(config.channels * (config.length or 1), config.classes)

    def forward(self, tokens: Tensor) -> Tensor:
        """Classify int64 tokens of shape (batch, length ≥ 1); returns float logits of shape (batch, classes).

        Raises:
            ValueError: if the sequences are empty.
            RuntimeError: by the head, if it is for another length.
        """
        if tokens.shape[1] == 0:
            raise ValueError("cannot classify sequences of length 0: there is no position to pool over")
        features = self.convolution(self.embedding(tokens).transpose(1, 2)).relu()
        pooled = features.amax(dim=2) if self.length is None else features.flatten(1)
        logits: Tensor = self.head(pooled)
        return logits

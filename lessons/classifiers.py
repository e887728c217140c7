"""Models that read a sequence of tokens and name its class, each beside the configuration that builds it.

Submodules are constructed in the order in which the pages construct them, because each takes its initial weights
from the global generator in turn.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor, nn

from lessons.memory_task import VOCABULARY

Cell = Literal["rnn", "gru", "lstm"]
Pooling = Literal["last", "mean", "max", "true last"]

CELLS: dict[str, type[nn.RNN] | type[nn.GRU] | type[nn.LSTM]] = {"rnn": nn.RNN, "gru": nn.GRU, "lstm": nn.LSTM}


def pool(outputs: Tensor, pooling: Pooling, lengths: Tensor | None = None) -> Tensor:
    """Turn the outputs at all positions into one vector per sequence.

    Args:
        outputs: float of shape (batch, length, features).
        pooling: the last position, the mean or maximum over positions, or the true last position.
        lengths: int64 of shape (batch,), values 1..length; needed for "true last" only.

    Returns:
        float of shape (batch, features).

    Raises:
        ValueError: if "true last" is asked for without lengths.
    """
    if pooling == "last":
        return outputs[:, -1]
    if pooling == "mean":
        return outputs.mean(dim=1)
    if pooling == "max":
        return outputs.max(dim=1).values
    if lengths is None:
        raise ValueError('pooling by "true last" needs the lengths of the sequences')
    return outputs[torch.arange(len(outputs), device=outputs.device), lengths - 1]


@dataclass(frozen=True)
class RecurrentClassifierConfig:
    """Embedding, recurrent layer, linear head: the classifier of both lessons.

    `padding` is the token that fills short sequences; it is needed by the pooling "true last" alone.
    """

    cell: Cell = "lstm"
    layers: int = 1
    bidirectional: bool = False
    pooling: Pooling = "last"
    vocabulary: int = VOCABULARY
    classes: int = 2
    embedding: int = 32
    hidden: int = 64
    padding: int | None = None

    def build(self) -> nn.Module:
        """Construct the model on the CPU with weights from the global generator."""
        return RecurrentClassifier(self)


class RecurrentClassifier(nn.Module):
    """The model that `RecurrentClassifierConfig` configures. Tokens (batch, length) to logits (batch, classes)."""

    def __init__(self, config: RecurrentClassifierConfig) -> None:
        super().__init__()
        self.pooling = config.pooling
        self.padding = config.padding
        self.embedding = nn.Embedding(config.vocabulary, config.embedding)
        self.recurrent = CELLS[config.cell](
            config.embedding,
            config.hidden,
            num_layers=config.layers,
            bidirectional=config.bidirectional,
            batch_first=True,
        )
        self.head = nn.Linear(config.hidden * (2 if config.bidirectional else 1), config.classes)

    def forward(self, tokens: Tensor) -> Tensor:
        """Classify int64 tokens of shape (batch, length ≥ 1); returns float logits of shape (batch, classes).

        Raises:
            ValueError: if the sequences are empty.
        """
        if tokens.shape[1] == 0:
            raise ValueError("cannot classify a sequence of length 0: there is no position to read")
        outputs, _ = self.recurrent(self.embedding(tokens))
        lengths = None if self.padding is None else (tokens != self.padding).sum(dim=1)
        logits: Tensor = self.head(pool(outputs, self.pooling, lengths))
        return logits


@dataclass(frozen=True)
class BagOfEmbeddingsConfig:
    """The baseline that ignores order: the mean of the embeddings, one hidden layer, a linear head."""

    vocabulary: int = VOCABULARY
    classes: int = 2
    embedding: int = 32
    hidden: int = 64

    def build(self) -> nn.Module:
        """Construct the model on the CPU with weights from the global generator."""
        return BagOfEmbeddings(self)


class BagOfEmbeddings(nn.Module):
    """The model that `BagOfEmbeddingsConfig` configures. Tokens (batch, length) to logits (batch, classes)."""

    def __init__(self, config: BagOfEmbeddingsConfig) -> None:
        super().__init__()
        self.embedding = nn.Embedding(config.vocabulary, config.embedding)
        self.head = nn.Sequential(
            nn.Linear(config.embedding, config.hidden),
            nn.ReLU(),
            nn.Linear(config.hidden, config.classes),
        )

    def forward(self, tokens: Tensor) -> Tensor:
        """Classify int64 tokens of shape (batch, length); returns float logits of shape (batch, classes)."""
        logits: Tensor = self.head(self.embedding(tokens).mean(dim=1))
        return logits


@dataclass(frozen=True)
class SequenceClassifierConfig:
    """The classifier that closes week07.

    `pooled` says what reaches the head: "max" is what the page's code does (it concatenates maximum and mean, then
    keeps the first half of the columns, which is the maximum); "max and mean" is what the page says. Dropout acts on
    the embeddings and on what reaches the head.
    """

    pooled: Literal["max", "max and mean"] = "max"
    vocabulary: int = VOCABULARY
    classes: int = 2
    embedding: int = 32
    hidden: int = 64
    dropout: float = 0.2

    def build(self) -> nn.Module:
        """Construct the model on the CPU with weights from the global generator."""
        return SequenceClassifier(self)


class SequenceClassifier(nn.Module):
    """The model that `SequenceClassifierConfig` configures. Tokens (batch, length) to logits (batch, classes)."""

    def __init__(self, config: SequenceClassifierConfig) -> None:
        super().__init__()
        columns = 2 * config.hidden
        self.kept = columns if config.pooled == "max" else 2 * columns
        self.embedding = nn.Embedding(config.vocabulary, config.embedding)
        self.dropout = nn.Dropout(config.dropout)
        self.recurrent = nn.LSTM(config.embedding, config.hidden, bidirectional=True, batch_first=True)
        self.head = nn.Linear(self.kept, config.classes)

    def forward(self, tokens: Tensor) -> Tensor:
        """Classify int64 tokens of shape (batch, length); returns float logits of shape (batch, classes)."""
        outputs, _ = self.recurrent(self.dropout(self.embedding(tokens)))
        return self.classify(outputs.max(dim=1).values, outputs.mean(dim=1))

    def classify(self, maximum: Tensor, mean: Tensor) -> Tensor:
        """Logits from the maximum and the mean over positions, each float of shape (batch, 2·hidden)."""
        features = torch.cat([maximum, mean], dim=1)[:, : self.kept]
        logits: Tensor = self.head(self.dropout(features))
        return logits


ModelConfig = RecurrentClassifierConfig | BagOfEmbeddingsConfig | SequenceClassifierConfig


def parameter_count(model: nn.Module) -> int:
    """Count the numbers that training may change."""
    return sum(parameter.numel() for parameter in model.parameters() if parameter.requires_grad)

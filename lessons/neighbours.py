"""A question whose evidence stands on either side: is a digit's right neighbour larger than its left one?

A worked example; the first and the last position have one neighbour and no answer:

    digits    4 7 9 1 3
    answers     1 0 0     (9 > 4, 1 < 7, 3 < 9)

The whole sequence is there and every position is asked, as when the words of a sentence are tagged.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from lessons.memory_task import VOCABULARY
from lessons.training import Training, train

LENGTH = 12

ONE_WAY_CEILING = 1 - 20 / 81
"""The best accuracy of a rule that sees no right neighbour. After a left neighbour d it is larger in 9 − d cases of 9,
and the likelier answer is wrong in min(d, 9 − d) of 9: on average over d = 1..9, in 20/81."""


def neighbour_task(rows: int, seed: int) -> tuple[Tensor, Tensor]:
    """Draw digits and answers.

    Args:
        rows: number of sequences.
        seed: the data seed, of one CPU generator.

    Returns:
        digits, int64 of shape (rows, LENGTH) with values 1..9, and answers, int64 of shape (rows, LENGTH − 2), 0 or 1.
    """
    digits = torch.randint(1, VOCABULARY, (rows, LENGTH), generator=torch.Generator().manual_seed(seed))
    return digits, (digits[:, 2:] > digits[:, :-2]).long()


class Tagger(nn.Module):
    """Embedding, LSTM, and a linear head at every position that has two neighbours."""

    def __init__(self, *, bidirectional: bool, embedding: int = 16, hidden: int = 32) -> None:
        super().__init__()
        self.embedding = nn.Embedding(VOCABULARY, embedding)
        self.recurrent = nn.LSTM(embedding, hidden, bidirectional=bidirectional, batch_first=True)
        self.head = nn.Linear(hidden * (2 if bidirectional else 1), 2)

    def forward(self, tokens: Tensor) -> Tensor:
        """Logits (batch, length − 2, 2) for int64 tokens (batch, length ≥ 3)."""
        outputs, _ = self.recurrent(self.embedding(tokens))
        logits: Tensor = self.head(outputs[:, 1:-1])
        return logits


@dataclass(frozen=True)
class Neighbours:
    """Train a tagger and score it on other rows.

    Seed s means data seeds 2s (training) and 2s + 1 (validation), and global seed s before the model is built.
    """

    bidirectional: bool
    rows: int = 1000
    training: Training = Training(learning_rate=1e-2, epochs=5, reseed=False)

    def run(self, seed: int, device: torch.device) -> dict[str, Any]:
        """Train and score.

        Returns:
            `accuracy` over all answers of the validation rows, 0..1; `loss` of the last epoch, in nats.
        """
        digits, answers = (part.to(device) for part in neighbour_task(self.rows, 2 * seed))
        torch.manual_seed(seed)
        model = Tagger(bidirectional=self.bidirectional).to(device)
        trace = train(model, digits, answers, self.training, loss_function=_loss)
        model.eval()
        digits, answers = (part.to(device) for part in neighbour_task(self.rows, 2 * seed + 1))
        with torch.no_grad():
            correct = model(digits).argmax(dim=-1) == answers
        return {"accuracy": correct.double().mean().item(), "loss": trace.losses[-1]}


def _loss(logits: Tensor, answers: Tensor) -> Tensor:
    return functional.cross_entropy(logits.flatten(0, 1), answers.flatten())


NEIGHBOURS = {"one-way": Neighbours(bidirectional=False), "two-way": Neighbours(bidirectional=True)}
"""week07 day 4: what the second direction brings where each answer needs both sides."""

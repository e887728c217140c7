"""A task of memory alone: which of two tokens stood at position 0, after many steps of other tokens?

A worked example, at length 8 with the two tokens 0 and 1 to remember and the tokens 2..5 to distract:

    1 5 2 2 4 3 5 2   label 1
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from lessons.classifiers import Cell, RecurrentClassifier, RecurrentClassifierConfig
from lessons.gradients import set_forget_bias
from lessons.recipes import Classification
from lessons.splits import Split
from lessons.training import Training, accuracy, train

REMEMBERED = 2
DISTRACTORS = 4


def recall_task(rows: int, length: int, seed: int) -> tuple[Tensor, Tensor]:
    """Draw sequences and labels.

    Args:
        rows: number of sequences, at least 1.
        length: positions per sequence, at least 1.
        seed: the data seed, of one CPU generator.

    Returns:
        sequences, int64 of shape (rows, length) with values 0..1 at position 0 and 2..5 after it, and labels, int64
        of shape (rows,), the tokens at position 0.

    Raises:
        ValueError: if rows or length is too small.
    """
    if rows < 1 or length < 1:
        raise ValueError(f"the recall task needs at least 1 row and 1 position, got {rows} and {length}")
    generator = torch.Generator().manual_seed(seed)
    first = torch.randint(0, REMEMBERED, (rows, 1), generator=generator)
    rest = torch.randint(REMEMBERED, REMEMBERED + DISTRACTORS, (rows, length - 1), generator=generator)
    return torch.cat([first, rest], dim=1), first[:, 0]


@dataclass(frozen=True)
class Recall:
    """Train a recurrent classifier on the recall task.

    Attributes:
        cell: "rnn", "gru" or "lstm".
        forget_bias: bias of the forget gates before training, for the LSTM alone; None leaves the library's.
        length: in steps; 50 are enough for a plain recurrence to fail.
        training_rows: from data seed 2s, for seed s; 1,000 rows come from 2s + 1 to validate.
        training: a rate and a number of epochs at which a cell that can learn the task does.
    """

    cell: Cell
    forget_bias: float | None = None
    length: int = 50
    training_rows: int = 1000
    validation_rows: int = 1000
    training: Training = Training(learning_rate=5e-3, clip=1.0)

    def run(self, seed: int, device: torch.device) -> dict[str, Any]:
        """Train and measure; `seed` is the global seed as well.

        Returns:
            `accuracy` on the validation rows, 0..1, where guessing gives 1/2; `loss` of the last epoch, in nats.
        """
        inputs, labels = recall_task(self.training_rows, self.length, 2 * seed)
        validation = recall_task(self.validation_rows, self.length, 2 * seed + 1)
        torch.manual_seed(seed)
        model = RecurrentClassifier(
            RecurrentClassifierConfig(
                self.cell, vocabulary=REMEMBERED + DISTRACTORS, classes=REMEMBERED, embedding=16, hidden=16
            )
        )
        if self.forget_bias is not None:
            if not isinstance(model.recurrent, nn.LSTM):
                raise ValueError(f"forget_bias needs an LSTM: the cell {self.cell!r} has no forget gate")
            set_forget_bias(model.recurrent, self.forget_bias)
        model.to(device)
        history = train(model, inputs.to(device), labels.to(device), self.training)
        return {"accuracy": accuracy(model, *(part.to(device) for part in validation)), "loss": history.losses[-1]}


RECALL_PLAIN_RNN = Recall("rnn")
RECALL_LSTM = Recall("lstm")
RECALL_OPEN_FORGET_GATE = Recall("lstm", forget_bias=5.0)
"""detector: three ways to carry one bit over fifty steps."""


@dataclass(frozen=True)
class RecallTask:
    """The task as data for the page's own classifier: training rows from data seed 2s, validation from 2s + 1.

    `steps` is how many tokens stand between the one to recall and the state that is read: the rows have steps + 1.
    """

    steps: int
    training_rows: int = 1000
    validation_rows: int = 1000

    def split(self, seed: int) -> Split:
        """Draw both parts for seed `seed` ≥ 0; see `recall_task` for shapes."""
        length = self.steps + 1
        return Split(
            recall_task(self.training_rows, length, 2 * seed), recall_task(self.validation_rows, length, 2 * seed + 1)
        )


FIVE_BACK = Classification(RecallTask(5), RecurrentClassifierConfig("rnn"))
HUNDRED_BACK = {
    "RNN": Classification(RecallTask(100), RecurrentClassifierConfig("rnn")),
    "GRU": Classification(RecallTask(100), RecurrentClassifierConfig("gru")),
    "LSTM": Classification(RecallTask(100), RecurrentClassifierConfig("lstm")),
}
"""week07 day 2: the classifier and the training recipe of the week, asked for what stood 5 or 100 steps ago."""

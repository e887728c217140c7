"""A task of memory alone: which of two tokens stood at position 0, after many steps of other tokens?

A worked example, at length 8 with the two tokens 0 and 1 to remember and the tokens 2..5 to distract:

    1 5 2 2 4 3 5 2   label 1
"""

from __future__ import annotations

from collections.abc import Callable
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


def recall_task(rows: int, length: int, seed: int, remembered: int = REMEMBERED) -> tuple[Tensor, Tensor]:
    """Draw sequences and labels.

    Args:
        rows: number of sequences, at least 1.
        length: positions per sequence, at least 1.
        seed: the data seed, of one CPU generator.
        remembered: how many tokens there are to remember.

    Returns:
        sequences, int64 of shape (rows, length), and labels, int64 of shape (rows,), the tokens at position 0. These
        are below `remembered`, and the four tokens from there on stand after them.

    Raises:
        ValueError: if rows or length is too small.
    """
    if rows < 1 or length < 1:
        raise ValueError(f"the recall task needs at least 1 row and 1 position, got {rows} and {length}")
    generator = torch.Generator().manual_seed(seed)
    first = torch.randint(0, remembered, (rows, 1), generator=generator)
    rest = torch.randint(remembered, remembered + DISTRACTORS, (rows, length - 1), generator=generator)
    return torch.cat([first, rest], dim=1), first[:, 0]


def train_to_recall(
    build: Callable[[], nn.Module],
    *,
    length: int,
    rows: tuple[int, int],
    training: Training,
    seed: int,
    device: torch.device,
) -> dict[str, Any]:
    """Train a model on the recall task and measure.

    Args:
        build: constructs the model on the CPU with weights from the global generator; from tokens to logits.
        length: in steps.
        rows: to train on, from data seed 2s for seed s, and to validate, from 2s + 1.
        training: how.
        seed: s, the global seed as well.
        device: where to train.

    Returns:
        `accuracy` on the validation rows, 0..1, where guessing gives 1/2; `loss` of the last epoch, in nats.
    """
    inputs, labels = recall_task(rows[0], length, 2 * seed)
    validation = recall_task(rows[1], length, 2 * seed + 1)
    torch.manual_seed(seed)
    model = build().to(device)
    history = train(model, inputs.to(device), labels.to(device), training)
    return {"accuracy": accuracy(model, *(part.to(device) for part in validation)), "loss": history.losses[-1]}


def start_orthogonal(rnn: nn.RNN) -> None:
    """Let a plain recurrent layer start with a gradient that stays, in place; weights from the global generator.

    W_h is orthogonal, the biases are zero, and W_x is a tenth of what it was, so that the states stay small, where
    the slopes of tanh are close to 1.
    """
    with torch.no_grad():
        nn.init.orthogonal_(rnn.get_parameter("weight_hh_l0"))
        rnn.get_parameter("weight_ih_l0").mul_(0.1)
        rnn.get_parameter("bias_ih_l0").zero_()
        rnn.get_parameter("bias_hh_l0").zero_()


@dataclass(frozen=True)
class Recall:
    """Train a recurrent classifier on the recall task; see `train_to_recall` for rows and seeds.

    Attributes:
        cell: "rnn", "gru" or "lstm".
        forget_bias: bias of the forget gates before training, for the LSTM alone; None leaves the library's.
        orthogonal: whether the layer starts as `start_orthogonal` has it, for the plain recurrence alone.
        length: in steps; 50 are enough for a plain recurrence to fail.
        training_rows: to train on.
        validation_rows: to validate.
        training: a rate and a number of epochs at which a cell that can learn the task does.
    """

    cell: Cell
    forget_bias: float | None = None
    orthogonal: bool = False
    length: int = 50
    training_rows: int = 1000
    validation_rows: int = 1000
    training: Training = Training(learning_rate=5e-3, clip=1.0)

    def run(self, seed: int, device: torch.device) -> dict[str, Any]:
        """Train and measure; returns what `train_to_recall` returns."""
        rows = self.training_rows, self.validation_rows
        return train_to_recall(
            self.build, length=self.length, rows=rows, training=self.training, seed=seed, device=device
        )

    def build(self) -> nn.Module:
        """Construct the model on the CPU with weights from the global generator."""
        model = RecurrentClassifier(
            RecurrentClassifierConfig(
                self.cell, vocabulary=REMEMBERED + DISTRACTORS, classes=REMEMBERED, embedding=16, hidden=16
            )
        )
        if self.forget_bias is not None:
            if not isinstance(model.recurrent, nn.LSTM):
                raise ValueError(f"forget_bias needs an LSTM: the cell {self.cell!r} has no forget gate")
            set_forget_bias(model.recurrent, self.forget_bias)
        if self.orthogonal:
            if not isinstance(model.recurrent, nn.RNN):
                raise ValueError(f"orthogonal needs a plain recurrence, not the cell {self.cell!r}")
            start_orthogonal(model.recurrent)
        return model


LONGER = Training(learning_rate=5e-3, epochs=20, clip=1.0)
SMALL_STEPS = Training(learning_rate=1e-3, epochs=20, clip=1.0)
RECALL_SMALL_STEPS = Recall("rnn", training=SMALL_STEPS)
RECALL_ORTHOGONAL = Recall("rnn", orthogonal=True, training=SMALL_STEPS)
"""detector: a plain recurrence as the library starts it, and one that starts with a gradient that stays."""

RECALL_PLAIN_RNN = Recall("rnn")
RECALL_LSTM = Recall("lstm")
RECALL_LSTM_MORE_ROWS = Recall("lstm", training_rows=8000)
RECALL_OPEN_FORGET_GATE = Recall("lstm", forget_bias=5.0)
"""detector: ways to carry one bit over fifty steps."""


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

"""Dropout on the state that a recurrence carries: a fresh mask at every step, or one mask for all steps of a sequence.

Masks are drawn on the CPU from the global generator. As in all dropout they hold 0 with probability `rate` and
1 / (1 − rate) otherwise, so that one mask leaves the expectation of a state as it is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import torch
from torch import Tensor, nn
from torch.nn import functional

from lessons.classifiers import RecurrentClassifierConfig
from lessons.recall import DISTRACTORS, recall_task
from lessons.training import Training, accuracy, train

Drawn = Literal["at every step", "once per sequence"]


def state_masks(drawn: Drawn, rate: float, steps: int, batch: int, features: int) -> Tensor:
    """Draw the masks of a batch.

    Args:
        drawn: how often.
        rate: probability of dropping a unit, 0 ≤ rate < 1.
        steps: steps in a sequence.
        batch: sequences, each with masks of its own.
        features: units in a state.

    Returns:
        float of shape (steps, batch, features).

    Raises:
        ValueError: if the rate is outside its range.
    """
    if not 0 <= rate < 1:
        raise ValueError(f"a dropout rate lies in 0 ≤ rate < 1, got {rate!r}")
    draws = steps if drawn == "at every step" else 1
    return functional.dropout(torch.ones(draws, batch, features), rate).expand(steps, batch, features)


def carried(masks: Tensor) -> Tensor:
    """What is left after each step of a state of ones that a recurrence merely carries; shape as `masks`."""
    return masks.cumprod(dim=0)


def refreshed(masks: Tensor, gain: float = 4.0) -> Tensor:
    """The states of a recurrence that gives every unit anew, at each step, what all units together remember.

    From a state of ones, h_t = tanh(gain · mean of h_{t−1} over its units) · mask_t. The units hold one bit, their
    sign, as often as there are units, so that the mean survives the loss of most of them.

    Args:
        masks: float of shape (steps, batch, features).
        gain: above 1, so that the bit has two stable values.

    Returns:
        float of shape (steps, batch, features).
    """
    state = torch.ones_like(masks[0])
    visited = []
    for mask in masks:
        state = torch.tanh(gain * state.mean(dim=-1, keepdim=True)) * mask
        visited.append(state)
    return torch.stack(visited)


class StateDropoutClassifier(nn.Module):
    """A GRU classifier whose carried state is masked after every step in training. Tokens (batch, length) to logits."""

    def __init__(self, drawn: Drawn, rate: float, config: RecurrentClassifierConfig) -> None:
        super().__init__()
        self.drawn = drawn
        self.rate = rate
        self.embedding = nn.Embedding(config.vocabulary, config.embedding)
        self.cell = nn.GRUCell(config.embedding, config.hidden)
        self.head = nn.Linear(config.hidden, config.classes)

    def forward(self, tokens: Tensor) -> Tensor:
        """Classify int64 tokens of shape (batch, length); returns float logits of shape (batch, classes)."""
        embedded = self.embedding(tokens)
        state = embedded.new_zeros(len(tokens), self.cell.hidden_size)
        rate = self.rate if self.training else 0.0
        masks = state_masks(self.drawn, rate, tokens.shape[1], *state.shape).to(state.device)
        for step, mask in zip(embedded.unbind(dim=1), masks, strict=True):
            state = self.cell(step, state) * mask
        logits: Tensor = self.head(state)
        return logits


TOKENS_TO_REMEMBER = 8
GUESSING = 1 / TOKENS_TO_REMEMBER
STEPS = 20
"""Steps that the page lets a memory go through."""


@dataclass(frozen=True)
class StateDropout:
    """Train a GRU, all of whose memory is its state, to recall a first token, with dropout on that state.

    Attributes:
        drawn: how often masks are drawn.
        rate: probability of dropping a unit; the one that the page asks of a layer.
        steps: after the first token.
        rows: to train on, from data seed 2s for seed s, and 1,000 to validate from 2s + 1.
        training: the week's recipe, clipped, at a rate at which the same GRU without dropout learns the task.
    """

    drawn: Drawn
    rate: float = 0.3
    steps: int = STEPS
    rows: int = 2000
    training: Training = Training(learning_rate=5e-3, clip=1.0)

    def run(self, seed: int, device: torch.device) -> dict[str, Any]:
        """Train and measure.

        Returns:
            `recall`, the share of validation rows whose first token is recalled while masks act as in training, and
            `recall without masks`, that in evaluation, both 0..1, where guessing gives 1/8; `loss` of the last
            epoch, in nats.
        """
        inputs, labels = self._rows(self.rows, 2 * seed, device)
        validation = self._rows(1000, 2 * seed + 1, device)
        torch.manual_seed(seed)
        sizes = RecurrentClassifierConfig(
            "gru", vocabulary=TOKENS_TO_REMEMBER + DISTRACTORS, classes=TOKENS_TO_REMEMBER
        )
        model = StateDropoutClassifier(self.drawn, self.rate, sizes).to(device)
        torch.manual_seed(seed)
        trace = train(model, inputs, labels, self.training)
        return {
            "recall": recall_with_masks(model, *validation),
            "recall without masks": accuracy(model, *validation),
            "loss": trace.losses[-1],
        }

    def _rows(self, rows: int, seed: int, device: torch.device) -> tuple[Tensor, Tensor]:
        inputs, labels = recall_task(rows, 1 + self.steps, seed, TOKENS_TO_REMEMBER)
        return inputs.to(device), labels.to(device)


@torch.no_grad()
def recall_with_masks(model: nn.Module, inputs: Tensor, labels: Tensor) -> float:
    """Share of rows whose largest logit is the label's, in training mode; a number in 0..1."""
    model.train()
    correct: Tensor = model(inputs).argmax(dim=-1) == labels
    return correct.double().mean().item()


STATE_DROPOUT: dict[Drawn, StateDropout] = {
    "at every step": StateDropout("at every step"),
    "once per sequence": StateDropout("once per sequence"),
}
"""week07 day 5: two ways to drop a carried state."""

"""Dropout on the state that a recurrence carries: a fresh mask at every step, or one mask for all steps of a sequence.

Masks are drawn on the CPU from the global generator. They hold 0 with probability `rate` and 1 / (1 − rate)
otherwise, so that a state keeps its expectation.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import torch
from torch import Tensor, nn

from lessons.classifiers import RecurrentClassifierConfig
from lessons.memory_task import MemoryTask
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
    kept = torch.rand(draws, batch, features) >= rate
    return (kept / (1 - rate)).expand(steps, batch, features)


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


@dataclass(frozen=True)
class StateDropout:
    """Train a GRU on the memory task with dropout on its state. A GRU, because all that it carries is its state.

    Attributes:
        drawn: how often masks are drawn.
        rate: probability of dropping a unit; low enough for either way to learn something.
        data: what is learnt.
        training: the page's recipe, clipped.
    """

    drawn: Drawn
    rate: float = 0.1
    data: MemoryTask = MemoryTask()
    training: Training = Training(clip=1.0)

    def run(self, seed: int, device: torch.device) -> dict[str, Any]:
        """Train and measure.

        Returns:
            `accuracy` on the validation rows, without dropout, 0..1.
        """
        split = self.data.split(seed)
        torch.manual_seed(seed)
        model = StateDropoutClassifier(self.drawn, self.rate, RecurrentClassifierConfig("gru")).to(device)
        torch.manual_seed(seed)
        inputs, labels = (part.to(device) for part in split.training)
        train(model, inputs, labels, self.training)
        return {"accuracy": accuracy(model, *(part.to(device) for part in split.validation))}


STATE_DROPOUT: dict[Drawn, StateDropout] = {
    "at every step": StateDropout("at every step"),
    "once per sequence": StateDropout("once per sequence"),
}
"""week07 day 5: two ways to drop a carried state."""

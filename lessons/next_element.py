"""Predicting the next element: the cycle of week07 day 6, the model that learns it, and sampling from it.

A worked example, the first 20 tokens of the noisy cycle at seed 0 follow 1 2 3 4 5 1 2 3 4 5 … except where one
place in ten, on average, has been drawn anew from 1..5 (and so keeps its right token one time in five).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from lessons.observation import Observation
from lessons.settings import observed_settings
from lessons.splits import Source
from lessons.training import Step, Training, train

NOISE = 0.1
"""Probability that a token of the cycle is drawn anew."""

PERIOD = 5
PAGE_TEXT = 20
"""Tokens that the page generates, its start token among them."""


def clean_cycle() -> Tensor:
    """Tokens 1..5 repeated 400 times, int64 of shape (100, 20): every row starts with 1."""
    return torch.arange(1, PERIOD + 1).repeat(400).view(100, 20)


def noise_places(generator: torch.Generator) -> Tensor:
    """Draw where the cycle is noisy, bool of shape (100, 20): each place with probability `NOISE`."""
    return (torch.rand(2000, generator=generator) < NOISE).view(100, 20)


def noisy_cycle(seed: int) -> Tensor:
    """Tokens 1..5 repeated 400 times, one in ten drawn anew.

    Args:
        seed: of the one generator that draws the places first and the tokens for them second.

    Returns:
        int64 of shape (100, 20), values 1..5.
    """
    generator = torch.Generator().manual_seed(seed)
    tokens, places = clean_cycle(), noise_places(generator)
    tokens[places] = torch.randint(1, PERIOD + 1, (int(places.sum()),), generator=generator)
    return tokens


def follows_cycle(tokens: Tensor) -> Tensor:
    """Whether each token but the first is the one that comes after its predecessor in the cycle.

    Args:
        tokens: int64 of shape (…, length), values 0..5; 0 has no place in the cycle and no successor.

    Returns:
        bool of shape (…, length − 1).
    """
    before, after = shifted(tokens)
    return (before > 0) & (after == before % PERIOD + 1)


def shifted(sequences: Tensor) -> tuple[Tensor, Tensor]:
    """Inputs are all but the last position and targets all but the first; each of shape (…, length − 1)."""
    return sequences[..., :-1], sequences[..., 1:]


def next_element_loss(logits: Tensor, targets: Tensor) -> Tensor:
    """Mean cross-entropy over all positions.

    Args:
        logits: float of shape (batch, length, classes).
        targets: int64 of shape (batch, length).
    """
    return functional.cross_entropy(logits.flatten(0, 1), targets.flatten())


@dataclass(frozen=True)
class NoisyCycle:
    """The rows of the noisy cycle, of which a model reads all positions but the last."""

    def source(self, inputs: Tensor, seeds: Iterable[int]) -> Source | None:
        """Return from which of these seeds inputs of shape (rows, length − 1) come; None if from none of them."""
        for seed in seeds:
            tokens = noisy_cycle(seed)
            read, targets = shifted(tokens)
            if torch.equal(read, inputs.cpu()):
                return Source(seed, len(tokens), tokens.shape[1], targets)
        return None


@dataclass(frozen=True)
class NextElementModel:
    """Embedding, LSTM, and a linear head at every position."""

    vocabulary: int
    embedding: int = 16
    hidden: int = 32
    bidirectional: bool = False

    def build(self) -> NextElementPredictor:
        """Construct the model on the CPU with weights from the global generator."""
        return NextElementPredictor(self)


class NextElementPredictor(nn.Module):
    """The model that `NextElementModel` configures."""

    def __init__(self, config: NextElementModel) -> None:
        super().__init__()
        self.embedding = nn.Embedding(config.vocabulary, config.embedding)
        self.recurrent = nn.LSTM(config.embedding, config.hidden, bidirectional=config.bidirectional, batch_first=True)
        self.head = nn.Linear(config.hidden * (2 if config.bidirectional else 1), config.vocabulary)

    def forward(self, tokens: Tensor) -> Tensor:
        """Logits (batch, length, vocabulary) for the token that follows each of `tokens` (batch, length)."""
        logits, _ = self.step(tokens, None)
        return logits

    def step(self, tokens: Tensor, state: tuple[Tensor, Tensor] | None) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        """Read further tokens from a carried state.

        Args:
            tokens: int64 of shape (batch, length).
            state: hidden and cell state as the last call returned them, or None at the start.

        Returns:
            logits of shape (batch, length, vocabulary) and the state after the last token.
        """
        outputs, state = self.recurrent(self.embedding(tokens), state)
        return self.head(outputs), state


def temperature_probabilities(logits: Tensor, temperature: float) -> Tensor:
    """Softmax of logits / temperature over the last dimension.

    Raises:
        ValueError: if the temperature is not a positive, finite number.
    """
    if not 0 < temperature < float("inf"):
        raise ValueError(f"temperature must be a positive, finite number, got {temperature!r}")
    # Subtracting the maximum first keeps a temperature near 0 from overflowing to inf − inf.
    return functional.softmax((logits - logits.max(dim=-1, keepdim=True).values) / temperature, dim=-1)


@torch.no_grad()
def generate(model: NextElementPredictor, temperature: float, seed: int, start: int = 1, count: int = 19) -> list[int]:
    """Draw tokens one at a time, each fed back with the carried state.

    Args:
        model: predicts the next token.
        temperature: > 0.
        seed: the global generator is seeded with it before the first draw.
        start: the first token, which is part of what is returned.
        count: tokens to draw.

    Returns:
        1 + count tokens.

    Raises:
        ValueError: if the temperature is not a positive, finite number.
    """
    model.eval()
    torch.manual_seed(seed)
    tokens, state = [start], None
    device = next(model.parameters()).device
    for _ in range(count):
        logits, state = model.step(torch.tensor([[tokens[-1]]], device=device), state)
        # Probabilities are rounded to float32 by the page as well; the draw is made on the CPU on every device.
        probabilities = temperature_probabilities(logits[0, -1], temperature).cpu()
        tokens.append(int(torch.multinomial(probabilities, 1)))
    return tokens


@dataclass(frozen=True)
class CycleRecipe:
    """Learn the noisy cycle, full batch, then generate from what was learnt.

    Seed s is the data seed, the global seed before the model is built, and the global seed before each generation
    (the page's own run is seed 0). The page generates 20 tokens; the same draws go on to `text` tokens here, because
    20 tokens say little about how often a model keeps to the cycle.
    """

    training: Training = Training(learning_rate=5e-3, epochs=60, batch_size=None, clip=1.0, reseed=False)
    model: NextElementModel = NextElementModel(vocabulary=6)
    temperatures: tuple[float, ...] = ()
    text: int = 500

    def run(self, seed: int, device: torch.device) -> dict[str, Any]:
        """Train and measure.

        Returns:
            `losses` of each epoch's forward pass; `accuracies` after the step of every epoch (share of all
            positions, 0..1); `norms`, the global gradient norm of each step; `logits` of the six tokens after 20
            tokens of the clean cycle; and for each temperature T `generated at temperature T`, a string of 20 digits,
            and `right steps at temperature T`, the share of the text's steps that follow the cycle, 0..1. At the
            page's seed also `settings`, what was seen of how the run was made.
        """
        inputs, targets = (part.to(device) for part in shifted(noisy_cycle(seed)))
        torch.manual_seed(seed)
        model = self.model.build().to(device)
        accuracies: list[float] = []

        @torch.no_grad()
        def observe(step: Step) -> None:
            accuracies.append((model(inputs).argmax(-1) == targets).double().mean().item())

        seen = Observation(model) if seed == 0 else None
        trace = train(
            model, inputs, targets, self.training, loss_function=next_element_loss, observe=observe, observation=seen
        )
        generated: dict[str, Any] = {}
        if seen is not None:
            generated["settings"] = observed_settings(seen, NoisyCycle(), self.model.build, accuracy=accuracies[-1])
        for temperature in self.temperatures:
            text = generate(model, temperature, seed, count=self.text - 1)
            generated[f"generated at temperature {temperature}"] = "".join(map(str, text[:PAGE_TEXT]))
            right = follows_cycle(torch.tensor(text)).double().mean()
            generated[f"right steps at temperature {temperature}"] = right.item()
        with torch.no_grad():
            logits = model(clean_cycle()[:1].to(device))[0, -1]
        return {
            "losses": trace.losses,
            "accuracies": accuracies,
            "norms": trace.norms,
            "logits": logits.tolist(),
            **generated,
        }

"""The training runs of both lessons, as named, typed, frozen configurations.

A recipe and a seed make a run: `recipe.run(seed, device)` is a pure function of the two and of the machine's
numerics, and returns plain Python values. Seed 0 is what the page itself ran.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import torch

from lesson_claims import Outcome, Recipe
from lessons.classifiers import BagOfEmbeddingsConfig, ModelConfig, RecurrentClassifierConfig, SequenceClassifierConfig
from lessons.clipping import ClippingProbe
from lessons.counts import COUNTS_BASELINE
from lessons.detector import PADDING, PAGE_SEED, LanguageStrings
from lessons.memory_task import MemoryTask
from lessons.next_element import CycleRecipe
from lessons.observation import Observation
from lessons.settings import observed_settings
from lessons.splits import Split
from lessons.training import Training, accuracy, train_together


class Data(Protocol):
    """A frozen dataclass that draws a labelled data set."""

    def split(self, seed: int) -> Split:
        """Draw it for a seed ≥ 0."""


@dataclass(frozen=True)
class Classification:
    """Train a model to classify sequences and measure its accuracy on rows it has not seen.

    `page_seed` is the seed that the page used; seed s of the recipe means page_seed + s.
    """

    data: Data
    model: ModelConfig
    training: Training = Training()
    page_seed: int = 0

    @property
    def start(self) -> Classification:
        """What decides the first steps. Recipes with one start take the same ones until a clipping acts."""
        return replace(self, training=replace(self.training, epochs=1, clip=None))

    def run(self, seed: int, device: torch.device) -> Outcome:
        """Train and measure.

        Returns:
            `accuracy` on the validation rows and `NAME accuracy` on each further part, 0..1; `losses`, the mean
            training loss of each epoch; `largest norms`, the largest global gradient norm (before clipping) of each
            epoch; and at the page's seed `settings`, what was seen of how the run was made.
        """
        ((_, outcome),) = self.run_with([], seed, device)
        return outcome

    def run_with(
        self, others: Sequence[Classification], seed: int, device: torch.device
    ) -> Iterator[tuple[Classification, Outcome]]:
        """Make this run and those of other recipes with the same start; the steps that they share are made once.

        Yields:
            each recipe as it is finished, with what `run` alone would return.
        """
        recipes = {recipe.training: recipe for recipe in (self, *others)}
        is_page = seed == 0
        seed += self.page_seed
        split = self.data.split(seed)
        inputs, labels = (part.to(device) for part in split.training)
        torch.manual_seed(seed)
        model = self.model.build().to(device)
        if self.training.reseed:
            torch.manual_seed(seed)
        seen = Observation(model) if is_page else None
        for training, trace in train_together(model, inputs, labels, recipes, seen):
            steps = len(trace.norms) // training.epochs
            score = accuracy(model, *(part.to(device) for part in split.validation))
            settings = observed_settings(seen, self.data, self.model.build, accuracy=score) if seen else None
            yield (
                recipes[training],
                {
                    "accuracy": score,
                    **({"settings": settings} if settings else {}),
                    **{
                        f"{name} accuracy": accuracy(model, *(part.to(device) for part in other))
                        for name, other in split.others.items()
                    },
                    "losses": trace.losses,
                    "largest norms": [
                        max(trace.norms[start : start + steps]) for start in range(0, len(trace.norms), steps)
                    ],
                },
            )


CLIPPED = Training(clip=1.0)
CLIPPED_8_EPOCHS = Training(epochs=8, clip=1.0)

PLAIN_RNN = RecurrentClassifierConfig("rnn")
GRU = RecurrentClassifierConfig("gru")
LSTM = RecurrentClassifierConfig("lstm")
TWO_LAYERS = RecurrentClassifierConfig("lstm", layers=2)
BIDIRECTIONAL = RecurrentClassifierConfig("lstm", bidirectional=True)

POOLINGS = {
    "last": Classification(MemoryTask(), LSTM),
    "mean": Classification(MemoryTask(), RecurrentClassifierConfig("lstm", pooling="mean")),
    "max": Classification(MemoryTask(), RecurrentClassifierConfig("lstm", pooling="max")),
}
"""week07 day 3: how the outputs become one vector."""

CELLS = {
    "rnn": Classification(MemoryTask(), PLAIN_RNN),
    "gru": Classification(MemoryTask(), GRU),
    "lstm": Classification(MemoryTask(), LSTM),
}
"""week07 day 3: the three cells, read at the last position."""

DEPTH_AND_DIRECTION = {
    "one layer": Classification(MemoryTask(), LSTM),
    "two layers": Classification(MemoryTask(), TWO_LAYERS),
    "bidirectional": Classification(MemoryTask(), BIDIRECTIONAL),
}
"""week07 day 4."""

TWO_LAYERS_LONGER = replace(DEPTH_AND_DIRECTION["two layers"], training=Training(epochs=20))
"""Twice the page's epochs: are two layers worse, or slower to train?"""

CLIPPING = {
    "without clipping": ClippingProbe(Training(learning_rate=0.02, epochs=3, reseed=False)),
    "with clipping": ClippingProbe(Training(learning_rate=0.02, epochs=3, clip=1.0, reseed=False)),
}
"""week07 day 5: a plain RNN at an Adam rate at which gradients grow, seen step by step."""

LENGTHS = (6, 10, 16)
LENGTH_SWEEP = {
    (name, length): Classification(MemoryTask(length=length), model, CLIPPED)
    for name, model in (("plain RNN", PLAIN_RNN), ("LSTM", LSTM))
    for length in LENGTHS
}
"""week07 day 5: accuracy against length."""

CYCLE = CycleRecipe()
"""week07 day 6: learning the cycle."""

GENERATION = replace(CYCLE, training=replace(CYCLE.training, clip=None), temperatures=(0.2, 1.0, 2.0))
"""week07 day 6: the same without clipping, then generation."""

COMPLETE = Classification(MemoryTask(), SequenceClassifierConfig(), CLIPPED_8_EPOCHS)
"""week07 day 7: the complete classifier as its code has it."""

COMPARISON = {
    "bag of embeddings": Classification(MemoryTask(), BagOfEmbeddingsConfig(), CLIPPED_8_EPOCHS),
    "plain RNN": Classification(MemoryTask(), PLAIN_RNN, CLIPPED_8_EPOCHS),
    "GRU": Classification(MemoryTask(), GRU, CLIPPED_8_EPOCHS),
    "LSTM": Classification(MemoryTask(), LSTM, CLIPPED_8_EPOCHS),
    "bidirectional LSTM": Classification(MemoryTask(), BIDIRECTIONAL, CLIPPED_8_EPOCHS),
}
"""week07 day 7: five models, one table."""

LANG_NET = RecurrentClassifierConfig("lstm", vocabulary=PADDING + 1, classes=3, hidden=32)
READ_AT_LAST_CHARACTER = replace(LANG_NET, pooling="true last", padding=PADDING)

DETECTOR = Classification(
    LanguageStrings(), LANG_NET, Training(learning_rate=5e-3, epochs=15, reseed=False), page_seed=PAGE_SEED
)
"""detector: read at the last position of the padded sequence, as the page has it."""

DETECTOR_TRUE_LAST = replace(DETECTOR, model=READ_AT_LAST_CHARACTER)
"""detector: read at each string's own last character."""

PAGE_RUNS: dict[str, Recipe] = {
    "week07 day 1, counts": COUNTS_BASELINE,
    **{f"week07 day 3, pooling {name}": recipe for name, recipe in POOLINGS.items()},
    **{f"week07 day 3, {name}": recipe for name, recipe in CELLS.items()},
    **{f"week07 day 4, {name}": recipe for name, recipe in DEPTH_AND_DIRECTION.items()},
    **{f"week07 day 5, {name}": recipe for name, recipe in CLIPPING.items()},
    **{f"week07 day 5, {name}, length {length}": recipe for (name, length), recipe in LENGTH_SWEEP.items()},
    "week07 day 6, cycle": CYCLE,
    "week07 day 6, generation": GENERATION,
    "week07 day 7, complete classifier": COMPLETE,
    **{f"week07 day 7, {name}": recipe for name, recipe in COMPARISON.items()},
    "detector": DETECTOR,
}
"""Every training run that the pages make, in the pages' order; some of them are the same run."""

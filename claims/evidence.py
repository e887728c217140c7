"""Evidence: what the runs of one recipe measured, as arrays over seeds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from claims.run_store import Run, RunStore
from lessons.recipes import Outcome, Recipe


@dataclass(frozen=True)
class Sample:
    """One measured quantity over seeds, and what the page's own run (seed 0) gave.

    Attributes:
        page: the value of seed 0: a number or a text.
        seeds: in their order.
        values: shape (seeds,), or (seeds, …) for a series; numbers, or texts as objects.
    """

    page: Any
    seeds: tuple[int, ...]
    values: NDArray[Any]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        """Let NumPy, and so every decider, take a sample for the array of its values."""
        return np.array(self.values, dtype=dtype, copy=copy)

    def __len__(self) -> int:
        return len(self.seeds)

    def at(self, index: int) -> Sample:
        """Return one place of a series, such as the loss of one epoch."""
        return Sample(self.page[index], self.seeds, self.values[:, index])

    def reduced(self, function: Any) -> Sample:
        """Apply a function to each seed's value, such as `max` to a series."""
        return Sample(function(self.page), self.seeds, np.array([function(value) for value in self.values]))


@dataclass(frozen=True)
class Evidence:
    """The runs of one recipe over seeds; `evidence["accuracy"]` is a `Sample`."""

    recipe: Recipe
    page: Run
    runs: Sequence[Run]

    def __getitem__(self, name: str) -> Sample:
        """Return one quantity of the outcome over seeds.

        Raises:
            KeyError: if the recipe does not measure it.
        """
        return self._sample([run.outcome for run in self.runs], self.page.outcome, name)

    @property
    def seconds(self) -> Sample:
        """How long each run took where it was made."""
        return Sample(
            self.page.seconds,
            tuple(run.seed for run in self.runs),
            np.array([run.seconds for run in self.runs]),
        )

    def _sample(self, outcomes: Sequence[Outcome], page: Outcome, name: str) -> Sample:
        if name not in page:
            raise KeyError(f"{type(self.recipe).__name__} measures {', '.join(page)}; not {name!r}")
        return Sample(
            page[name],
            tuple(run.seed for run in self.runs),
            np.array([outcome[name] for outcome in outcomes]),
        )


def gather(store: RunStore, recipe: Recipe, seeds: Sequence[int], device: torch.device) -> Evidence:
    """Return the evidence of a recipe over seeds, with the page's own seed 0 beside them.

    Raises:
        RunStoreError: as `RunStore.runs` does.
    """
    wanted = list(dict.fromkeys([0, *seeds]))
    runs = {run.seed: run for run in store.runs(recipe, wanted, device)}
    return Evidence(recipe, runs[0], [runs[seed] for seed in seeds])


EvidenceOf = Callable[[Recipe], Evidence]
"""What the fixture `evidence` is: from a recipe to its evidence over the session's seeds."""

"""Evidence: what the runs of one recipe measured, as arrays over seeds."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from claims.platforms import outcomes
from claims.run_store import Run, RunStore
from lessons.recipes import PAGE_RUNS, Outcome, Recipe


@dataclass(frozen=True)
class Sample:
    """One measured quantity over seeds, and what the page's own run (seed 0) gave.

    Attributes:
        page: the value of seed 0: a number or a text.
        seeds: in their order.
        values: shape (seeds,), or (seeds, …) for a series; numbers, or texts as objects.
        platforms: the page's own run on each platform of `claims.platforms`, if that was asked for.
    """

    page: Any
    seeds: tuple[int, ...]
    values: NDArray[Any]
    platforms: Mapping[str, Any] = field(default_factory=dict)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        """Let NumPy, and so every decider, take a sample for the array of its values."""
        return np.array(self.values, dtype=dtype, copy=copy)

    def __len__(self) -> int:
        return len(self.seeds)

    def at(self, index: int) -> Sample:
        """Return one place of a series, such as the loss of one epoch."""
        platforms = {name: value[index] for name, value in self.platforms.items()}
        return Sample(self.page[index], self.seeds, self.values[:, index], platforms)

    def reduced(self, function: Any) -> Sample:
        """Apply a function to each seed's value, such as `max` to a series."""
        values = np.array([function(value) for value in self.values])
        platforms = {name: function(value) for name, value in self.platforms.items()}
        return Sample(function(self.page), self.seeds, values, platforms)


@dataclass(frozen=True)
class Evidence:
    """The runs of one recipe over seeds; `evidence["accuracy"]` is a `Sample`."""

    recipe: Recipe
    page: Run
    runs: Sequence[Run]
    platforms: Mapping[str, Outcome] = field(default_factory=dict)

    def __getitem__(self, name: str) -> Sample:
        """Return one quantity of the outcome over seeds.

        Raises:
            KeyError: if the recipe does not measure it.
        """
        if name not in self.page.outcome:
            raise KeyError(f"{type(self.recipe).__name__} measures {', '.join(self.page.outcome)}; not {name!r}")
        return Sample(
            self.page.outcome[name],
            tuple(run.seed for run in self.runs),
            np.array([run.outcome[name] for run in self.runs]),
            {platform: outcome[name] for platform, outcome in self.platforms.items()},
        )

    @property
    def seconds(self) -> Sample:
        """How long each run took where it was made."""
        return Sample(
            self.page.seconds,
            tuple(run.seed for run in self.runs),
            np.array([run.seconds for run in self.runs]),
        )


def gather(
    store: RunStore, recipe: Recipe, seeds: Sequence[int], device: torch.device, *, platforms: bool = False
) -> Evidence:
    """Return the evidence of a recipe over seeds, with the page's own seed 0 beside them.

    With `platforms`, a run that a page makes is repeated on every platform; see `claims.platforms`.

    Raises:
        RunStoreError: as `RunStore.runs` does.
    """
    wanted = list(dict.fromkeys([0, *seeds]))
    runs = {run.seed: run for run in store.runs(recipe, wanted, device)}
    page_run = next((name for name, page_recipe in PAGE_RUNS.items() if page_recipe == recipe), None)
    spread = outcomes(store, page_run) if platforms and page_run is not None else {}
    return Evidence(recipe, runs[0], [runs[seed] for seed in seeds], spread)


EvidenceOf = Callable[[Recipe], Evidence]
"""What the fixture `evidence` is: from a recipe to its evidence over the session's seeds."""

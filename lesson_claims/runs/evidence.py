"""Evidence: what the runs of one recipe measured, as arrays over seeds."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lesson_claims.runs.device import Device
from lesson_claims.runs.platforms import PageRun, outcomes
from lesson_claims.runs.recipe import Outcome, Recipe, RecipeError, is_seedless
from lesson_claims.runs.store import Run, RunStore
from lesson_claims.settings import SETTINGS


@dataclass(frozen=True)
class Sample:
    """One measured quantity over seeds, and what the page's own run gave.

    Attributes:
        page: the value at the page's seed: a number or a text.
        seeds: in their order.
        values: shape (seeds,), or (seeds, …) for a series; numbers, or texts as objects.
        platforms: the page's own run on each platform of `lesson_claims.runs.platforms`, if that was asked for.
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
        measured = [each for each in self.page.outcome if each != SETTINGS]
        if name not in measured:
            raise KeyError(f"{type(self.recipe).__name__} measures {', '.join(measured)}; not {name!r}")
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
    store: RunStore,
    recipe: Recipe,
    seeds: Sequence[int],
    device: Device,
    *,
    page_seed: int = 0,
    on_platforms: PageRun | None = None,
) -> Evidence:
    """Return the evidence of a recipe over seeds, with the run at the page's seed beside them.

    Args:
        store: where the runs are kept.
        recipe: what to run.
        seeds: over which the claim is decided; of a seedless recipe there is one run, at the page's seed.
        device: where the runs are made.
        page_seed: the seed that the page itself used.
        on_platforms: the recipe as a run of the page, to be repeated on every platform; None for not at all.

    Raises:
        RunStoreError: as `RunStore.runs` does.
        RecipeError: if all seeds gave the very same run, though the recipe does not say that it is `seedless`.
    """
    if is_seedless(recipe):
        seeds = [page_seed]
    wanted = list(dict.fromkeys([page_seed, *seeds]))
    runs = {run.seed: run for run in store.runs(recipe, wanted, device)}
    # How a run was made may name its seeds, or be told at the page's seed alone.
    outcomes_over_seeds = [{**runs[seed].outcome, SETTINGS: None} for seed in wanted]
    if len(wanted) > 1 and all(outcome == outcomes_over_seeds[0] for outcome in outcomes_over_seeds):
        raise RecipeError(
            f"{recipe}: {len(wanted)} seeds gave the very same run, which is no evidence over seeds; find out whether"
            " run() uses its seed, let it return a number that the seed moves, such as a loss, or write"
            " `seedless: ClassVar[bool] = True` into the recipe if nothing in it can depend on a seed"
        )
    spread = outcomes(store, on_platforms) if on_platforms is not None else {}
    return Evidence(recipe, runs[page_seed], [runs[seed] for seed in seeds], spread)


EvidenceOf = Callable[[Recipe], Evidence]
"""What the fixture `evidence` is: from a recipe to its evidence over the session's seeds."""

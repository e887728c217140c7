"""Evidence over seeds: what a page's own run is beside them, and runs that are no evidence."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

from lesson_claims.runs.device import CPU
from lesson_claims.runs.evidence import gather
from lesson_claims.runs.recipe import RecipeError, is_seedless
from lesson_claims.runs.store import RunStore


@dataclass(frozen=True)
class Moves:
    def run(self, seed: int) -> dict[str, Any]:
        return {"loss": 1 / (seed + 1), "path": [seed, 2 * seed], "won": True}


@dataclass(frozen=True)
class MovesLate:
    """All seeds but one give the same."""

    late: int = 5

    def run(self, seed: int) -> dict[str, Any]:
        return {"loss": float(seed == self.late)}


@dataclass(frozen=True)
class Ignores:
    losses: tuple[float, ...] = field(default=(0.5,))

    def run(self, seed: int) -> dict[str, Any]:
        return {"losses": list(self.losses)}


@dataclass(frozen=True)
class Seedless(Ignores):
    seedless: ClassVar[bool] = True


@pytest.fixture
def store(tmp_path: Path) -> RunStore:
    return RunStore(tmp_path)


def test_the_page_s_own_run_stands_beside_the_seeds(store: RunStore) -> None:
    found = gather(store, Moves(), [1, 2, 4], CPU)
    loss = found["loss"]
    assert (loss.page, loss.seeds, loss.values.tolist()) == (1.0, (1, 2, 4), [1 / 2, 1 / 3, 1 / 5])
    assert found["path"].at(1).values.tolist() == [2, 4, 8]
    assert found["path"].reduced(max).page == 0
    assert np.asarray(found.seconds).shape == (3,)


def test_a_page_seed_that_is_asked_for_is_among_them(store: RunStore) -> None:
    found = gather(store, Moves(), [3, 4], CPU, page_seed=3)
    assert (found["loss"].page, found["loss"].seeds) == (1 / 4, (3, 4))


def test_a_quantity_that_is_not_measured_is_named(store: RunStore) -> None:
    with pytest.raises(KeyError, match="Moves measures loss, path, won; not 'accuracy'"):
        gather(store, Moves(), [1], CPU)["accuracy"]


@pytest.mark.parametrize("seeds", [[1], [1, 2, 3], list(range(1, 7))])
@pytest.mark.parametrize("losses", [(0.5,), (0.5, 0.25), ()])
def test_seeds_that_all_gave_the_same_run_are_no_evidence(
    store: RunStore, seeds: list[int], losses: tuple[float, ...]
) -> None:
    with pytest.raises(RecipeError) as caught:
        gather(store, Ignores(losses), seeds, CPU)
    message = str(caught.value)
    assert message.startswith(f"Ignores(losses={losses}): {len(seeds) + 1} seeds gave the very same run")
    assert "seedless: ClassVar[bool] = True" in message
    assert "\n" not in message


def test_one_other_run_is_enough(store: RunStore) -> None:
    assert len(gather(store, MovesLate(), list(range(1, 7)), CPU)["loss"]) == 6
    with pytest.raises(RecipeError):
        gather(store, MovesLate(9), list(range(1, 7)), CPU)


def test_a_single_run_is_like_no_other(store: RunStore) -> None:
    assert gather(store, Ignores(), [0], CPU)["losses"].values.tolist() == [[0.5]]


def test_a_seedless_recipe_has_one_run(store: RunStore) -> None:
    found = gather(store, Seedless(), list(range(1, 7)), CPU, page_seed=2)
    assert (found["losses"].seeds, found["losses"].page) == ((2,), [0.5])
    assert len(list(store.folder.glob("*/*.json"))) == 1
    assert (is_seedless(Seedless()), is_seedless(Ignores())) == (True, False)

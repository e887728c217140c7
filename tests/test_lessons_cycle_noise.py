"""The rows on which the noise is to be predicted are fresh, and a guess is told from knowledge."""

from __future__ import annotations

from itertools import pairwise

import torch

from lessons.cycle_noise import FRESH_SEEDS, NoisePrediction

CPU = torch.device("cpu")


def test_no_fresh_row_is_of_a_training_seed_and_no_two_seeds_share_one() -> None:
    seeds = [NoisePrediction().fresh_seeds(seed) for seed in (0, 1, 2)]
    assert seeds[0].start == FRESH_SEEDS
    assert all(before.stop == after.start for before, after in pairwise(seeds))
    assert {len(each) for each in seeds} == {20}


def test_the_outcome_depends_on_its_seed_alone() -> None:
    recipe = NoisePrediction(fresh_sets=1)
    outcome = recipe.run(1, CPU)
    assert outcome == recipe.run(1, CPU)
    assert outcome != recipe.run(2, CPU)
    assert outcome["right at noisy places"] < 0.5 < outcome["right at other places"]

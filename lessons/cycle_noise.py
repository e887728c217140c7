"""Can a model predict the noise of the cycle? The model of week07 day 6 is asked on rows that it was not trained on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch

from lessons.next_element import CycleRecipe, next_element_loss, noise_places, noisy_cycle, shifted
from lessons.recipes import CYCLE
from lessons.training import train

FRESH_SEEDS = 1_000_000
"""Data seeds from here on are of fresh rows: those of training lie below."""


@dataclass(frozen=True)
class NoisePrediction:
    """Train as the page does, then look where fresh rows are noisy and where they are not.

    Attributes:
        cycle: the page's run; seed s is its data seed and the global seed before the model is built.
        fresh_sets: sets of 100 fresh rows. Twenty have about 3,800 noisy targets, so that the share of right
            predictions among them has a standard deviation of 0.0065 for a guess in five.
    """

    cycle: CycleRecipe = CYCLE
    fresh_sets: int = 20

    def fresh_seeds(self, seed: int) -> range:
        """Return the data seeds of the fresh rows for seed `seed` ≥ 0; no two seeds share one."""
        return range(FRESH_SEEDS + self.fresh_sets * seed, FRESH_SEEDS + self.fresh_sets * (seed + 1))

    def run(self, seed: int, device: torch.device) -> dict[str, Any]:
        """Train and look.

        Returns:
            the share of fresh targets that the model gets right, 0..1, `right at noisy places` (those whose token was
            drawn anew, one in five of them to the token of the cycle) and `right at other places`; `loss` of the
            last epoch, in nats.
        """
        inputs, targets = (part.to(device) for part in shifted(noisy_cycle(seed)))
        torch.manual_seed(seed)
        model = self.cycle.model.build().to(device)
        trace = train(model, inputs, targets, self.cycle.training, loss_function=next_element_loss)
        rows = torch.cat([noisy_cycle(fresh) for fresh in self.fresh_seeds(seed)])
        noisy = torch.cat([noise_places(torch.Generator().manual_seed(fresh)) for fresh in self.fresh_seeds(seed)])
        inputs, targets = shifted(rows)
        _, noisy = shifted(noisy)
        with torch.no_grad():
            right = model.eval()(inputs.to(device)).argmax(dim=-1).cpu() == targets
        return {
            "right at noisy places": right[noisy].double().mean().item(),
            "right at other places": right[~noisy].double().mean().item(),
            "loss": trace.losses[-1],
        }

"""Predicting the next element with a layer that reads both ways: what it scores is what it has already seen.

The tokens are drawn independently of each other, so that nothing can be predicted: an honest model is right one time in
ten, and whatever exceeds that was read off the answer.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch

from lessons.next_element import NextElementModel, next_element_loss, shifted
from lessons.training import Training, train

TOKENS = 10
LENGTH = 12

CHANCE = 1 / TOKENS


@dataclass(frozen=True)
class NextOfRandomTokens:
    """Train on independent random tokens and score on others.

    Seed s means data seeds 2s (training) and 2s + 1 (validation), and global seed s before the model is built.
    """

    bidirectional: bool
    rows: int = 1000
    training: Training = Training(learning_rate=2e-2, reseed=False)

    def run(self, seed: int, device: torch.device) -> dict[str, Any]:
        """Train and score.

        Returns:
            `accuracy` over all positions of the validation rows, and `accuracy by position`, a list of LENGTH − 1
            numbers; all 0..1.
        """
        training, validation = (
            torch.randint(TOKENS, (self.rows, LENGTH), generator=torch.Generator().manual_seed(data_seed)).to(device)
            for data_seed in (2 * seed, 2 * seed + 1)
        )
        torch.manual_seed(seed)
        model = NextElementModel(vocabulary=TOKENS, bidirectional=self.bidirectional).build().to(device)
        train(model, *shifted(training), self.training, loss_function=next_element_loss)
        model.eval()
        inputs, targets = shifted(validation)
        with torch.no_grad():
            correct = (model(inputs).argmax(dim=-1) == targets).cpu().double()
        return {"accuracy": correct.mean().item(), "accuracy by position": correct.mean(dim=0).tolist()}


LEAK = {"one-way": NextOfRandomTokens(bidirectional=False), "two-way": NextOfRandomTokens(bidirectional=True)}
"""week07 day 4."""

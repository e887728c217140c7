"""Order-free views of the memory task: how often each digit occurs, and what a model makes of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from torch import Tensor

from lessons.memory_task import MemoryTask


def digit_counts(sequences: Tensor) -> NDArray[np.int64]:
    """Count the digits of each row.

    Args:
        sequences: int64 of shape (rows, length), values 1..9.

    Returns:
        int64 of shape (rows, 9); column d − 1 counts digit d.
    """
    counts: NDArray[np.int64] = (sequences[:, :, None] == torch.arange(1, 10)).sum(dim=1).numpy()
    return counts


@dataclass(frozen=True)
class CountsClassifier:
    """A model of scikit-learn fitted to digit counts, scored on the validation rows.

    Attributes:
        model: logistic regression, or gradient boosting of trees with at most 8 leaves.
        data: the rows.
    """

    model: Literal["linear", "boosted trees"] = "linear"
    data: MemoryTask = MemoryTask()

    def run(self, seed: int, device: torch.device) -> dict[str, Any]:
        """Fit and score; scikit-learn runs on the CPU whatever `device` is.

        Returns:
            `accuracy` on the validation rows and `majority accuracy`, the share of the more frequent label among
            them; both 0..1.
        """
        split = self.data.split(seed)
        (training, labels), (validation, wanted) = split.training, split.validation
        if self.model == "linear":
            model = LogisticRegression(max_iter=1000)
        else:
            model = HistGradientBoostingClassifier(max_leaf_nodes=8, random_state=seed)
        model.fit(digit_counts(training), labels.numpy())
        ones = wanted.double().mean().item()
        return {
            "accuracy": float(model.score(digit_counts(validation), wanted.numpy())),
            "majority accuracy": max(ones, 1 - ones),
        }


COUNTS_BASELINE = CountsClassifier()
"""week07 day 1: the page's own baseline."""

BOOSTED_COUNTS = CountsClassifier("boosted trees")
"""The same counts, seen by a model that is not linear."""

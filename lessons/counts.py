"""Order-free views of the memory task: how often each digit occurs, and what a model makes of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from torch import Tensor

from lessons.memory_task import MemoryTask, memory_task
from lessons.settings import PAGE_SEEDS, UNKNOWN, Settings

Counts = NDArray[np.int64]


def digit_counts(sequences: Tensor) -> Counts:
    """Count the digits of each row.

    Args:
        sequences: int64 of shape (rows, length), values 1..9.

    Returns:
        int64 of shape (rows, 9); column d − 1 counts digit d.
    """
    counts: Counts = (sequences[:, :, None] == torch.arange(1, 10)).sum(dim=1).numpy()
    return counts


class Estimator(Protocol):
    """What is used of a model of scikit-learn."""

    def fit(self, counts: Counts, labels: Counts) -> object:
        """Fit the model."""

    def score(self, counts: Counts, labels: Counts) -> float:
        """Share of rows whose label the model tells."""

    def get_params(self) -> dict[str, Any]:
        """Parameters by name."""


class Watched:
    """A model of scikit-learn that notes what it is fitted to and scored on, each as counts and labels."""

    def __init__(self, model: Estimator) -> None:
        self.model = model
        self.fitted: list[tuple[Counts, Counts]] = []
        self.scored: list[tuple[Counts, Counts]] = []

    def fit(self, counts: Counts, labels: Counts) -> None:
        """Fit the model."""
        self.fitted.append((counts, labels))
        self.model.fit(counts, labels)

    def score(self, counts: Counts, labels: Counts) -> float:
        """Share of rows whose label the model tells."""
        self.scored.append((counts, labels))
        return float(self.model.score(counts, labels))

    def settings(self, length: int) -> Settings:
        """Return what was seen, and how the model differs from the library's own; rows have this many digits."""
        own = type(self.model)().get_params()
        changed = [f"{name}={value}" for name, value in self.model.get_params().items() if value != own[name]]
        return {
            "model": type(self.model).__name__,
            "parameters": ", ".join(changed) or "the library's own",
            "length": length,
            **_rows("training", self.fitted, length),
            **_rows("scored", self.scored, length),
        }


def _rows(name: str, parts: list[tuple[Counts, Counts]], length: int) -> Settings:
    """Return how many rows of the memory task counts are of, and of which data seed."""
    if len(parts) == 1:
        counts, labels = parts[0]
        for seed in PAGE_SEEDS:
            sequences, wanted = memory_task(len(counts), length, seed)
            if np.array_equal(digit_counts(sequences), counts) and np.array_equal(wanted.numpy(), labels):
                return {f"{name} rows": len(counts), f"{name} data seed": seed}
    return {f"{name} rows": UNKNOWN, f"{name} data seed": UNKNOWN}


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
            them; both 0..1; and at the page's seed `settings`, what was seen of how the run was made.
        """
        split = self.data.split(seed)
        (training, labels), (validation, wanted) = split.training, split.validation
        if self.model == "linear":
            model = Watched(LogisticRegression(max_iter=1000))
        else:
            model = Watched(HistGradientBoostingClassifier(max_leaf_nodes=8, random_state=seed))
        model.fit(digit_counts(training), labels.numpy())
        ones = wanted.double().mean().item()
        return {
            "accuracy": model.score(digit_counts(validation), wanted.numpy()),
            "majority accuracy": max(ones, 1 - ones),
            **({"settings": model.settings(training.shape[1])} if seed == 0 else {}),
        }


COUNTS_BASELINE = CountsClassifier()
"""week07 day 1: the page's own baseline."""

BOOSTED_COUNTS = CountsClassifier("boosted trees")
"""The same counts, seen by a model that is not linear."""

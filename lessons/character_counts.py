"""Order-free rules for the detector: which language, given nothing but how often each character occurs.

The characters of a string are drawn independently, so that counts are all there is to know about its language: the
best rule from the known probabilities is a linear function of the counts, and no model of whatever kind can expect to
be right more often.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import MultinomialNB
from torch import Tensor

from lessons.detector import ALPHABET, LANGS, PAGE_SEED, LanguageStrings, character_probabilities


def character_counts(encoded: Tensor) -> NDArray[np.int64]:
    """Count the characters of each string; padding does not count.

    Args:
        encoded: int64 of shape (strings, longest), as `lessons.detector.encode` returns it.

    Returns:
        int64 of shape (strings, 27), in the order of `ALPHABET`.
    """
    characters = torch.arange(len(ALPHABET))
    counts: NDArray[np.int64] = (encoded[:, :, None] == characters).sum(dim=1).numpy()
    return counts


def log_likelihoods(counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """Log-probability of one string with these counts in each language, in nats.

    It is Σ counts·log p, the same for every order of the characters.

    Args:
        counts: int64 of shape (strings, 27).

    Returns:
        float64 of shape (strings, 3), in the order of `LANGS`.
    """
    logarithms = np.log([character_probabilities(lang) for lang in LANGS])
    likelihoods: NDArray[np.float64] = counts.astype(np.float64) @ logarithms.T
    return likelihoods


@dataclass(frozen=True)
class RulesOnCounts:
    """Three rules that see counts alone, on the rows of the recipe `DETECTOR` with the same seed."""

    data: LanguageStrings = field(default_factory=LanguageStrings)

    def run(self, seed: int, device: torch.device) -> dict[str, Any]:
        """Fit on the training rows and score on the test rows; on the CPU whatever `device` is.

        Returns:
            `naive Bayes accuracy` (multinomial, one pseudo-count per character), `logistic regression accuracy`, and
            `best possible rule accuracy`, that of the exact Bayes rule from the probabilities which the strings were
            drawn with; all 0..1.
        """
        split = self.data.split(PAGE_SEED + seed)
        (training, labels), (test, wanted) = (
            (character_counts(x), y.numpy()) for x, y in (split.training, split.validation)
        )
        best = log_likelihoods(test).argmax(axis=1)
        return {
            "naive Bayes accuracy": float(MultinomialNB().fit(training, labels).score(test, wanted)),
            "logistic regression accuracy": float(
                LogisticRegression(max_iter=1000).fit(training, labels).score(test, wanted)
            ),
            "best possible rule accuracy": float((best == wanted).mean()),
        }


CHARACTER_COUNTS = RulesOnCounts()
"""detector: what an order-free rule makes of the same rows."""

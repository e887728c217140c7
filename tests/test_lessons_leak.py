from __future__ import annotations

import pytest
import torch

from lessons.leak import LENGTH, NextOfRandomTokens
from lessons.training import Training


def test_the_accuracy_is_the_mean_over_positions() -> None:
    short = NextOfRandomTokens(bidirectional=True, rows=40, training=Training(epochs=1, reseed=False))
    outcome = short.run(3, torch.device("cpu"))
    positions = outcome["accuracy by position"]
    assert len(positions) == LENGTH - 1
    assert sum(positions) / len(positions) == pytest.approx(outcome["accuracy"])
    assert short.run(3, torch.device("cpu")) == outcome

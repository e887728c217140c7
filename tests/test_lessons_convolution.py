"""The convolutional network: which lengths it takes, and what it sees of a sequence."""

from __future__ import annotations

import pytest
import torch
from torch.nn import functional

from lessons.convolution import ConvolutionClassifier


def test_global_pooling_sees_a_pattern_wherever_it_stands() -> None:
    model = ConvolutionClassifier(vocabulary=5, classes=3).build()
    pattern = torch.tensor([[2, 4, 3]])
    logits = [model(functional.pad(pattern, (before, 12 - before), value=1)) for before in range(2, 11)]
    for other in logits[1:]:
        torch.testing.assert_close(other, logits[0])


def test_a_head_for_all_positions_refuses_another_length() -> None:
    model = ConvolutionClassifier(vocabulary=5, classes=3, length=7).build()
    assert model(torch.zeros(2, 7, dtype=torch.int64)).shape == (2, 3)
    with pytest.raises(RuntimeError, match="shapes cannot be multiplied"):
        model(torch.zeros(2, 6, dtype=torch.int64))


def test_an_empty_sequence_is_refused() -> None:
    model = ConvolutionClassifier(vocabulary=5, classes=3).build()
    with pytest.raises(ValueError, match="length 0"):
        model(torch.zeros(2, 0, dtype=torch.int64))

"""The hand-written recurrence against the library's layer, and the latch at the edge of its noise."""

from __future__ import annotations

import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from lessons.recurrence import LATCH_NOISE, latch, orthogonal, states

small = st.integers(1, 6)


@given(batch=small, length=small, features=small, hidden=small, seed=st.integers(0, 1000))
@settings(max_examples=30, deadline=None)
def test_the_loop_is_the_layer(batch: int, length: int, features: int, hidden: int, seed: int) -> None:
    torch.manual_seed(seed)
    layer = nn.RNN(features, hidden, batch_first=True)
    input_weights, state_weights, bias, second_bias = layer.parameters()
    x, initial = torch.randn(batch, length, features), torch.randn(batch, hidden)
    visited = states(x, input_weights.T, state_weights.T, bias + second_bias, initial=initial)
    outputs, final = layer(x, initial[None])
    torch.testing.assert_close(torch.stack(visited[1:], dim=1), outputs)
    torch.testing.assert_close(visited[-1], final[0])


def test_the_latch_withstands_the_worst_noise() -> None:
    worst = torch.tensor([[1.0] + [-LATCH_NOISE] * 999, [-1.0] + [LATCH_NOISE] * 999])[:, :, None]
    outputs, _ = latch()(worst)
    assert outputs[0].min() >= 0.7
    assert outputs[1].max() <= -0.7


def test_an_orthogonal_matrix_keeps_norms() -> None:
    q = orthogonal(8, torch.Generator().manual_seed(1))
    torch.testing.assert_close(q @ q.T, torch.eye(8, dtype=torch.float64))

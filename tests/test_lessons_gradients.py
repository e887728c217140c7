"""The gradient probes against closed forms."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from lessons.gradients import GradientProbe, RecurrenceProbe, gradient_at_first_input, set_forget_bias, stays

CPU = torch.device("cpu")


def test_the_gradient_of_a_scalar_recurrence_is_the_product_of_its_slopes() -> None:
    layer = nn.RNN(1, 1, batch_first=True)
    x = torch.randn(1, 7, 1)
    outputs = layer(x)[0].flatten()
    expected = layer.weight_ih_l0 * layer.weight_hh_l0**6 * (1 - outputs**2).prod()
    torch.testing.assert_close(gradient_at_first_input(layer, x), expected)


def test_only_forget_gates_get_the_bias() -> None:
    lstm = nn.LSTM(2, 3)
    before = (lstm.bias_ih_l0 + lstm.bias_hh_l0).detach().clone()
    set_forget_bias(lstm, 4.0)
    after = lstm.bias_ih_l0 + lstm.bias_hh_l0
    assert after[3:6].tolist() == [4.0] * 3
    kept = [0, 1, 2, *range(6, 12)]
    assert torch.equal(after[kept], before[kept])


def test_a_forget_bias_asks_for_a_forget_gate() -> None:
    with pytest.raises(ValueError, match="no forget gate"):
        GradientProbe("gru", forget_bias=1.0).run(0, CPU)


@given(gain=st.floats(0.1, 3.0), seed=st.integers(0, 1000))
@settings(max_examples=20, deadline=None)
def test_a_linear_recurrence_multiplies_by_its_gain_at_every_step(gain: float, seed: int) -> None:
    norms = RecurrenceProbe(gain, steps=30).run(seed, CPU)["norms"]
    np.testing.assert_allclose(norms, gain ** np.arange(31.0), rtol=1e-10)


@given(gain=st.floats(0.1, 3.0), seed=st.integers(0, 1000))
@settings(max_examples=20, deadline=None)
def test_tanh_passes_on_no_more_than_a_linear_recurrence(gain: float, seed: int) -> None:
    norms = np.array(RecurrenceProbe(gain, "tanh", steps=30).run(seed, CPU)["norms"])
    assert (norms <= gain ** np.arange(31.0) * (1 + 1e-10)).all()


def test_a_gradient_stays_as_long_as_it_neither_halves_nor_doubles() -> None:
    assert stays([4.0, 2.1, 7.9, 4.0])
    assert not stays([4.0, 2.0, 4.0])
    assert not stays([4.0, 8.0, 4.0])

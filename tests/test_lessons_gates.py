"""The hand-written steps against the library's layers, and the additive path against the product of the gates."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from lessons.gates import DirectPath, direct_path, gru_step, lstm_step, lstm_steps

CPU = torch.device("cpu")
sizes = st.integers(1, 6)


@given(batch=sizes, features=sizes, hidden=sizes)
@settings(max_examples=20, deadline=None)
def test_a_step_from_any_state_is_the_library_s(batch: int, features: int, hidden: int) -> None:
    x, state, cell = torch.randn(batch, features), torch.randn(batch, hidden), torch.randn(batch, hidden)
    lstm, gru = nn.LSTM(features, hidden, batch_first=True), nn.GRU(features, hidden, batch_first=True)
    step = lstm_step(lstm, x, state, cell)
    _, (by_library, cell_by_library) = lstm(x[:, None], (state[None], cell[None]))
    torch.testing.assert_close(step.hidden, by_library[0])
    torch.testing.assert_close(step.cell, cell_by_library[0])
    torch.testing.assert_close(gru_step(gru, x, state), gru(x[:, None], state[None])[1][0])


def test_the_additive_path_multiplies_by_the_forget_gates_one_after_the_other() -> None:
    lstm = nn.LSTM(2, 3, batch_first=True)
    steps = list(lstm_steps(lstm, torch.randn(4, 5, 2)))
    path = direct_path(steps)
    expected = torch.ones_like(steps[0].cell)
    for back, step in enumerate([None, *reversed(steps)]):
        expected = expected if step is None else expected * step.forget
        torch.testing.assert_close(path[back], expected)


@pytest.mark.parametrize(("bias", "gate"), [(0.0, 0.5), (5.0, 0.993)])
def test_what_is_left_follows_the_gates(bias: float, gate: float) -> None:
    run = DirectPath(bias, steps=10).run(0, CPU)
    assert run["forget gate"] == pytest.approx(gate, abs=0.05)
    assert len(run["left"]) == 11
    assert run["left"][0] == 1.0
    assert run["left"][10] == pytest.approx(run["forget gate"] ** 10, rel=0.7)

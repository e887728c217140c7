"""The recall task: what it draws, and that it is learnt where it is easy."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from lessons.classifiers import RecurrentClassifier
from lessons.recall import Recall, RecallTask, recall_task

CPU = torch.device("cpu")


@given(rows=st.integers(1, 50), length=st.integers(1, 20), seed=st.integers(0, 1000))
def test_the_label_stands_at_position_0_and_nowhere_else(rows: int, length: int, seed: int) -> None:
    sequences, labels = recall_task(rows, length, seed)
    assert sequences.shape == (rows, length)
    assert torch.equal(sequences[:, 0], labels)
    assert set(labels.tolist()) <= {0, 1}
    assert set(sequences[:, 1:].flatten().tolist()) <= {2, 3, 4, 5}


def test_so_many_tokens_stand_after_the_one_to_recall() -> None:
    split = RecallTask(100, training_rows=3, validation_rows=2).split(7)
    inputs, labels = split.training
    assert inputs[:, 1:].shape == (3, 100)
    assert torch.equal(inputs[:, 0], labels)
    assert not torch.equal(inputs[:2], split.validation[0])


def test_an_empty_task_is_refused() -> None:
    with pytest.raises(ValueError, match="at least 1 row and 1 position, got 3 and 0"):
        recall_task(3, 0, seed=0)


def test_one_token_is_recalled_over_two_steps() -> None:
    recall = Recall("rnn", length=2, training_rows=300, validation_rows=100)
    assert recall.run(0, CPU)["accuracy"] == 1.0


def test_a_forget_bias_asks_for_a_forget_gate() -> None:
    with pytest.raises(ValueError, match="no forget gate"):
        Recall("gru", forget_bias=1.0, training_rows=1, validation_rows=1).run(0, CPU)


def test_an_orthogonal_start_asks_for_a_plain_recurrence() -> None:
    with pytest.raises(ValueError, match="needs a plain recurrence"):
        Recall("lstm", orthogonal=True).build()


def test_an_orthogonal_start_keeps_the_norm_of_small_states() -> None:
    torch.manual_seed(0)
    model = Recall("rnn", orthogonal=True).build()
    assert isinstance(model, RecurrentClassifier)
    small = 1e-3 * torch.randn(1, 5, 16)
    with torch.no_grad():
        later, _ = model.recurrent(torch.zeros(5, 100, 16), small)
    torch.testing.assert_close(later[:, -1].norm(dim=1), small[0].norm(dim=1), rtol=1e-3, atol=0.0)

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from lessons.word_classes import CLASSES, VOCABULARY, WORDS_PER_CLASS, class_cosines, sentences


@given(seed=st.integers(0, 10**6), rows=st.integers(1, 20), length=st.integers(1, 20))
def test_a_class_is_followed_by_either_of_the_next_two(seed: int, rows: int, length: int) -> None:
    words = sentences(rows, length, seed)
    assert words.shape == (rows, length)
    assert ((words >= 0) & (words < VOCABULARY)).all()
    steps = (words // WORDS_PER_CLASS).diff(dim=1) % CLASSES
    assert ((steps == 1) | (steps == 2)).all()


def test_every_word_of_a_class_is_as_frequent_as_any_other() -> None:
    counts = sentences(2000, 20, 0).flatten().bincount(minlength=VOCABULARY)
    assert counts.double().std() / counts.double().mean() < 0.05


def test_cosines_of_vectors_that_are_the_class() -> None:
    classes = torch.tensor([0, 0, 1, 1])
    table = torch.tensor([[1.0, 0.0], [2.0, 0.0], [0.0, 1.0], [0.0, 3.0]])
    assert class_cosines(table, classes) == pytest.approx((1.0, 0.0))


def test_the_cosine_of_a_word_with_itself_does_not_count() -> None:
    table = torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0], [0.0, 1.0]])
    assert class_cosines(table, torch.tensor([0, 0, 1, 1])) == pytest.approx((0.0, 0.5))

from __future__ import annotations

import torch

from lessons.embedding import elements_touched, look_up, multiply, one_hot


def test_one_hot_vectors_have_a_one_in_the_place_of_the_token() -> None:
    assert one_hot(torch.tensor([2, 0]), 3).tolist() == [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]


def test_both_ways_keep_the_shape_of_the_tokens() -> None:
    tokens, table = torch.randint(0, 7, (2, 3, 4)), torch.randn(7, 5)
    assert look_up(tokens, table).shape == multiply(tokens, table).shape == (2, 3, 4, 5)


def test_they_part_where_another_row_is_infinite() -> None:
    table = torch.tensor([[1.0], [float("inf")]])
    assert look_up(torch.tensor([0]), table).tolist() == [[1.0]]
    assert multiply(torch.tensor([0]), table).isnan().all()


def test_a_number_times_zero_is_touched_and_one_that_is_left_alone_is_not() -> None:
    table = torch.randn(5, 3)
    assert elements_touched(lambda t: t[1:3] * 0, table) == 6
    assert elements_touched(lambda t: torch.zeros(2), table) == 0
    assert table.isfinite().all()

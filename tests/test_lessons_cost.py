"""What is counted is what the formulas say, and the longest chain is the longest."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from lessons.cost import (
    RECURRENT_CELLS,
    attend,
    counted_operations,
    recur,
    sequential_depth,
    training_gradients,
    waits_for,
)
from lessons.streaming import as_layer

sizes = st.integers(1, 6)


@given(batch=sizes, length=sizes, features=sizes, hidden=sizes, name=st.sampled_from(sorted(RECURRENT_CELLS)))
@settings(max_examples=20, deadline=None)
def test_the_loop_over_a_cell_is_the_layer(batch: int, length: int, features: int, hidden: int, name: str) -> None:
    cell = RECURRENT_CELLS[name](features, hidden)
    inputs = torch.randn(batch, length, features)
    torch.testing.assert_close(recur(cell, inputs), as_layer(cell)(inputs)[0])


@given(batch=sizes, rows=sizes, inner=sizes, columns=sizes)
@settings(max_examples=20, deadline=None)
def test_a_matrix_product_counts_two_operations_per_multiply_add(
    batch: int, rows: int, inner: int, columns: int
) -> None:
    a, b = torch.randn(batch, rows, inner), torch.randn(batch, inner, columns)
    assert counted_operations(lambda: torch.bmm(a, b)) == 2 * batch * rows * inner * columns


@pytest.mark.parametrize("links", [1, 7, 5000])
def test_the_longest_chain_counts_and_shorter_ways_do_not(links: int) -> None:
    start = torch.ones((), requires_grad=True)
    end = start
    for _ in range(links):
        end = end.exp()
    assert sequential_depth(end + start.sin()) == links + 1


def test_nothing_computed_has_no_depth() -> None:
    assert sequential_depth(torch.ones(3, requires_grad=True)) == 0
    with torch.no_grad():
        assert sequential_depth(torch.ones(3, requires_grad=True).exp()) == 0


def test_queries_are_the_whole_sequence_by_default() -> None:
    attention, inputs = nn.MultiheadAttention(4, 2, batch_first=True), torch.randn(2, 5, 4)
    torch.testing.assert_close(attend(attention, inputs, inputs[:, 1:3]), attend(attention, inputs)[:, 1:3])


@pytest.mark.parametrize("name", sorted(RECURRENT_CELLS))
def test_a_training_step_has_the_layer_s_gradients_and_goes_forward_and_back(name: str) -> None:
    cell, inputs = RECURRENT_CELLS[name](3, 4), torch.randn(2, 6, 3)
    gradients = training_gradients(cell, inputs)
    layer = as_layer(cell)
    expected = torch.autograd.grad(layer(inputs)[0].sum(), list(layer.parameters()))
    torch.testing.assert_close(gradients, expected)
    forward = sequential_depth(recur(cell, inputs))
    assert max(map(sequential_depth, gradients)) > 1.5 * forward


def test_a_step_waits_for_what_it_takes_and_not_for_what_stands_behind_that() -> None:
    first = torch.ones((), requires_grad=True).exp()
    second = first.sin()
    third = second.cos().exp()
    fourth = first * third.sin()
    outputs = [first, second, third, fourth]
    assert [waits_for(outputs, step) for step in (1, 2, 3, 4)] == [set(), {1}, {2}, {1, 3}]

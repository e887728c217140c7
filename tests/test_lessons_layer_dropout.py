from __future__ import annotations

import pytest
import torch
from torch import nn

from lessons.layer_dropout import DropoutAround, dropped_from, single_layers, stacked_by_hand


@pytest.mark.parametrize("kind", [nn.RNN, nn.GRU, nn.LSTM])
def test_a_stack_by_hand_is_the_stack_where_nothing_is_dropped(kind: type[nn.RNNBase]) -> None:
    stack, inputs = kind(3, 5, num_layers=3, batch_first=True), torch.randn(2, 4, 3)
    assert len(single_layers(stack)) == 3
    assert torch.allclose(stacked_by_hand(stack, inputs, 0.0), stack(inputs)[0], atol=1e-6)


def test_a_stack_by_hand_draws_the_masks_of_the_stack() -> None:
    stack, inputs = nn.LSTM(3, 5, num_layers=3, dropout=0.4, batch_first=True), torch.randn(2, 4, 3)
    torch.manual_seed(1)
    outputs = stack(inputs)[0]
    torch.manual_seed(1)
    assert torch.allclose(stacked_by_hand(stack, inputs, 0.4), outputs, atol=1e-6)


def test_a_stack_by_hand_drops_between_its_layers_alone() -> None:
    stack, inputs = nn.RNN(3, 5, num_layers=2, batch_first=True), torch.randn(2, 4, 3)
    all_dropped = stacked_by_hand(stack, inputs, 1.0)
    second = single_layers(stack)[1]
    assert torch.allclose(all_dropped, second(torch.zeros(2, 4, 5))[0])


def test_what_dropout_makes_is_known_from_what_it_does_not() -> None:
    original = torch.tensor([1.0, 2.0, -3.0])
    assert dropped_from(torch.tensor([2.0, 0.0, -6.0]), original, 0.5)
    assert not dropped_from(torch.tensor([1.0, 0.0, -3.0]), original, 0.5)
    assert not dropped_from(2 * original, original, 0.5)
    assert not dropped_from(torch.zeros(3), original, 0.5)


def test_dropout_around_a_layer_acts_where_it_is_asked_for() -> None:
    layer, inputs = nn.GRU(3, 5, batch_first=True), torch.randn(2, 4, 3)
    assert torch.equal(DropoutAround(layer).train()(inputs), layer(inputs)[0])
    assert torch.equal(DropoutAround(layer, behind=1.0).train()(inputs), torch.zeros(2, 4, 5))
    assert torch.equal(DropoutAround(layer, in_front=1.0).train()(inputs), layer(torch.zeros(2, 4, 3))[0])

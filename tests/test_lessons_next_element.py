"""The noisy cycle and the texts that are generated from what was learnt of it."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from lessons.next_element import (
    NextElementModel,
    clean_cycle,
    follows_cycle,
    generate,
    noise_places,
    noisy_cycle,
    shifted,
)


@given(seed=st.integers(0, 2**31 - 1))
@settings(max_examples=20, deadline=None)
def test_noise_changes_tokens_only_where_it_falls(seed: int) -> None:
    noisy, places = noisy_cycle(seed), noise_places(torch.Generator().manual_seed(seed))
    assert noisy.shape == places.shape == (100, 20)
    assert set(noisy.unique().tolist()) == {1, 2, 3, 4, 5}
    assert torch.equal(noisy[~places], clean_cycle()[~places])
    assert not torch.equal(noisy[places], clean_cycle()[places])


def test_only_a_successor_follows_the_cycle() -> None:
    assert follows_cycle(clean_cycle()).all()
    assert follows_cycle(torch.tensor([5, 1, 2, 2, 4, 0, 1])).tolist() == [True, True, False, False, False, False]


def test_targets_are_the_inputs_one_position_on() -> None:
    inputs, targets = shifted(clean_cycle())
    assert torch.equal(inputs[:, 1:], targets[:, :-1])


@pytest.mark.parametrize("temperature", [0.2, 2.0])
def test_a_longer_text_goes_on_from_the_same_draws(temperature: float) -> None:
    torch.manual_seed(0)
    model = NextElementModel(vocabulary=6).build()
    assert generate(model, temperature, seed=1, count=30)[:20] == generate(model, temperature, seed=1)

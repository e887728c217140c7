from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from lessons.classifiers import RecurrentClassifierConfig
from lessons.dropout import STATE_DROPOUT, Drawn, StateDropoutClassifier, carried, refreshed, state_masks

DRAWN: tuple[Drawn, ...] = ("at every step", "once per sequence")


@given(rate=st.floats(0, 0.99), drawn=st.sampled_from(DRAWN))
def test_masks_hold_nought_or_the_reciprocal_of_what_is_kept(rate: float, drawn: Drawn) -> None:
    masks = state_masks(drawn, rate, 3, 4, 5)
    assert masks.shape == (3, 4, 5)
    assert torch.all((masks == 0) | (masks == torch.tensor(1.0) / (1 - rate)))


def test_masks_differ_between_steps_or_not_and_between_sequences_always() -> None:
    fresh, one = (state_masks(drawn, 0.5, 3, 4, 50) for drawn in DRAWN)
    assert not torch.equal(fresh[0], fresh[1])
    assert torch.equal(one[0], one[1])
    assert not torch.equal(one[0, 0], one[0, 1])


@pytest.mark.parametrize("rate", [-0.1, 1.0, float("nan")])
def test_a_rate_outside_its_range_is_refused(rate: float) -> None:
    with pytest.raises(ValueError, match="dropout rate"):
        state_masks("at every step", rate, 1, 1, 1)


def test_a_carried_unit_is_lost_for_good() -> None:
    masks = torch.tensor([1.0, 0.0, 1.0])[:, None, None]
    assert carried(masks).flatten().tolist() == [1.0, 0.0, 0.0]


def test_refreshed_units_come_back() -> None:
    masks = torch.tensor([[1.0, 0.0], [1.0, 1.0]])[:, None, :]
    states = refreshed(masks)
    assert states[0, 0, 1] == 0
    assert states[1, 0, 1] > 0.9


@pytest.mark.parametrize("drawn", DRAWN)
def test_dropout_acts_in_training_alone(drawn: Drawn) -> None:
    model = StateDropoutClassifier(drawn, 0.5, RecurrentClassifierConfig("gru"))
    tokens = torch.randint(1, 10, (3, 6))
    assert not torch.equal(model.train()(tokens), model(tokens))
    assert torch.equal(model.eval()(tokens), model(tokens))


def test_recipes_differ_in_the_masks_alone() -> None:
    assert {drawn: recipe.drawn for drawn, recipe in STATE_DROPOUT.items()} == {drawn: drawn for drawn in DRAWN}
    one, fresh = (STATE_DROPOUT[drawn] for drawn in DRAWN)
    assert replace(one, drawn=fresh.drawn) == fresh


def test_recall_is_measured_with_masks_and_without() -> None:
    run = replace(STATE_DROPOUT["once per sequence"], rate=0.9, rows=64, steps=3).run(0, torch.device("cpu"))
    assert run["recall"] != run["recall without masks"]
    undropped = replace(STATE_DROPOUT["once per sequence"], rate=0.0, rows=64, steps=3).run(0, torch.device("cpu"))
    assert undropped["recall"] == undropped["recall without masks"]

"""The training loop is the plain loop over a `DataLoader`, to the bit."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from lesson_claims.runs.device import CPU
from lesson_claims.runs.recipe import run_together, start_together
from lessons import recipes
from lessons.classifiers import BagOfEmbeddingsConfig, ModelConfig, RecurrentClassifierConfig, SequenceClassifierConfig
from lessons.memory_task import MemoryTask, memory_task
from lessons.training import Training, shuffled_batches, train, train_together
from studies.plain import train_plainly

ROWS = 200  # not a multiple of the batch size, so that the last batch is short

MODELS: list[ModelConfig] = [
    RecurrentClassifierConfig("rnn"),
    RecurrentClassifierConfig("gru", pooling="mean"),
    RecurrentClassifierConfig("lstm", layers=2),
    RecurrentClassifierConfig("lstm", bidirectional=True, pooling="max"),
    BagOfEmbeddingsConfig(),
    SequenceClassifierConfig(),
]


@pytest.mark.parametrize("training", [Training(epochs=2), Training(epochs=2, clip=0.1), Training("sgd", 0.5, 2)])
@pytest.mark.parametrize("config", MODELS, ids=repr)
def test_weights_are_bit_for_bit_those_of_the_plain_loop(config: ModelConfig, training: Training) -> None:
    inputs, labels = memory_task(ROWS, 8, seed=3)
    models = []
    for loop in (train_plainly, train):
        torch.manual_seed(3)
        model = config.build()
        loop(model, inputs, labels, training)
        models.append((model.state_dict(), torch.rand(1)))
    (expected, next_expected), (got, next_got) = models
    assert all(torch.equal(expected[name], got[name]) for name in expected)
    assert torch.equal(next_expected, next_got), "the global generator stands elsewhere after the training"


CEILINGS = st.one_of(st.none(), st.floats(0.05, 2.0), st.just(1e-9), st.just(1e9))


@settings(deadline=None, max_examples=15)
@given(
    trainings=st.lists(
        st.builds(Training, st.just("adam"), st.just(0.02), st.integers(1, 4), clip=CEILINGS),
        min_size=1,
        max_size=4,
        unique=True,
    ),
    config=st.sampled_from([RecurrentClassifierConfig("rnn"), SequenceClassifierConfig()]),
)
def test_trainings_made_together_are_those_made_alone(trainings: list[Training], config: ModelConfig) -> None:
    inputs, labels = memory_task(ROWS, 8, seed=4)
    torch.manual_seed(4)
    model = config.build()
    together = {
        training: (trace, {name: value.clone() for name, value in model.state_dict().items()})
        for training, trace in train_together(model, inputs, labels, trainings)
    }
    assert together.keys() == set(trainings)
    for training in trainings:
        torch.manual_seed(4)
        alone = config.build()
        assert train(alone, inputs, labels, training) == together[training][0]
        assert all(torch.equal(value, together[training][1][name]) for name, value in alone.state_dict().items())


@pytest.mark.parametrize(
    ("clips", "epochs_made"),
    [((None, 1e9), 6), ((None, 1e-9), 9), ((None, None), 6)],
    ids=["never acts", "acts at once", "without"],
)
def test_what_trainings_share_is_made_once(clips: tuple[float | None, ...], epochs_made: int) -> None:
    inputs, labels = memory_task(ROWS, 8, seed=4)
    model = BagOfEmbeddingsConfig().build()
    batches: list[int] = []
    model.register_forward_pre_hook(lambda _, arguments: batches.append(len(arguments[0])))
    trainings = [Training(epochs=epochs, clip=clip) for epochs, clip in zip((6, 3), clips, strict=True)]
    assert {training for training, _ in train_together(model, inputs, labels, trainings)} == set(trainings)
    assert sum(batches) == epochs_made * ROWS


def test_runs_made_together_are_those_made_alone() -> None:
    data = MemoryTask(training_rows=ROWS, validation_rows=50)
    recipe = recipes.Classification(data, SequenceClassifierConfig(), Training(epochs=3))
    others = [replace(recipe, training=Training(epochs=epochs, clip=0.3)) for epochs in (2, 4)]
    assert all(start_together(recipe, other) for other in others)
    together = dict(run_together([recipe, *others], 7, CPU))
    assert together == {each: each.run(7, torch.device("cpu")) for each in (recipe, *others)}


@pytest.mark.parametrize(
    "change",
    [
        {"training": Training(learning_rate=0.01)},
        {"training": Training(batch_size=32)},
        {"training": Training(reseed=False)},
        {"training": Training("sgd")},
        {"data": MemoryTask(length=9)},
        {"model": RecurrentClassifierConfig("gru")},
        {"page_seed": 1},
    ],
    ids=str,
)
def test_recipes_that_differ_from_the_first_step_do_not_start_together(change: dict[str, Any]) -> None:
    recipe = recipes.CELLS["rnn"]
    assert start_together(recipe, replace(recipe, training=Training(epochs=3, clip=2.0)))
    assert not start_together(recipe, replace(recipe, **change))


def test_recipes_of_another_kind_do_not_start_together() -> None:
    assert not start_together(recipes.CELLS["rnn"], recipes.CYCLE)
    assert not start_together(recipes.CYCLE, recipes.GENERATION)


@pytest.mark.parametrize(
    "wrong", [{"epochs": 0}, {"clip": 0.0}, {"clip": -1.0}, {"clip": math.inf}, {"clip": math.nan}]
)
def test_what_no_training_can_do_is_refused(wrong: dict[str, Any]) -> None:
    (name,) = wrong
    with pytest.raises(ValueError, match=f"{name}=.*: .*needed|{name}=.*must be a positive number"):
        Training(**wrong)


def test_buffers_are_those_of_the_training_alone() -> None:
    """No model of the lessons has any; one that gets them must not share them with another training."""
    inputs, targets = torch.randn(ROWS, 3), torch.randint(2, (ROWS,))
    trainings = [Training(epochs=2), Training(epochs=2, clip=1e-3)]
    models = []
    for made in (trainings, trainings[1:]):
        torch.manual_seed(6)
        model = nn.Sequential(nn.BatchNorm1d(3), nn.Linear(3, 2))
        for training, _ in train_together(model, inputs, targets, made):
            if training == trainings[1]:
                models.append({name: value.clone() for name, value in model.state_dict().items()})
    assert all(torch.equal(value, models[1][name]) for name, value in models[0].items())


def test_batches_are_those_of_a_shuffling_loader() -> None:
    rows = torch.arange(ROWS)
    torch.manual_seed(5)
    expected = [batch for _ in range(2) for batch, _ in DataLoader(TensorDataset(rows, rows), 64, shuffle=True)]
    torch.manual_seed(5)
    got = [batch for _ in range(2) for batch, _ in shuffled_batches(rows, rows, 64)]
    assert len(expected) == len(got) == 8
    assert all(map(torch.equal, expected, got))


def test_the_full_batch_draws_nothing() -> None:
    torch.manual_seed(5)
    before = torch.random.get_rng_state()
    ((batch, _),) = shuffled_batches(torch.arange(ROWS), torch.arange(ROWS), None)
    assert torch.equal(batch, torch.arange(ROWS))
    assert torch.equal(torch.random.get_rng_state(), before)


def test_a_trace_has_a_loss_per_epoch_and_a_norm_per_step() -> None:
    inputs, labels = memory_task(ROWS, 8, seed=0)
    seen: list[int] = []
    model = RecurrentClassifierConfig("rnn").build()
    trace = train(model, inputs, labels, Training(epochs=3), observe=lambda step: seen.append(step.epoch))
    assert (len(trace.losses), len(trace.norms)) == (3, 12)
    assert seen == [0] * 4 + [1] * 4 + [2] * 4
    assert min(trace.norms) > 0


def test_a_run_is_a_pure_function_of_recipe_and_seed() -> None:
    recipe = replace(recipes.CLIPPING["with clipping"], training=Training(epochs=1, reseed=False))
    torch.manual_seed(1)
    first = recipe.run(1, torch.device("cpu"))
    torch.manual_seed(2)
    assert recipe.run(1, torch.device("cpu")) == first
    assert recipe.run(2, torch.device("cpu")) != first

"""The training loop is the plain loop over a `DataLoader`, to the bit."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from torch.utils.data import DataLoader, TensorDataset

from benchmarks.plain import train_plainly
from lessons import recipes
from lessons.classifiers import BagOfEmbeddings, CompleteClassifier, ModelConfig, SequenceClassifier
from lessons.memory_task import memory_task
from lessons.training import Training, shuffled_batches, train

ROWS = 200  # not a multiple of the batch size, so that the last batch is short

MODELS: list[ModelConfig] = [
    SequenceClassifier("rnn"),
    SequenceClassifier("gru", pooling="mean"),
    SequenceClassifier("lstm", layers=2),
    SequenceClassifier("lstm", bidirectional=True, pooling="max"),
    BagOfEmbeddings(),
    CompleteClassifier(),
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
    model = SequenceClassifier("rnn").build()
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

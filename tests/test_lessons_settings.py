"""What is seen of a training run is what it did: each way to make it otherwise than stated shows by name."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.utils.data import DataLoader, TensorDataset

from lessons import classifiers, counts, detector, memory_task, next_element, optimizers, recipes, training
from lessons.classifiers import BagOfEmbeddingsConfig, RecurrentClassifierConfig, SequenceClassifierConfig
from lessons.detector import LanguageStrings
from lessons.memory_task import MemoryTask
from lessons.settings import Settings, dropout_rate, loader_order
from lessons.splits import Split
from lessons.training import Loop, Training

CPU = torch.device("cpu")
DATA = MemoryTask(training_rows=200, validation_rows=60)  # the last of four batches is short

PLAIN = recipes.Classification(DATA, RecurrentClassifierConfig("lstm"), Training(epochs=2))
COMPLETE = recipes.Classification(DATA, SequenceClassifierConfig(), Training(epochs=2, clip=1.0))
BAG = replace(PLAIN, model=BagOfEmbeddingsConfig())
CLIPPED = replace(recipes.CLIPPING["with clipping"], data=DATA)
CYCLE = recipes.CycleRecipe(replace(recipes.CYCLE.training, epochs=2))
DETECTOR = replace(recipes.DETECTOR, training=replace(recipes.DETECTOR.training, epochs=1))
COUNTS = counts.CountsClassifier(data=DATA)

Patch = pytest.MonkeyPatch


@pytest.fixture(autouse=True, scope="module")
def _one_thread() -> Iterator[None]:
    """Compute as runs do; models as small as these only wait for a second thread."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def made(recipe: Any, seed: int = 0) -> Settings:
    settings: Settings = recipe.run(seed, CPU)["settings"]
    return settings


@cache
def honest(recipe: Any) -> Settings:
    return made(recipe)


def test_a_run_shows_all_its_settings() -> None:
    assert honest(COMPLETE) == {
        "training rows": 200,
        "training data seed": 0,
        "length": 8,
        "rows per epoch": 200,
        "order of rows": "shuffled anew in each epoch",
        "batch size": 64,
        "epochs": 2,
        "mode in training": "training",
        "vocabulary": 10,
        "embedding size": 32,
        "cell": "LSTM",
        "hidden size": 64,
        "layers": 1,
        "directions": 2,
        "layout": "batch first",
        "pooling": "maximum",
        "head": "128 → 2",
        "dropout on the embedding": 0.2,
        "dropout before the head": 0.2,
        "dropout in scoring": "off",
        "loss": "mean cross-entropy",
        "optimizer": "Adam",
        "learning rate": 0.003,
        "clip": 1.0,
        "global seed before the model": 0,
        "global seed before the training": 0,
        "scored rows": 60,
        "scored data seed": 1,
        "mode in scoring": "evaluation",
        "scored by": "largest logit",
    }


# A recipe that says something else ----------------------------------------------------------------------------------


def of(recipe: Any, **model: Any) -> Any:
    return replace(recipe, model=replace(recipe.model, **model))


def trained(recipe: Any, **how: Any) -> Any:
    return replace(recipe, training=replace(recipe.training, **how))


@pytest.mark.parametrize(
    ("recipe", "changed", "expected"),
    [
        (PLAIN, trained(PLAIN, epochs=1), {"epochs": 1}),
        (PLAIN, trained(PLAIN, optimizer="sgd"), {"optimizer": "SGD"}),
        (PLAIN, trained(PLAIN, learning_rate=4e-3), {"learning rate": 0.004}),
        (PLAIN, trained(PLAIN, optimizer="sgd", learning_rate=0.3), {"optimizer": "SGD", "learning rate": 0.3}),
        (PLAIN, trained(PLAIN, batch_size=32), {"batch size": 32}),
        (PLAIN, trained(PLAIN, batch_size=None), {"batch size": 200, "order of rows": "as they come",
                                                   "global seed before the training": 0}),
        (PLAIN, trained(PLAIN, reseed=False), {"global seed before the training": "none"}),
        (PLAIN, trained(PLAIN, clip=1.0), {"clip": 1.0}),
        (COMPLETE, trained(COMPLETE, clip=0.1), {"clip": 0.1}),
        (COMPLETE, trained(COMPLETE, clip=10.0), {"clip": 10.0}),
        (COMPLETE, trained(COMPLETE, clip=None), {"clip": "none"}),
        (CLIPPED, trained(CLIPPED, clip=None), {"clip": "none"}),
        (CLIPPED, trained(CLIPPED, clip=3.0), {"clip": 3.0}),
        (CLIPPED, trained(CLIPPED, reseed=True), {"global seed before the training": 0}),
        (CYCLE, trained(CYCLE, epochs=3), {"epochs": 3}),
        (CYCLE, trained(CYCLE, clip=None), {"clip": "none"}),
        (CYCLE, trained(CYCLE, batch_size=50),
         {"batch size": 50, "order of rows": "shuffled anew in each epoch",
          "scored rows": "unknown", "scored data seed": "unknown", "scored by": "unknown"}),
        (CYCLE, of(CYCLE, hidden=16), {"hidden size": 16, "head": "16 → 6"}),
        (PLAIN, of(PLAIN, hidden=32), {"hidden size": 32, "head": "32 → 2"}),
        (PLAIN, of(PLAIN, embedding=16), {"embedding size": 16}),
        (PLAIN, of(PLAIN, vocabulary=11), {"vocabulary": 11}),
        (PLAIN, of(PLAIN, layers=2), {"layers": 2, "dropout between layers": 0.0}),
        (PLAIN, of(PLAIN, bidirectional=True), {"directions": 2, "head": "128 → 2"}),
        (PLAIN, of(PLAIN, cell="gru"), {"cell": "GRU"}),
        (PLAIN, of(PLAIN, cell="rnn"), {"cell": "plain RNN"}),
        (PLAIN, of(PLAIN, pooling="mean"), {"pooling": "mean"}),
        (PLAIN, of(PLAIN, pooling="max"), {"pooling": "maximum"}),
        (BAG, of(BAG, hidden=32), {"head": "32 → 32, ReLU, 32 → 2"}),
        (COMPLETE, of(COMPLETE, dropout=0.5), {"dropout on the embedding": 0.5, "dropout before the head": 0.5}),
        (COMPLETE, of(COMPLETE, dropout=0.0), {"dropout on the embedding": 0.0, "dropout before the head": 0.0}),
        (COMPLETE, of(COMPLETE, pooled="max and mean"), {"pooling": "maximum and mean", "head": "256 → 2"}),
        (PLAIN, replace(PLAIN, data=replace(DATA, training_rows=199)), {"training rows": 199, "rows per epoch": 199}),
        (PLAIN, replace(PLAIN, data=replace(DATA, validation_rows=50)), {"scored rows": 50}),
        (PLAIN, replace(PLAIN, data=replace(DATA, length=7)), {"length": 7}),
        (PLAIN, replace(PLAIN, data=replace(DATA, view="first hidden")),
         {"training rows": "unknown", "training data seed": "unknown", "length": "unknown", "scored rows": "unknown",
          "scored data seed": "unknown", "scored by": "unknown"}),
        (PLAIN, replace(PLAIN, page_seed=1),
         {"training data seed": 2, "scored data seed": 3, "global seed before the model": 1,
          "global seed before the training": 1}),
        (COUNTS, replace(COUNTS, model="boosted trees"),
         {"model": "HistGradientBoostingClassifier", "parameters": "max_leaf_nodes=8, random_state=0"}),
    ],
    ids=lambda value: ", ".join(value) if isinstance(value, dict) else "",
)  # fmt: skip
def test_another_recipe_has_other_settings(recipe: Any, changed: Any, expected: Settings) -> None:
    before, after = honest(recipe), made(changed)
    others = {name for name in after if after[name] != before.get(name)}
    assert {name: after[name] for name in expected} == expected
    assert others == {name for name in expected if before.get(name) != expected[name]}


# Code that does something else than the recipe says -----------------------------------------------------------------


@dataclass(frozen=True)
class Sabotage:
    """A change of the code by which a run is made otherwise, and the settings that then are otherwise."""

    change: Callable[[Patch], None]
    wrong: frozenset[str]


def in_order(inputs: Tensor, targets: Tensor, size: int | None) -> Iterator[tuple[Tensor, Tensor]]:
    yield from zip(inputs.split(size or len(inputs)), targets.split(size or len(inputs)), strict=True)


def without_the_last(inputs: Tensor, targets: Tensor, size: int | None) -> Iterator[tuple[Tensor, Tensor]]:
    yield from list(SHUFFLED(inputs, targets, size))[:-1]


def once_shuffled(inputs: Tensor, targets: Tensor, size: int | None) -> Iterator[tuple[Tensor, Tensor]]:
    torch.manual_seed(0)
    yield from SHUFFLED(inputs, targets, size)


def with_repeats(inputs: Tensor, targets: Tensor, size: int | None) -> Iterator[tuple[Tensor, Tensor]]:
    drawn = torch.randint(len(inputs), (len(inputs),))
    yield from zip(inputs[drawn].split(size or 1), targets[drawn].split(size or 1), strict=True)


def wrong_labels(inputs: Tensor, targets: Tensor, size: int | None) -> Iterator[tuple[Tensor, Tensor]]:
    yield from ((batch, labels.roll(1)) for batch, labels in SHUFFLED(inputs, targets, size))


SHUFFLED = training.shuffled_batches


def batches(function: Any) -> Callable[[Patch], None]:
    return lambda patch: patch.setattr(training, "shuffled_batches", function)


def split(function: Callable[[Split], Split]) -> Callable[[Patch], None]:
    drawn = MemoryTask.split
    return lambda patch: patch.setattr(MemoryTask, "split", lambda self, seed: function(drawn(self, seed)))


def overlapping(part: Split) -> Split:
    both = [torch.cat([own[:30], other[:30]]) for own, other in zip(part.validation, part.training, strict=True)]
    return replace(part, validation=(both[0], both[1]))


def shuffled_labels(part: Split) -> Split:
    return replace(part, training=(part.training[0], part.training[1].roll(1)))


def other_data_seed(patch: Patch) -> None:
    patch.setattr(memory_task, "memory_task", lambda rows, length, seed: MEMORY_TASK(rows, length, seed))
    patch.setattr(MemoryTask, "split", lambda self, seed: SPLIT(self, seed + 1))


MEMORY_TASK, SPLIT = memory_task.memory_task, MemoryTask.split


def other_global_seed(patch: Patch) -> None:
    seeded = torch.manual_seed
    patch.setattr(recipes.torch, "manual_seed", lambda seed: seeded(seed + 1))


def seeded_in_each_epoch(patch: Patch) -> None:
    run_epoch = Loop.run_epoch

    def again(self: Loop, *arguments: Any) -> Tensor:
        torch.manual_seed(self.epoch)
        return run_epoch(self, *arguments)

    patch.setattr(Loop, "run_epoch", again)


def step(order: str) -> Callable[[Patch], None]:
    """Return a change that makes a step's parts in another order, or clips otherwise."""

    def changed(self: Any, batch: Tensor, targets: Tensor, clip: float | None) -> tuple[Tensor, Tensor]:
        for parameter in self._updated:
            parameter.grad.zero_()
        limit = clip or 1e9
        if order == "clip before backward":
            nn.utils.clip_grad_norm_(self._updated, limit)
        loss = self._loss_function(self._model(batch), targets)
        loss.backward()
        norm = training.global_norm([p.grad for p in self._parameters])
        if order == "each alone":
            for parameter in self._parameters:
                nn.utils.clip_grad_norm_([parameter], limit)
        if order == "by value":
            nn.utils.clip_grad_value_(self._updated, limit)
        if self._before_update is not None:
            self._before_update(self._updated)
        self._update()
        if order == "clip after the update":
            nn.utils.clip_grad_norm_(self._updated, limit)
        return loss, norm

    return lambda patch: patch.setattr(Loop, "_step", changed)


def no_training_mode(patch: Patch) -> None:
    """Leave the model in evaluation mode after the first epoch."""
    run_epoch = Loop.run_epoch

    def once(self: Any, *arguments: Any) -> Tensor:
        if self.epoch:
            self._model.eval()
            patch.setattr(self._model, "train", lambda *_: None)
        return run_epoch(self, *arguments)

    patch.setattr(Loop, "run_epoch", once)


def accuracy_in_training_mode(model: nn.Module, inputs: Tensor, labels: Tensor) -> float:
    model.train()
    with torch.no_grad():
        return float((model(inputs).argmax(-1) == labels).double().mean())


def smallest_logit(model: nn.Module, inputs: Tensor, labels: Tensor) -> float:
    model.eval()
    with torch.no_grad():
        return float((model(inputs).argmin(-1) == labels).double().mean())


def forward(*, embedding: float | None = 0.2, head: float | None = 0.2, outputs: bool = False, always: bool = False,
            ) -> Callable[[Patch], None]:  # fmt: skip
    """Return a change of the complete classifier's dropout, which then acts here and there, or always."""

    def dropout(self: nn.Module, values: Tensor, rate: float | None) -> Tensor:
        return values if rate is None else functional.dropout(values, rate, training=self.training or always)

    def changed(self: Any, tokens: Tensor) -> Tensor:
        embedded = dropout(self, self.embedding(tokens), embedding)
        read, _ = self.recurrent(embedded)
        read = dropout(self, read, 0.2) if outputs else read
        logits: Tensor = self.head(dropout(self, read.max(dim=1).values, head))
        return logits

    return lambda patch: patch.setattr(classifiers.SequenceClassifier, "forward", changed)


def other_adam(**changed: Any) -> Callable[[Patch], None]:
    library = optimizers.library_adam.adam
    return lambda patch: patch.setattr(
        optimizers.library_adam, "adam", lambda *arguments, **own: library(*arguments, **{**own, **changed})
    )


def loss(**changed: Any) -> Callable[[Patch], None]:
    return lambda patch: patch.setattr(
        training.functional, "cross_entropy", partial(functional.cross_entropy, **changed)
    )


def other_weights(patch: Patch) -> None:
    """Draw the first weights anew after the model was built."""
    begun = Loop.__init__

    def drawn_anew(self: Loop, model: nn.Module, *arguments: Any) -> None:
        nn.init.normal_(next(model.parameters()), std=0.5)
        begun(self, model, *arguments)

    patch.setattr(Loop, "__init__", drawn_anew)


def sequence_first(patch: Patch) -> None:
    built = classifiers.RecurrentClassifier.__init__

    def changed(self: Any, config: RecurrentClassifierConfig) -> None:
        built(self, config)
        self.recurrent.batch_first = False

    patch.setattr(classifiers.RecurrentClassifier, "__init__", changed)


def profile(language: str, character: str, weight: float) -> Callable[[Patch], None]:
    return lambda patch: patch.setitem(detector.PROFILES[language], character, weight)


def strings(first: int, end: int, test: int = 1200) -> Callable[[Patch], None]:
    def other(self: LanguageStrings, seed: int) -> Split:
        texts, labels = detector.language_strings(seed)
        inputs, targets = detector.encode(texts), torch.from_numpy(labels)
        return Split((inputs[first:end], targets[first:end]), (inputs[test : test + 300], targets[test : test + 300]))

    return lambda patch: patch.setattr(LanguageStrings, "split", other)


def rows_of_the_cycle(draw: Callable[[int], Tensor]) -> Callable[[Patch], None]:
    """Return a change by which the run draws other rows, but not the search for where they come from."""

    def change(patch: Patch) -> None:
        draws = iter([draw])
        patch.setattr(next_element, "noisy_cycle", lambda seed: next(draws, NOISY_CYCLE)(seed))

    return change


NOISY_CYCLE = next_element.noisy_cycle

TRAINED = {"training rows", "training data seed", "length"}
SCORED = {"scored rows", "scored data seed", "scored by"}


@pytest.mark.parametrize(
    ("recipe", "change", "wrong"),
    [
        (PLAIN, batches(in_order), {"order of rows"}),
        (PLAIN, batches(without_the_last), {"rows per epoch"}),
        (DETECTOR, batches(without_the_last), {"rows per epoch"}),
        (PLAIN, batches(once_shuffled), {"order of rows", "loss"}),
        (PLAIN, batches(with_repeats), {"order of rows", "loss"}),
        (PLAIN, batches(wrong_labels), {"loss"}),
        (PLAIN, split(lambda part: replace(part, validation=part.training)), {"scored rows", "scored data seed"}),
        (PLAIN, split(lambda part: replace(part, training=part.validation)),
         {"training rows", "training data seed", "rows per epoch", "batch size"}),
        (PLAIN, split(overlapping), SCORED),
        (PLAIN, split(shuffled_labels), TRAINED),
        (PLAIN, other_data_seed, {"training data seed", "scored data seed"}),
        (PLAIN, other_global_seed, {"global seed before the model", "global seed before the training"}),
        (PLAIN, other_weights, {"global seed before the model", "global seed before the training"}),
        (PLAIN, seeded_in_each_epoch, {"order of rows"}),
        (COMPLETE, step("clip before backward"), {"clip"}),
        (COMPLETE, step("each alone"), {"clip"}),
        (COMPLETE, step("by value"), {"clip"}),
        (COMPLETE, step("clip after the update"), {"clip"}),
        (CLIPPED, step("clip before backward"), {"clip"}),
        (CLIPPED, step("each alone"), {"clip"}),
        (COMPLETE, no_training_mode, {"mode in training", "dropout on the embedding", "dropout before the head"}),
        (COMPLETE, lambda patch: patch.setattr(recipes, "accuracy", accuracy_in_training_mode),
         {"mode in scoring", "dropout in scoring"}),
        (PLAIN, lambda patch: patch.setattr(recipes, "accuracy", accuracy_in_training_mode), {"mode in scoring"}),
        (PLAIN, lambda patch: patch.setattr(recipes, "accuracy", smallest_logit), {"scored by"}),
        (PLAIN, lambda patch: patch.setattr(recipes, "accuracy", lambda *_: 0.99),
         SCORED | {"mode in scoring", "dropout in scoring"}),
        (COMPLETE, forward(), set()),
        (COMPLETE, forward(embedding=None), {"dropout on the embedding"}),
        (COMPLETE, forward(head=None), {"dropout before the head"}),
        (COMPLETE, forward(embedding=0.5), {"dropout on the embedding"}),
        (COMPLETE, forward(head=0.1), {"dropout before the head"}),
        (COMPLETE, forward(outputs=True), {"pooling", "dropout before the head"}),
        (COMPLETE, forward(always=True), {"dropout in scoring"}),
        (PLAIN, other_adam(beta1=0.8), {"optimizer", "learning rate"}),
        (PLAIN, other_adam(weight_decay=0.1), {"optimizer", "learning rate"}),
        (PLAIN, other_adam(lr=0.01), {"learning rate"}),
        (PLAIN, other_adam(amsgrad=False, maximize=True), {"learning rate"}),
        (PLAIN, loss(label_smoothing=0.1), {"loss"}),
        (PLAIN, loss(reduction="sum"), {"loss"}),
        (PLAIN, sequence_first, {"layout"}),
        (DETECTOR, profile("en", "t", 3), {"characters favoured in en"}),
        (DETECTOR, profile("fr", "q", 1), {"characters favoured in fr"}),
        (DETECTOR, profile("de", "x", 3), {"characters favoured in de"}),
        (DETECTOR, strings(0, 1000), {"training rows", "rows per epoch"}),
        (DETECTOR, strings(300, 1500), {"training rows"}),
        (DETECTOR, strings(0, 1200, test=1000), {"scored rows"}),
        (DETECTOR, strings(0, 1200, test=0), {"scored rows"}),
        (CYCLE, rows_of_the_cycle(lambda seed: NOISY_CYCLE(seed + 3)), {"training data seed", "scored data seed"}),
        (CYCLE, rows_of_the_cycle(lambda seed: NOISY_CYCLE(seed)[:50]),
         TRAINED | SCORED | {"rows per epoch", "batch size"}),
        (CYCLE, rows_of_the_cycle(lambda _: next_element.clean_cycle()), TRAINED | SCORED),
        (COUNTS, split(lambda part: replace(part, validation=part.training)), {"scored rows", "scored data seed"}),
        (COUNTS, split(shuffled_labels), {"training rows", "training data seed"}),
        (COUNTS, lambda patch: patch.setattr(counts, "LogisticRegression", partial(counts.LogisticRegression, C=2.0)),
         {"parameters"}),
    ],
    ids=lambda value: ", ".join(sorted(value)) or "nothing" if isinstance(value, (set, frozenset)) else "",
)  # fmt: skip
def test_what_is_made_otherwise_shows_by_name(
    recipe: Any, change: Callable[[Patch], None], wrong: set[str], monkeypatch: Patch
) -> None:
    before = honest(recipe)
    change(monkeypatch)
    after = made(recipe)
    assert {name for name in before if after[name] != before[name]} == wrong


# Sharing and the same numbers ---------------------------------------------------------------------------------------


def test_runs_that_share_steps_have_the_settings_of_their_own() -> None:
    trainings = [Training(epochs=2), Training(epochs=2, clip=0.05), Training(epochs=1, clip=1e6), Training(epochs=3)]
    together = [replace(COMPLETE, training=each) for each in trainings]
    outcomes = dict(together[0].run_with(together[1:], 0, CPU))
    assert len(outcomes) == 4
    for recipe, outcome in outcomes.items():
        assert outcome == recipe.run(0, CPU)


@pytest.mark.parametrize("recipe", [COMPLETE, CLIPPED, CYCLE], ids=["classification", "clipping", "cycle"])
def test_nothing_else_changes_when_a_run_is_watched(recipe: Any, monkeypatch: Patch) -> None:
    watched = recipe.run(0, CPU)
    for module in (recipes, training, next_element):
        if hasattr(module, "Observation"):
            monkeypatch.setattr(module, "Observation", lambda _model: None)
    monkeypatch.setattr("lessons.clipping.Observation", lambda _model: None)
    alone = recipe.run(0, CPU)
    assert "settings" not in alone
    assert {name: value for name, value in watched.items() if name != "settings"} == alone


def test_settings_are_told_at_the_page_s_seed_alone() -> None:
    assert "settings" not in PLAIN.run(1, CPU)


def test_the_order_of_a_loader_is_known() -> None:
    rows = torch.arange(50)
    torch.manual_seed(3)
    state = torch.random.get_rng_state()
    order = torch.cat([batch for (batch,) in DataLoader(TensorDataset(rows), 16, shuffle=True)])
    assert torch.equal(loader_order(state, 50), order)


@pytest.mark.parametrize("rate", [0.0, 0.1, 0.2, 0.5, 0.9])
def test_a_dropout_rate_is_read_off(rate: float) -> None:
    torch.manual_seed(0)
    before = torch.randn(64, 8, 32)
    assert dropout_rate(before, functional.dropout(before, rate)) == rate


def test_what_is_no_dropout_has_no_rate() -> None:
    torch.manual_seed(0)
    before = torch.randn(64, 32)
    unscaled = before * (torch.rand_like(before) > 0.2)
    assert dropout_rate(before, unscaled) is None
    assert dropout_rate(before, before * 1.25) is None
    assert dropout_rate(before, before + 0.1) is None
    assert dropout_rate(before, before[:, :16]) is None
    once_for_all_rows = functional.dropout(torch.ones(1, 32), 0.2)
    assert dropout_rate(before, before * once_for_all_rows) is None
    sequences = torch.randn(64, 8, 32)
    once_per_sequence = functional.dropout(torch.ones(64, 1, 32), 0.2)
    assert dropout_rate(sequences, sequences * once_per_sequence) is None

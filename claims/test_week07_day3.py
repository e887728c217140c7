"""week07, day 3: the embedding, how outputs become one vector, and the three cells."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from lesson_claims import (
    Decide,
    Decision,
    EvidenceOf,
    Measure,
    Sample,
    beats,
    better_than_shuffled,
    claim,
    close,
    equivalent,
    every,
    grows,
    jittered,
    only_differ,
    same,
    that,
)
from lessons.classifiers import RecurrentClassifier, parameter_count
from lessons.cost import counted_operations
from lessons.embedding import PAGE_TOKENS, elements_touched, look_up, multiply, one_hot
from lessons.marker_task import MARKER, MARKER_ANYWHERE, MARKER_AT_THE_END
from lessons.recipes import CELLS, POOLINGS, Classification
from lessons.word_classes import WORD_CLASSES, class_cosines

SIZES = ((2, 1), (10, 8), (27, 3), (500, 32))
"""Vocabulary and features of the random tables."""

SHAPES = ((1,), (2, 4), (3, 1, 7))
"""Shapes of the random tokens."""

NEARER = 0.25
"""By how much the cosine of two words that are used alike must exceed that of two others: a quarter of 0 to 1."""

LEARNT, NOT_LEARNT = 0.9, 0.75
"""Accuracies of a cell that learns a task of two classes and of one that does not: half way from guessing at most."""

CLOSE = 0.05
"""Two accuracies closer than this are close: the page's own mean and maximum lie further apart (0.0575)."""

NO_WORSE = 0.02
"""An accuracy that falls short of another by less than this is at least as good."""


@claim("week07.day3.embedding-is-lookup")
def test_embedding_is_lookup(measure: Measure, decide: Decide) -> None:
    tokens = torch.tensor(PAGE_TOKENS)
    torch.manual_seed(0)
    embedding = nn.Embedding(10, 8)
    vectors, table = embedding(tokens).detach(), embedding.weight.detach()
    measure.each("input shape", tokens.shape)
    measure.each("output shape", vectors.shape)
    measure.each("weight shape", table.shape)
    measure.each("table row 5", table[5, :4], noise=jittered(lambda moved: moved[5, :4], table))
    noise = jittered(lambda moved: look_up(tokens, moved)[0, 1, :4], table)
    measure.each("embedding of token 5", vectors[0, 1, :4], noise=noise)
    decide(
        same(vectors.numpy(), table[tokens].numpy(), what="the layer's output, against the indexed table"),
        same(look_up(tokens, table).numpy(), vectors.numpy(), what="what our lookup gives, against the layer's output"),
    )


@claim("week07.day3.embedding-is-lookup")
def test_embedding_is_lookup__any_table(decide: Decide, device: torch.device) -> None:
    generator = torch.Generator().manual_seed(0)

    def is_lookup(vocabulary: int, features: int, shape: tuple[int, ...]) -> bool:
        embedding = nn.Embedding(vocabulary, features).to(device)
        tokens = torch.randint(vocabulary, shape, generator=generator).to(device)
        return torch.equal(embedding(tokens), embedding.weight[tokens])

    decide(
        every(
            (((size, shape), is_lookup(*size, shape)) for size in SIZES for shape in SHAPES),
            what="the layer's output equals the indexed table to the bit",
        )
    )


@claim("week07.day3.embedding-equals-one-hot-matmul")
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_embedding_equals_one_hot_matmul(decide: Decide, device: torch.device, dtype: str) -> None:
    generator = torch.Generator().manual_seed(0)
    same_vectors, same_gradients = [], []
    # A product adds zeros to one number, and integers add up exactly: neither leaves room for rounding, in any order.
    for vocabulary, features in SIZES:
        table = torch.randn(vocabulary, features, generator=generator, dtype=getattr(torch, dtype)).to(device)
        table.requires_grad_()
        for shape in SHAPES:
            tokens = torch.randint(vocabulary, shape, generator=generator).to(device)
            arriving = torch.randint(-9, 10, (*shape, features), generator=generator).to(table)
            # The library's own function on one side: the other two are ours.
            looked_up = nn.functional.embedding(tokens, table)
            (gradient,) = torch.autograd.grad(looked_up, table, arriving)
            for ours in (multiply, look_up):
                vectors = ours(tokens, table)
                (our_gradient,) = torch.autograd.grad(vectors, table, arriving)
                case = (ours.__name__, vocabulary, features, shape)
                same_vectors.append((case, torch.equal(looked_up, vectors)))
                same_gradients.append((case, torch.equal(gradient, our_gradient)))
    of_both = f"of looking up and of multiplying are equal to the bit in {dtype}"
    decide(
        every(same_vectors, what=f"the vectors {of_both}"),
        every(same_gradients, what=f"the table's gradients {of_both}"),
    )


@claim("week07.day3.one-hot-pairs-equidistant")
def test_one_hot_pairs_equidistant(measure: Measure, decide: Decide) -> None:
    vocabulary, pairs = 50_000, 100
    generator = torch.Generator().manual_seed(0)
    first = torch.randint(vocabulary, (pairs,), generator=generator)
    second = (first + torch.randint(1, vocabulary, (pairs,), generator=generator)) % vocabulary
    a, b = one_hot(first, vocabulary), one_hot(second, vocabulary)
    measure("vocabulary", a.shape[1])
    distances, cosines = torch.linalg.vector_norm(a - b, dim=1), nn.functional.cosine_similarity(a, b)
    measure.also("distance between any two words", distances[0])
    measure.also("cosine of any two words", cosines[0])
    # The whole 50,000 × 50,000 identity would take 10 GB; these pairs take 20 MB a side.
    what = f"of {pairs} random pairs of {vocabulary} words"
    decide(
        close(distances.numpy(), [math.sqrt(2)] * pairs, rtol=1e-6, what=f"the distances {what}, against √2"),
        same(cosines.numpy(), torch.zeros(pairs).numpy(), what=f"the cosines {what}, against 0"),
    )


@claim("week07.day3.one-hot-pairs-equidistant")
def test_one_hot_pairs_equidistant__closed_form(decide: Decide) -> None:
    # |a − b|² = |a|² + |b|² − 2·a·b is 1 + 1 − 0 = 2 for every pair, whatever the size of the vocabulary.
    def is_identity(vocabulary: int) -> bool:
        vectors = one_hot(torch.arange(vocabulary), vocabulary)
        return torch.equal(vectors @ vectors.T, torch.eye(vocabulary))

    decide(
        every(
            ((vocabulary, is_identity(vocabulary)) for vocabulary in range(1, 101)),
            what="the products of all pairs are 0, and of each word with itself 1, in vocabularies of 1 to 100",
        )
    )


@claim("week07.day3.embedding-saves-the-matmul")
def test_embedding_saves_the_matmul(measure: Measure, decide: Decide) -> None:
    features, vocabularies = 4, (10, 100, 1_000)
    token = torch.tensor([5])
    tables = [torch.randn(vocabulary, features) for vocabulary in vocabularies]
    looking_up = [elements_touched(lambda table: look_up(token, table), table) for table in tables]
    multiplying = [elements_touched(lambda table: multiply(token, table), table) for table in tables]
    operations = [counted_operations(lambda table=table: multiply(token, table)) for table in tables]  # type: ignore[misc]
    for name, touched in (("one-hot times table", multiplying), ("looking up", looking_up)):
        measure.curve(
            f"Numbers of the table that one token in {features} numbers touches",
            vocabularies,
            touched,
            series=name,
            x_label="vocabulary",
            y_label="numbers touched",
            x_scale="log",
            y_scale="log",
        )
    sizes = tuple(vocabulary * features for vocabulary in vocabularies)
    what = f"of the table that a token in {features} numbers touches"
    decide(
        same(tuple(looking_up), (features,) * len(tables), what=f"Numbers {what} if it is looked up: its own row"),
        same(tuple(multiplying), sizes, what=f"Numbers {what} if it is multiplied: all, and all but one row by a zero"),
        same(
            tuple(operations),
            tuple(2 * size for size in sizes),
            what="Operations of multiplying, two for each number of the table",
        ),
        grows(vocabularies, multiplying, law="linear", what="The work of multiplying"),
    )


@claim("week07.day3.similar-use-similar-vectors")
def test_similar_use_similar_vectors__what_is_compared(decide: Decide) -> None:
    classes = torch.tensor([0, 0, 0, 1, 1, 1])
    at_right_angles, by_class = torch.eye(6), nn.functional.one_hot(classes).float()
    what = "Mean cosine of different words of one class, and of two classes, where"
    decide(
        same(class_cosines(at_right_angles, classes), (0.0, 0.0), what=f"{what} all words are at right angles"),
        same(class_cosines(by_class, classes), (1.0, 0.0), what=f"{what} the words of a class are the same"),
    )


@claim("week07.day3.similar-use-similar-vectors")
def test_similar_use_similar_vectors(measure: Measure, decide: Decide, evidence: EvidenceOf) -> None:
    words = evidence(WORD_CLASSES)
    measure.also("cosine within a class", words["within classes"], bounds=(-1, 1))
    measure.also("cosine between classes", words["between classes"], bounds=(-1, 1))
    names = ("after training, the cosine within a class less that between classes", "that before training")
    decide(
        better_than_shuffled(
            words["gap"],
            words["shuffled gaps"],
            what="the cosine of two words of one class less that of two classes, in the mean over seeds,",
        ),
        beats(words["gap"], words["gap before training"], names=names),
        beats(words["gap"], NEARER, names=("the cosine within a class less that between classes", "a quarter")),
    )


POOLED: dict[str, Callable[[Tensor], Tensor]] = {
    "last": lambda outputs: outputs[:, -1],
    "mean": lambda outputs: outputs.sum(dim=1) / outputs.shape[1],
    "max": lambda outputs: outputs.amax(dim=1),
}
"""What the poolings are: from outputs (batch, length, features) to (batch, features)."""


def classify_from_pooled(recipes: Mapping[str, Classification]) -> Iterator[tuple[str, bool]]:
    """Yield for each recipe whether its model classifies from the outputs pooled as the recipe's name says."""
    for name, recipe in recipes.items():
        model = recipe.model.build()
        assert isinstance(model, RecurrentClassifier)
        tokens = torch.randint(1, 10, (5, 12))
        outputs, _ = model.recurrent(model.embedding(tokens))
        yield name, torch.allclose(model(tokens), model.head(POOLED[name](outputs)), rtol=1e-4, atol=1e-6)


@claim("week07.day3.pooling")
def test_pooling(measure: Measure, decide: Decide, evidence: EvidenceOf) -> None:
    last, mean, maximum = (evidence(POOLINGS[name])["accuracy"] for name in ("last", "mean", "max"))
    measure("last accuracy", last, bounds=(0, 1))
    measure("mean accuracy", mean, bounds=(0, 1))
    measure("max accuracy", maximum, bounds=(0, 1))
    measure.also("share of runs that the last output wins", np.mean(last.values > maximum.values), bounds=(0, 1))
    decide(
        every(classify_from_pooled(POOLINGS), what="The models classify from the last output, the mean, the maximum"),
        beats(last, maximum, names=("accuracy from the last output", "that from the maximum")),
        beats(maximum, mean, names=("accuracy from the maximum", "that from the mean")),
    )


@claim("week07.day3.pooling")
def test_pooling__addition(decide: Decide, evidence: EvidenceOf) -> None:
    last, maximum = (evidence(POOLINGS[name])["accuracy"] for name in ("last", "max"))
    names = ("accuracy from the last output", "that from the maximum")
    decide(equivalent(last, maximum, margin=CLOSE, names=names))


@claim("week07.day3.pool-when-evidence-anywhere")
def test_pool_when_evidence_anywhere(measure: Measure, decide: Decide, evidence: EvidenceOf) -> None:
    decide(*marker_stands_at(range(40), MARKER_ANYWHERE))
    last, mean, maximum = marker_accuracies(MARKER_ANYWHERE, "anywhere", measure, decide, evidence)
    where = "where a marker may stand anywhere in 40 positions, accuracy from the"
    decide(
        beats(maximum, LEARNT, names=(f"{where} maximum", "0.9")),
        beats(maximum, last, names=(f"{where} maximum", "that from the last output")),
        beats(mean, last, names=(f"{where} mean", "that from the last output")),
    )


@claim("week07.day3.last-when-the-end-decides")
def test_last_when_the_end_decides(measure: Measure, decide: Decide, evidence: EvidenceOf) -> None:
    decide(*marker_stands_at(range(36, 40), MARKER_AT_THE_END))
    last, mean, maximum = marker_accuracies(MARKER_AT_THE_END, "at the end", measure, decide, evidence)
    name = "where a marker may stand in the last four of 40 positions, accuracy from the last output"
    decide(
        beats(last, LEARNT, names=(name, "0.9")),
        beats(last, maximum, by=-NO_WORSE, names=(name, "that from the maximum")),
        beats(last, mean, by=-NO_WORSE, names=(name, "that from the mean")),
    )


def marker_stands_at(places: range, recipes: Mapping[str, Classification]) -> Iterator[Decision]:
    """Decide whether label 1 means that the marker stands once, at any of these of 40 places, in all recipes' rows."""
    for data in dict.fromkeys(recipe.data for recipe in recipes.values()):
        split = data.split(0)
        for inputs, labels in (split.training, split.validation):
            marked = inputs == MARKER
            found = marked.any(dim=0).nonzero().flatten().tolist()
            yield that(
                inputs.shape[1] == 40 and found == [*places] and torch.equal(marked.sum(dim=1), labels),
                f"Rows labelled 1 have one marker, at places {places[0]} to {places[-1]} of 40, and the others none.",
            )


def marker_accuracies(
    recipes: Mapping[str, Classification], where: str, measure: Measure, decide: Decide, evidence: EvidenceOf
) -> list[Sample]:
    """Return the accuracies from the last output, the mean and the maximum; check that their names are true."""
    decide(every(classify_from_pooled(recipes), what="The models classify from the last output, the mean, the maximum"))
    cells = sorted({type(recipe.model.build().get_submodule("recurrent")).__name__ for recipe in recipes.values()})
    # A gated cell could carry the marker to the end, so that the last output would do as well.
    decide(same(cells, ["RNN"], what="The cells that read the rows"))
    for name in ("mean", "max"):
        only_differ(recipes["last"], recipes[name], "model.pooling")
    accuracies = {name: evidence(recipe)["accuracy"] for name, recipe in recipes.items()}
    for name, accuracy in accuracies.items():
        measure.also(f"{name} accuracy, marker {where}", accuracy, bounds=(0, 1))
    return [accuracies[name] for name in ("last", "mean", "max")]


@claim("week07.day3.three-cells")
def test_three_cells(measure: Measure, decide: Decide, evidence: EvidenceOf) -> None:
    accuracies = {name: evidence(recipe)["accuracy"] for name, recipe in CELLS.items()}
    for name, recipe in CELLS.items():
        measure(f"{name} parameters", parameter_count(recipe.model.build()))
        measure(f"{name} accuracy", accuracies[name], bounds=(0, 1))
    decide(
        *(beats(accuracies[gated], LEARNT, names=(f"accuracy of the {gated}", "0.9")) for gated in ("gru", "lstm")),
        beats(1 - np.asarray(accuracies["rnn"]), 1 - NOT_LEARNT, names=("error of the plain RNN", "a quarter")),
    )

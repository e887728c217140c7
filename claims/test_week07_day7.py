"""week07, day 7: the complete classifier, five models in one table, and recurrence against attention."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice

import numpy as np
import torch
from torch import Tensor, nn

from lesson_claims import (
    Decide,
    EvidenceOf,
    Measure,
    Sample,
    beats,
    claim,
    close,
    equivalent,
    every,
    grows,
    in_most_seeds,
    refuted,
    same,
    that,
)
from lessons.ceilings import best_from_counts
from lessons.classifiers import BagOfEmbeddingsConfig, SequenceClassifier, SequenceClassifierConfig, parameter_count
from lessons.cost import RECURRENT_CELLS, attend, counted_operations, recur, sequential_depth
from lessons.memory_task import MemoryTask, memory_task
from lessons.recipes import CELLS, COMPARISON, COMPLETE, LENGTH_SWEEP
from lessons.streaming import as_layer, live_tensor_bytes, noise, stream

CHANCE = 0.5

LENGTHS = (8, 16, 32, 64, 128)
WIDTH = 32
"""Of the inputs and outputs of the layers whose cost is counted."""


@claim("week07.day7.complete-classifier")
def test_complete_classifier(measure: Measure, evidence: EvidenceOf) -> None:
    complete = evidence(COMPLETE)
    measure("parameters", parameter_count(COMPLETE.model.build()))
    measure("accuracy", complete["accuracy"], bounds=(0, 1))
    # Recorded and judged by nothing: a clock tells of the machine, not of the page.
    measure("training seconds", complete.seconds.page, unit="s")


def pooled_features(seed: int, device: torch.device) -> tuple[SequenceClassifier, Tensor, Tensor, Tensor]:
    """Build the complete classifier; random values for maximum and mean, and for what the mean is corrupted to."""
    torch.manual_seed(seed)
    model = SequenceClassifier(SequenceClassifierConfig()).eval().to(device)
    maximum, mean, corrupted = torch.randn(3, 20, 128).to(device)
    return model, maximum, mean, 1e3 * corrupted


@claim("week07.day7.max-and-mean-pooled")
@refuted
@torch.no_grad()
def test_max_and_mean_pooled(decide: Decide, device: torch.device) -> None:
    def logits_change() -> Iterator[bool]:
        for seed in range(20):
            model, maximum, mean, corrupted = pooled_features(seed, device)
            yield not torch.equal(model.classify(maximum, mean), model.classify(maximum, corrupted))

    decide(every(logits_change(), what="The logits change when the mean is corrupted"))


@claim("week07.day7.max-and-mean-pooled.corrected")
@torch.no_grad()
def test_max_and_mean_pooled__corrected(decide: Decide, device: torch.device) -> None:
    def only_the_maximum_counts() -> Iterator[bool]:
        for seed in range(20):
            model, maximum, mean, corrupted = pooled_features(seed, device)
            logits = model.classify(maximum, mean)
            yield torch.equal(logits, model.classify(maximum, corrupted)) and not torch.equal(
                logits, model.classify(corrupted, mean)
            )

    decide(
        every(
            only_the_maximum_counts(),
            what="Corrupting the mean leaves the logits as they are, to the bit, and "
            "corrupting the maximum changes them",
        )
    )


@claim("week07.day7.max-and-mean-pooled.corrected")
def test_max_and_mean_pooled__corrected__accuracy(measure: Measure, decide: Decide, evidence: EvidenceOf) -> None:
    by_maximum = evidence(COMPLETE)["accuracy"]
    measure.also("accuracy by maximum", by_maximum, bounds=(0, 1))
    by_both = evidence(replace(COMPLETE, model=SequenceClassifierConfig(pooled="max and mean")))["accuracy"]
    measure.also("accuracy by maximum and mean", by_both, bounds=(0, 1))
    decide(beats(by_maximum, by_both, by=-0.02, names=("Pooling by the maximum", "pooling by maximum and mean")))


@claim("week07.day7.comparison")
def test_comparison(measure: Measure, evidence: EvidenceOf) -> None:
    accuracies: list[Sample] = []
    for name, recipe in COMPARISON.items():
        measure(f"{name} parameters", parameter_count(recipe.model.build()))
        accuracies.append(evidence(recipe)["accuracy"])
        measure(f"{name} accuracy", accuracies[-1], bounds=(0, 1))
    picture = "Five models"
    measure.range_over_seeds(
        picture,
        list(COMPARISON),
        np.stack(accuracies, axis=1),
        series="median of the seeds, and their range",
        mark="bar",
        y_label="accuracy",
    )
    measure.limit(picture, CHANCE, "chance")
    measure.limit(picture, float(best_from_counts(MemoryTask().length)), "the most that counts alone allow")


@claim("week07.day7.bag-beats-plain-rnn")
def test_bag_beats_plain_rnn(decide: Decide, evidence: EvidenceOf) -> None:
    bag, plain = (evidence(COMPARISON[name])["accuracy"] for name in ("bag of embeddings", "plain RNN"))
    decide(beats(bag, plain, names=("The bag of embeddings", "the plain RNN")))


@claim("week07.day7.bag-ignores-order")
@torch.no_grad()
def test_bag_ignores_order(decide: Decide, device: torch.device) -> None:
    in_order, shuffled, replaced = [], [], []
    for seed in range(10):
        torch.manual_seed(seed)
        model = BagOfEmbeddingsConfig().build().to(device)
        tokens = memory_task(50, 2 + 5 * seed, seed)[0].to(device)
        in_order.append(model(tokens))
        shuffled.append(model(tokens[:, torch.randperm(tokens.shape[1])]))
        replaced.append(model(tokens % 9 + 1))
    logits = torch.cat(in_order).cpu()
    decide(
        close(torch.cat(shuffled).cpu(), logits, rtol=1e-4, atol=1e-5, what="Logits of the same tokens, shuffled"),
        every((torch.cat(replaced).cpu() != logits).any(dim=1).tolist(), what="Other tokens give other logits"),
    )


@claim("week07.day7.bag-ignores-order")
def test_bag_ignores_order__ceiling(measure: Measure, decide: Decide, evidence: EvidenceOf) -> None:
    recipe = COMPARISON["bag of embeddings"]
    accuracy = evidence(recipe)["accuracy"]
    ceiling = float(best_from_counts(MemoryTask().length))
    measure.also("the most that counts alone allow", ceiling)
    luck = 4 * math.sqrt(ceiling * (1 - ceiling) / MemoryTask().validation_rows)
    decide(
        in_most_seeds(
            accuracy.values <= ceiling + luck,
            what=f"The bag of embeddings stays under that and four standard deviations of luck, {ceiling + luck:.3f}",
        )
    )


def recurrent_operations(name: str, length: int, device: torch.device) -> int:
    """Count a cell's operations along one sequence."""
    cell = RECURRENT_CELLS[name](WIDTH, WIDTH).to(device)
    inputs = torch.randn(1, length, WIDTH).to(device)
    return counted_operations(lambda: recur(cell, inputs))


def attention_operations(length: int, device: torch.device) -> int:
    """Count the operations of one attention layer over one sequence."""
    attention = nn.MultiheadAttention(WIDTH, 1, batch_first=True).to(device)
    inputs = torch.randn(1, length, WIDTH).to(device)
    return counted_operations(lambda: attend(attention, inputs))


def recurrent_depth(name: str, length: int, device: torch.device) -> int:
    """Measure how many operations along one sequence must wait for each other."""
    return sequential_depth(
        recur(RECURRENT_CELLS[name](WIDTH, WIDTH).to(device), torch.randn(1, length, WIDTH).to(device))
    )


def draw_operations(measure: Measure, picture: str, name: str, counted: list[int]) -> None:
    """Record the operations at each of `LENGTHS` as a curve; where both axes are logarithmic, a power is a line."""
    measure.curve(
        picture,
        LENGTHS,
        counted,
        series=name,
        x_label="length",
        y_label="floating-point operations",
        x_scale="log",
        y_scale="log",
    )


@claim("week07.day7.time-linear-in-length")
def test_time_linear_in_length(measure: Measure, decide: Decide, device: torch.device) -> None:
    for name, gates in (("RNN", 1), ("GRU", 3), ("LSTM", 4)):
        counted = [recurrent_operations(name, length, device) for length in LENGTHS]
        depths = [recurrent_depth(name, length, device) for length in LENGTHS]
        decide(
            grows(LENGTHS, counted, law="linear", what=f"The count of operations of the {name}"),
            # Two operations per multiply-add; each gate multiplies the input and the state by a matrix.
            same(
                np.array(counted),
                np.array([2 * length * gates * WIDTH * (WIDTH + WIDTH) for length in LENGTHS]),
                what=f"Operations of the {name} as its weights predict them",
            ),
            grows(LENGTHS, depths, law="linear", what=f"The longest chain of operations of the {name}"),
        )
        draw_operations(measure, f"Cost of a recurrent layer, width {WIDTH}", name, counted)


@claim("week07.day7.attention-quadratic")
def test_attention_quadratic(measure: Measure, decide: Decide, device: torch.device) -> None:
    attention = [attention_operations(length, device) for length in LENGTHS]
    lstm = [recurrent_operations("LSTM", length, device) for length in LENGTHS]
    decide(
        grows(LENGTHS, attention, law="quadratic", what="The count of operations of attention"),
        # Four projections of every position; each position scores every other, and mixes its values by the score.
        same(
            np.array(attention),
            np.array([8 * length * WIDTH**2 + 4 * length**2 * WIDTH for length in LENGTHS]),
            what="Operations of attention as its weights predict them",
        ),
    )
    dearer = next(length for length, a, b in zip(LENGTHS, attention, lstm, strict=True) if a >= b)
    measure.also(f"length from which attention of width {WIDTH} costs as much as an LSTM of that width", dearer)
    for name, counted in (("attention", attention), ("LSTM", lstm)):
        draw_operations(measure, f"Attention against recurrence, width {WIDTH}", name, counted)


@claim("week07.day7.attention-is-parallel")
def test_attention_is_parallel(measure: Measure, decide: Decide, device: torch.device) -> None:
    attention = nn.MultiheadAttention(WIDTH, 1, batch_first=True).to(device)
    depths = {
        "attention": [sequential_depth(attend(attention, torch.randn(1, n, WIDTH).to(device))) for n in LENGTHS],
        "LSTM": [recurrent_depth("LSTM", length, device) for length in LENGTHS],
    }
    decide(
        grows(LENGTHS, depths["attention"], law="constant", what="The longest chain of operations of attention"),
        grows(LENGTHS, depths["LSTM"], law="linear", what="The longest chain of operations of the LSTM"),
    )
    for name, depth in depths.items():
        measure.curve(
            "Operations that must wait for each other",
            LENGTHS,
            depth,
            series=name,
            x_label="length",
            y_label="operations in the longest chain",
        )


@claim("week07.day7.attention-is-parallel")
@torch.no_grad()
def test_attention_is_parallel__positions_alone(decide: Decide, device: torch.device) -> None:
    attention = nn.MultiheadAttention(WIDTH, 4, batch_first=True).to(device)
    inputs = torch.randn(3, 40, WIDTH).to(device)
    alone = torch.cat([attend(attention, inputs, position) for position in torch.split(inputs, 1, dim=1)], dim=1)
    decide(
        close(
            alone.cpu(),
            attend(attention, inputs).cpu(),
            rtol=1e-4,
            atol=1e-5,
            what="Each position's output, computed without any other's",
        )
    )


@claim("week07.day7.streaming")
@torch.inference_mode()
def test_streaming(measure: Measure, decide: Decide, device: torch.device) -> None:
    early, late = 100, 10_000  # whatever grows with each element has grown by then
    kept = {}
    cell = nn.RNNCell(1, 4).to(device)
    outputs = stream(cell, noise(1, 0, device))
    for step in range(1, late + 1):
        state = next(outputs)
        if step in (early, late):
            kept[step] = live_tensor_bytes()
    measure.also("carried state", state.nbytes, unit="bytes")
    decide(
        that(
            kept[late] == kept[early],
            f"{kept[late]:,} bytes of tensors are alive after {late:,} elements, {kept[early]:,} after {early:,}.",
        )
    )


@claim("week07.day7.streaming")
@torch.no_grad()
def test_streaming__equals_the_whole_pass(decide: Decide, device: torch.device) -> None:
    for name, cell_type in RECURRENT_CELLS.items():
        cell = cell_type(3, 8).to(device)
        elements = list(islice(noise(3, 0, device), 100))
        whole, _ = as_layer(cell)(torch.stack(elements, dim=1))
        streamed = torch.stack(list(stream(cell, elements)), dim=1)
        decide(
            close(
                streamed.cpu(),
                whole.cpu(),
                rtol=1e-4,
                atol=1e-5,
                what=f"Outputs of the {name}, one element at a time against the whole sequence",
            )
        )


@claim("week07.day7.streaming")
@torch.no_grad()
def test_streaming__not_in_both_directions(decide: Decide, device: torch.device) -> None:
    def later_elements_count() -> Iterator[bool]:
        for layer_type in (nn.RNN, nn.GRU, nn.LSTM):
            for length in (2, 5, 30):
                layer = layer_type(3, 8, bidirectional=True, batch_first=True).to(device)
                sequence = torch.randn(1, length, 3).to(device)
                so_far, _ = layer(sequence[:, :-1])
                whole, _ = layer(sequence)
                difference = (whole[:, :-1] - so_far).abs().cpu()
                yield bool(difference[..., :8].max() < 1e-5 and (difference[..., 8:].amax(dim=2) > 0).all())

    decide(
        every(
            later_elements_count(),
            what="A further element changes the backward half of all earlier outputs of a bidirectional layer, "
            "and no forward half, so that such a layer has no output before the stream ends",
        )
    )


@claim("week07.day7.gated-cell-beyond-twenty-steps")
@refuted
def test_gated_cell_beyond_twenty_steps(measure: Measure, decide: Decide, evidence: EvidenceOf) -> None:
    accuracies = {key: evidence(recipe)["accuracy"] for key, recipe in LENGTH_SWEEP.items()}
    plain = {length: accuracy for (name, length), accuracy in accuracies.items() if name == "plain RNN"}
    # The shortest length at which it gets less than a quarter of the way from chance to certainty.
    failed = (length for length, accuracy in plain.items() if np.median(accuracy) < 0.625)
    measure("steps", min(failed, default=math.inf))
    picture = "Accuracy against length"
    for model in ("plain RNN", "LSTM"):
        measure.range_over_seeds(
            picture,
            [length for name, length in accuracies if name == model],
            np.stack([accuracy for (name, _), accuracy in accuracies.items() if name == model], axis=1),
            series=f"{model}, median of the seeds, and their range",
            x_label="length",
            y_label="accuracy",
        )
    measure.limit(picture, CHANCE, "chance")
    decide(beats(plain[10], 0.75, names=("The accuracy of the plain RNN at length 10", "0.75")))


@claim("week07.day7.gated-cell-beyond-twenty-steps.corrected")
def test_gated_cell_beyond_twenty_steps__corrected(measure: Measure, decide: Decide, evidence: EvidenceOf) -> None:
    for length in (6, 10):
        plain, gated = (evidence(LENGTH_SWEEP[name, length])["accuracy"] for name in ("plain RNN", "LSTM"))
        measure.also(f"accuracy of the plain RNN at length {length}", plain, bounds=(0, 1))
        measure.also(f"accuracy of the LSTM at length {length}", gated, bounds=(0, 1))
        decide(beats(gated, plain, by=0.05, names=(f"The LSTM at length {length}", "the plain RNN")))
    decide(
        equivalent(
            evidence(LENGTH_SWEEP["plain RNN", 10])["accuracy"],
            CHANCE,
            margin=0.1,
            names=("The plain RNN at length 10", "chance"),
        ),
        beats(
            evidence(CELLS["gru"])["accuracy"],
            evidence(CELLS["rnn"])["accuracy"],
            by=0.2,
            names=("The GRU at length 8", "the plain RNN"),
        ),
    )


@claim("week07.day7.bag-baseline-informative")
def test_bag_baseline_informative(decide: Decide, evidence: EvidenceOf) -> None:
    bag, gru = (evidence(COMPARISON[name])["accuracy"] for name in ("bag of embeddings", "GRU"))
    decide(
        beats(bag, CHANCE, by=0.05, names=("The bag of embeddings", "chance")),
        beats(gru, bag, by=0.05, names=("The GRU, which reads in order,", "the bag of embeddings")),
    )

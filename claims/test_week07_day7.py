"""week07, day 7: the complete classifier, five models in one table, and recurrence against attention."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

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
    only_differ,
    refuted,
    same,
    share,
    that,
)
from lessons.ceilings import best_from_counts
from lessons.classifiers import BagOfEmbeddingsConfig, ModelConfig, SequenceClassifierConfig, parameter_count
from lessons.cost import (
    RECURRENT_CELLS,
    attend,
    counted_operations,
    recur,
    sequential_depth,
    training_gradients,
    waits_for,
)
from lessons.gated_recall import RECALL_FROM_TWENTY, STEPS_FROM_TWENTY
from lessons.memory_task import MemoryTask, memory_task
from lessons.recipes import CELLS, COMPARISON, COMPLETE, LENGTH_SWEEP
from lessons.recurrence import LATCH_NOISE, latch
from lessons.stream_readers import CarriedState, StreamingAttention, kept_bytes
from lessons.streaming import as_layer, memory_along_stream, noise, stream

CHANCE = 0.5

LENGTHS = (8, 16, 32, 64, 128)
WIDTH = 32
"""Of the inputs and outputs of the layers whose cost is counted."""

GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}
"""How often each cell multiplies its input and its state by a matrix at each step."""


@claim("week07.day7.complete-classifier")
def test_complete_classifier(measure: Measure, evidence: EvidenceOf) -> None:
    complete = evidence(COMPLETE)
    measure("parameters", parameter_count(COMPLETE.model.build()))
    measure("accuracy", complete["accuracy"], bounds=(0, 1))
    # Recorded and judged by nothing: a clock tells of the machine, not of the page.
    measure("training seconds", complete.seconds.page, unit="s")


Change = Callable[[Tensor], Tensor]
"""Of the outputs of a recurrent layer, float of shape (batch, length, features)."""


def is_maximum(outputs: Tensor) -> Tensor:
    """Mark the largest value of each feature over the positions, bool of the shape of `outputs`."""
    return functional.one_hot(outputs.argmax(dim=1), outputs.shape[1]).movedim(-1, 1).bool()


def mean_alone(outputs: Tensor) -> Tensor:
    """Lower all but the maxima: another mean over positions, and the same maximum."""
    return torch.where(is_maximum(outputs), outputs, outputs - 3)


def maximum_alone(outputs: Tensor) -> Tensor:
    """Raise the maxima and lower all others by as much in sum: another maximum over positions, and the same mean."""
    others = outputs.shape[1] - 1
    return torch.where(is_maximum(outputs), outputs + 3, outputs - 3 / others)


def logits_move(config: ModelConfig, change: Change, device: torch.device) -> Iterator[float]:
    """Build 20 models; tell by how much each one's logits move when what its LSTM puts out is changed."""
    for seed in range(20):
        torch.manual_seed(seed)
        model = config.build().eval().to(device)
        tokens = memory_task(20, MemoryTask().length, seed)[0].to(device)
        before = model(tokens)
        (recurrent,) = (module for module in model.modules() if isinstance(module, nn.LSTM))
        recurrent.register_forward_hook(lambda _module, _inputs, results: (change(results[0]), results[1]))
        yield (model(tokens) - before).abs().max().item()


TAKES_BOTH = replace(COMPLETE, model=SequenceClassifierConfig(pooled="max and mean"))
LEAST_MOVE = 1e-3
"""Maximum or mean move by 2 or more; what rounding moves is far less than this."""


@claim("week07.day7.max-and-mean-pooled")
@refuted
@torch.no_grad()
def test_max_and_mean_pooled(decide: Decide, device: torch.device) -> None:
    decide(
        every(
            (move > LEAST_MOVE for move in logits_move(COMPLETE.model, mean_alone, device)),
            what="The logits move when the mean of the outputs moves and their maximum does not",
        ),
    )


@claim("week07.day7.max-and-mean-pooled.corrected")
@torch.no_grad()
def test_max_and_mean_pooled__corrected(decide: Decide, device: torch.device) -> None:
    decide(
        every(
            (move == 0 for move in logits_move(COMPLETE.model, mean_alone, device)),
            what="The logits stay the same, to the bit, when the mean of the outputs moves and their maximum does not",
        ),
        every(
            (move > LEAST_MOVE for move in logits_move(COMPLETE.model, maximum_alone, device)),
            what="The logits move when the maximum of the outputs moves and their mean does not",
        ),
        every(
            (move > LEAST_MOVE for move in logits_move(TAKES_BOTH.model, mean_alone, device)),
            what="The logits of a model whose head takes both move with the mean",
        ),
    )


@claim("week07.day7.max-and-mean-pooled.corrected")
def test_max_and_mean_pooled__corrected__accuracy(measure: Measure, decide: Decide, evidence: EvidenceOf) -> None:
    only_differ(COMPLETE, TAKES_BOTH, "model.pooled")
    by_maximum = evidence(COMPLETE)["accuracy"]
    measure.also("accuracy by maximum", by_maximum, bounds=(0, 1))
    by_both = evidence(TAKES_BOTH)["accuracy"]
    measure.also("accuracy by maximum and mean", by_both, bounds=(0, 1))
    measure.also("parameters with maximum and mean", parameter_count(TAKES_BOTH.model.build()))
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
    in_order, shuffled, replaced, twice = [], [], [], []
    for seed in range(10):
        torch.manual_seed(seed)
        model = BagOfEmbeddingsConfig().build().to(device)
        tokens = memory_task(50, 2 + 5 * seed, seed)[0].to(device)
        in_order.append(model(tokens))
        shuffled.append(model(tokens[:, torch.randperm(tokens.shape[1])]))
        replaced.append(model(tokens % 9 + 1))
        twice.append(model(tokens.repeat(1, 2)))
    logits = torch.cat(in_order).cpu()
    decide(
        close(torch.cat(shuffled).cpu(), logits, rtol=1e-4, atol=1e-5, what="Logits of the same tokens, shuffled"),
        close(torch.cat(twice).cpu(), logits, rtol=1e-4, atol=1e-5, what="Logits of the row twice over: a mean"),
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
    for name, gates in GATES.items():
        counted = [recurrent_operations(name, length, device) for length in LENGTHS]
        depths = [recurrent_depth(name, length, device) for length in LENGTHS]
        decide(
            grows(LENGTHS, counted, law="linear", what=f"The count of operations of the {name}"),
            # Two operations per multiply-add.
            same(
                np.array(counted),
                np.array([2 * length * gates * WIDTH * (WIDTH + WIDTH) for length in LENGTHS]),
                what=f"Operations of the {name} as its weights predict them",
            ),
            grows(LENGTHS, depths, law="linear", what=f"The longest chain of operations of the {name}"),
        )
        draw_operations(measure, f"Cost of a recurrent layer, width {WIDTH}", name, counted)


@claim("week07.day7.training-time-linear")
def test_training_time_linear(measure: Measure, decide: Decide, device: torch.device) -> None:
    lengths, width = (64, 512, 4096), 4

    def gradients(name: str, length: int) -> tuple[Tensor, ...]:
        cell = RECURRENT_CELLS[name](width, width).to(device)
        return training_gradients(cell, torch.randn(1, length, width).to(device))

    # Counted for the plain RNN alone: gates multiply this, and for 4,096 steps of an LSTM the counter takes its time.
    counted = [counted_operations(partial(gradients, "RNN", length)) for length in lengths]
    decide(
        grows(lengths, counted, law="linear", what="The count of operations of a training step of the RNN"),
        same(
            np.array(counted),
            # Two matrices at each step, in the forward pass and for their gradients; and one at each step but the
            # first for the gradient that goes on to the step before.
            np.array([2 * width**2 * (4 * length + (length - 1)) for length in lengths]),
            what="Operations of a training step as the weights predict them",
        ),
    )
    for name in RECURRENT_CELLS:
        depths = [max(map(sequential_depth, gradients(name, length))) for length in lengths]
        decide(
            grows(
                lengths, depths, law="linear", what=f"The longest chain of operations of a training step of the {name}"
            )
        )
        measure.curve(
            "One training step: operations that must wait for each other",
            lengths,
            depths,
            series=name,
            x_label="length",
            y_label="operations in the longest chain",
            x_scale="log",
            y_scale="log",
        )


@claim("week07.day7.training-time-linear")
def test_training_time_linear__one_after_the_other(measure: Measure, decide: Decide, device: torch.device) -> None:
    outputs = list(stream(nn.RNNCell(WIDTH, WIDTH).to(device), islice(noise(WIDTH, 0, device), 500)))
    waits = {step: waits_for(outputs, step) for step in range(1, len(outputs) + 1)}
    earlier = max(waits[500], default=0)
    later = max((step for step, others in waits.items() if 499 in others), default=0)
    measure("the later step", later, within=(later, later))
    measure("the earlier step", earlier, within=(earlier, earlier))
    decide(
        every(
            ((step, others == {step - 1}) for step, others in waits.items() if step > 1),
            what="Each of 500 steps waits for the output of the step before it, and for no other",
        )
    )


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
    dearer = min((length for length, a, b in zip(LENGTHS, attention, lstm, strict=True) if a >= b), default=0)
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


MEBIBYTE = 2**20


@claim("week07.day7.streaming")
def test_streaming(measure: Measure, decide: Decide, device: torch.device) -> None:
    early, late = 10_000, 100_000
    memory = dict(zip((early, late), memory_along_stream(64, (early, late), device), strict=True))
    for elements, taken in memory.items():
        measure.also(f"memory of the process after {elements:,} elements", taken / MEBIBYTE, unit="MiB")
    grown = (memory[late] - memory[early]) / MEBIBYTE
    decide(
        that(
            # To keep one number of each element in a list takes 2.7 MiB, and to keep the outputs 22 MiB or more.
            grown < 1,
            f"From {early:,} to {late:,} elements the process's memory grows by {grown:.2f} MiB; 1 MiB is allowed.",
        )
    )


@claim("week07.day7.streaming")
@torch.no_grad()
def test_streaming__cost_of_an_element(decide: Decide, device: torch.device) -> None:
    counted_at = (1, 10, 100, 1_000, 10_000)
    for name, gates in GATES.items():
        outputs = stream(RECURRENT_CELLS[name](WIDTH, WIDTH).to(device), noise(WIDTH, 0, device))
        counted = []
        for element in range(1, counted_at[-1] + 1):
            if element in counted_at:
                counted.append(counted_operations(outputs.__next__))
            else:
                next(outputs)
        decide(
            same(
                np.array(counted),
                np.full(len(counted_at), 2 * gates * WIDTH * (WIDTH + WIDTH)),
                what=f"Operations of the {name} for element 1, 10, 100, 1,000 and 10,000 of a stream",
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


def cost_along_stream(
    reader: CarriedState | StreamingAttention, places: Sequence[int], device: torch.device
) -> tuple[list[int], list[int]]:
    """Count the operations for the elements at some places of a stream, and the bytes that are kept after them."""
    operations, kept = [], []
    for place, element in enumerate(islice(noise(WIDTH, 0, device), places[-1]), start=1):
        if place in places:
            operations.append(counted_operations(partial(reader, element)))
            kept.append(kept_bytes(reader))
        else:
            reader(element)
    return operations, kept


WINDOW = 16
"""Elements that attention in a window keeps, the one that it reads among them."""


@claim("week07.day7.window-is-no-state")
def test_window_is_no_state(measure: Measure, decide: Decide, device: torch.device) -> None:
    places = (WINDOW, 32, 64, 128, 256)
    readers = (
        ("a carried state", "constant", CarriedState(nn.RNNCell(WIDTH, WIDTH))),
        ("attention to all elements", "linear", StreamingAttention(WIDTH)),
        (f"attention to the last {WINDOW}", "constant", StreamingAttention(WIDTH, WINDOW)),
    )
    for name, law, reader in readers:
        operations, kept = cost_along_stream(reader.to(device), places, device)
        decide(
            grows(places, operations, law=law, what=f"The count of operations for one further element, with {name},"),
            grows(places, kept, law=law, what=f"The number of bytes kept from element to element, with {name},"),
        )
        for picture, values in (("operations for one further element", operations), ("bytes kept", kept)):
            measure.curve(
                f"Reading a stream: {picture}",
                places,
                values,
                series=name,
                x_label="elements read",
                y_label=picture,
                x_scale="log",
                y_scale="log",
            )


@claim("week07.day7.window-is-no-state")
@torch.no_grad()
def test_window_is_no_state__recall(decide: Decide, device: torch.device) -> None:
    steps = 100

    def differences(seed: int, window: int | None) -> list[bool]:
        """Whether the output after each element tells with which of two elements the stream began."""
        torch.manual_seed(seed)
        later = list(islice(noise(WIDTH, seed, device), steps - 1))
        first = torch.randn(1, WIDTH).to(device)
        readers = [StreamingAttention(WIDTH, window).to(device) for _ in range(2)]
        readers[1].load_state_dict(readers[0].state_dict())
        return [
            not torch.equal(readers[0](one), readers[1](other))
            for one, other in zip([first, *later], [-first, *later], strict=True)
        ]

    in_window = [[True] * WINDOW + [False] * (steps - WINDOW)] * 10
    decide(
        same(
            [differences(seed, WINDOW) for seed in range(10)],
            in_window,
            what=f"With attention to the last {WINDOW}, whether each output depends on the first of {steps} elements",
        ),
        every(
            (differences(seed, None)[-1] for seed in range(10)),
            what=f"With attention to all elements, the last output depends on the first of {steps}",
        ),
    )
    bits = 2.0 * torch.randint(0, 2, (100,)) - 1
    noisy = LATCH_NOISE * (2 * torch.rand(100, steps - 1) - 1)
    outputs, _ = latch().to(device)(torch.cat([bits[:, None], noisy], dim=1)[..., None].to(device))
    decide(
        every(
            (outputs[:, -1, 0].sign().cpu() == bits).tolist(),
            what=f"A carried state still has the bit with which the stream began after {steps} elements",
        )
    )


def near_median(accuracy: Sample) -> NDArray[np.bool_]:
    """Tell of each seed whether its accuracy is within 0.05 of the median of the seeds."""
    return np.asarray(np.abs(accuracy.values - np.median(accuracy.values)) <= 0.05)


# Rows of one length have no padding to go wrong, and these runs are clipped at 1.0. Reliable means that 19 seeds of 20
# end within 0.05 of the median: who trains once then gets what the page has, give or take a twentieth.
CLIPPED_AND_UNPADDED = ("LSTM", "bidirectional LSTM")


@claim("week07.day7.reliable-with-padding-and-clipping")
@refuted
def test_reliable_with_padding_and_clipping(decide: Decide, evidence: EvidenceOf) -> None:
    for name in CLIPPED_AND_UNPADDED:
        near = near_median(evidence(COMPARISON[name])["accuracy"])
        what = f"The share of seeds at which the {name} ends within 0.05 of its median"
        decide(share(int(near.sum()), len(near), at_least=0.95, of_seeds=True, what=what))


@claim("week07.day7.reliable-with-padding-and-clipping.corrected")
def test_reliable_with_padding_and_clipping__corrected(measure: Measure, decide: Decide, evidence: EvidenceOf) -> None:
    for name in CLIPPED_AND_UNPADDED:
        accuracy = evidence(COMPARISON[name])["accuracy"]
        measure.also(f"accuracy of the {name}", accuracy, bounds=(0, 1))
        far = ~near_median(accuracy)
        what = f"The share of seeds at which the {name} ends further than 0.05 from its median"
        decide(share(int(far.sum()), len(far), at_least=0.05, of_seeds=True, what=what))


@claim("week07.day7.gated-cell-beyond-twenty-steps")
@refuted
def test_gated_cell_beyond_twenty_steps(measure: Measure, decide: Decide, evidence: EvidenceOf) -> None:
    for (name, steps), recipe in RECALL_FROM_TWENTY.items():
        if name != "plain RNN":
            only_differ(RECALL_FROM_TWENTY["plain RNN", steps], recipe, "model.cell")
    recall = {run: evidence(recipe)["accuracy"] for run, recipe in RECALL_FROM_TWENTY.items()}
    # The better of the two gated cells at each seed and length: the reading that is kindest to the page.
    gated_is_ahead = [
        np.maximum(recall["GRU", steps], recall["LSTM", steps]) > np.asarray(recall["plain RNN", steps]) + 0.05
        for steps in STEPS_FROM_TWENTY
    ]
    what = "After 20, 30 and 50 steps, each time, the better gated cell recalls the one bit more often than a plain RNN"
    decide(in_most_seeds(np.all(gated_is_ahead, axis=0), what=what))
    sweep = {run: evidence(recipe)["accuracy"] for run, recipe in LENGTH_SWEEP.items()}
    ahead = [
        n
        for name, n in sweep
        if name == "LSTM" and np.median(sweep["LSTM", n] - np.asarray(sweep["plain RNN", n])) > 0.05
    ]
    # From how many steps on the gated cell is ahead on the week's own task. It is no misprint of the page: not judged.
    measure("steps", min(ahead))
    for picture, accuracies in (("Recall of one bit", recall), ("Accuracy against length", sweep)):
        for cell in dict.fromkeys(name for name, _ in accuracies):
            measure.range_over_seeds(
                picture,
                [steps for name, steps in accuracies if name == cell],
                np.stack([accuracy for (name, _), accuracy in accuracies.items() if name == cell], axis=1),
                series=f"{cell}, median of the seeds, and their range",
                x_label="steps",
                y_label="accuracy",
            )
        measure.limit(picture, CHANCE, "chance")


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
    for (name, steps), recipe in RECALL_FROM_TWENTY.items():
        recall = evidence(recipe)["accuracy"]
        measure.also(f"recall of the {name} over {steps} steps", recall, bounds=(0, 1))
        if steps == max(STEPS_FROM_TWENTY):
            decide(
                equivalent(recall, CHANCE, margin=0.1, names=(f"The recall of the {name} over {steps} steps", "chance"))
            )


@claim("week07.day7.bag-baseline-informative")
def test_bag_baseline_informative(decide: Decide, evidence: EvidenceOf) -> None:
    bag, gru = (evidence(COMPARISON[name])["accuracy"] for name in ("bag of embeddings", "GRU"))
    decide(
        beats(bag, CHANCE, by=0.05, names=("The bag of embeddings", "chance")),
        beats(gru, bag, by=0.05, names=("The GRU, which reads in order,", "the bag of embeddings")),
    )

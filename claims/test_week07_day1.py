"""week07, day 1: the memory task, a baseline of digit counts, and the recurrence by hand and by library."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import torch
from scipy import stats
from torch import Tensor, nn

from lesson_claims import (
    Decide,
    EvidenceOf,
    Measure,
    beats,
    claim,
    close,
    equivalent,
    every,
    in_most_seeds,
    jittered,
    refuted,
    same,
    share,
    that,
)
from lessons.ceilings import best_from_counts, best_guess_from_counts, best_without_first
from lessons.counts import BOOSTED_COUNTS, COUNTS_BASELINE, digit_counts
from lessons.memory_task import MemoryTask, memory_task
from lessons.recipes import CELLS, COMPARISON
from lessons.recurrence import states

PAGE_ROWS = 8000
PAGE_LENGTH = 8
MANY_ROWS = 100_000

VALIDATION_LUCK = 0.045
"""By how much 2,000 validation rows may flatter a model: four standard deviations of its accuracy. A seed exceeds that
by chance alone three times in 100,000, and a model at the ceiling stays under it in most seeds."""

LAYERS = {"RNN": nn.RNN, "GRU": nn.GRU, "LSTM": nn.LSTM}
GRU_WITHOUT_FIRST = replace(CELLS["gru"], data=MemoryTask(view="first hidden"))


@claim("week07.day1.sequence-data")
def test_sequence_data(measure: Measure) -> None:
    sequences, labels = memory_task(PAGE_ROWS, PAGE_LENGTH, seed=0)
    measure("training rows", sequences.shape[0])
    measure("training columns", sequences.shape[1])
    for row in range(4):
        measure(f"sequence {row}", "".join(map(str, sequences[row].tolist())))
        measure(f"sequence {row} first digit", sequences[row, 0])
        measure(f"sequence {row} repeated later", bool(labels[row]))


@claim("week07.day1.label-rule")
def test_label_rule(decide: Decide) -> None:
    def cases() -> Iterator[tuple[str, bool]]:
        for rows, length, seed in product((1, 10, 1000), (2, 3, 5, 8, 13, 40), range(5)):
            sequences, labels = memory_task(rows, length, seed)
            yield f"{rows} rows of {length}, seed {seed}", torch.equal(returns(sequences).sum(dim=1), labels)

    decide(every(cases(), what="The first digit returns once in each row labelled 1 and never in the others"))


@claim("week07.day1.label-rule")
def test_label_rule__place(measure: Measure, decide: Decide) -> None:
    sequences, labels = memory_task(MANY_ROWS, PAGE_LENGTH, seed=0)
    places = returns(sequences[labels == 1]).long().argmax(dim=1) + 1
    rows = torch.bincount(places, minlength=PAGE_LENGTH)[1:].numpy()
    shares = rows / rows.sum()
    p = float(stats.chisquare(rows).pvalue)
    measure.curve(
        "Where the first digit returns",
        range(1, PAGE_LENGTH),
        shares,
        mark="bar",
        x_label="position",
        y_label="share of rows labelled 1",
    )
    measure.limit("Where the first digit returns", 1 / (PAGE_LENGTH - 1), "one in seven")
    decide(
        that(p > 0.001, f"A χ² test finds no place preferred among {rows.sum()} rows labelled 1 (p = {p:.2g})."),
        close(shares, np.full(len(rows), 1 / len(rows)), rtol=0, atol=0.01, what="The share of rows at each place"),
    )


def returns(sequences: Tensor) -> Tensor:
    """Mark the later positions that hold the first digit; bool of shape (rows, length − 1)."""
    return sequences[:, 1:] == sequences[:, :1]


@claim("week07.day1.exactly-balanced")
@refuted
def test_exactly_balanced(measure: Measure, decide: Decide) -> None:
    _, labels = memory_task(PAGE_ROWS, PAGE_LENGTH, seed=0)
    balance = labels.double().mean().item()
    measure("class balance", balance)
    decide(that(balance == 0.5, f"{balance:.4f} of the page's own {PAGE_ROWS} training rows are labelled 1."))


@claim("week07.day1.exactly-balanced.corrected")
def test_exactly_balanced__corrected(decide: Decide) -> None:
    data_seeds = 50
    labels = np.concatenate([memory_task(PAGE_ROWS, PAGE_LENGTH, seed)[1] for seed in range(data_seeds)])
    what = f"The share of label 1 over {data_seeds} data seeds"
    decide(share(int(labels.sum()), len(labels), equals=0.5, margin=0.005, what=what))


@claim("week07.day1.counts-near-chance")
def test_counts_near_chance(measure: Measure, decide: Decide, evidence: EvidenceOf) -> None:
    linear = evidence(COUNTS_BASELINE)
    measure("logistic regression accuracy", linear["accuracy"])
    measure("majority class accuracy", linear["majority accuracy"])
    names = ("a linear model on digit counts", "chance")
    decide(
        equivalent(linear["accuracy"], 0.5, margin=0.03, names=names),
        beats(linear["majority accuracy"], linear["accuracy"], names=("the majority class", names[0])),
    )


@claim("week07.day1.counts-carry-nothing")
@refuted
def test_counts_carry_nothing(decide: Decide) -> None:
    best = best_from_counts(PAGE_LENGTH)
    decide(
        that(
            best == Fraction(1, 2),
            f"By enumeration of all counts, the best rule on counts is right in {best} = {float(best):.4f} "
            f"of rows of length {PAGE_LENGTH}; nothing to learn would be 1/2.",
        )
    )


@claim("week07.day1.counts-carry-nothing.corrected")
def test_counts_carry_nothing__corrected(measure: Measure, decide: Decide) -> None:
    lengths = range(2, 31)
    ceilings = {length: float(best_from_counts(length)) for length in lengths}
    for length in (6, PAGE_LENGTH, 10, 16):
        measure.also(f"ceiling at length {length}", ceilings[length])
    picture = "The best accuracy that counts allow"
    measure.curve(picture, lengths, list(ceilings.values()), x_label="length", y_label="accuracy", series="best rule")
    measure.limit(picture, 0.5, "chance")
    for length in (6, PAGE_LENGTH, 16):
        sequences, labels = memory_task(MANY_ROWS, length, seed=0)
        right = int((best_guess_from_counts(digit_counts(sequences)) == labels.numpy()).sum())
        what = f"The accuracy of the best rule on counts at length {length}, enumerated as {ceilings[length]:.4f},"
        decide(share(right, MANY_ROWS, equals=ceilings[length], margin=0.01, what=what))


@claim("week07.day1.counts-carry-nothing.corrected")
def test_counts_carry_nothing__corrected__linear(decide: Decide) -> None:
    # With equal class means the gradient of the logistic loss is zero at zero weights, and the loss is convex.
    sequences, labels = memory_task(2 * MANY_ROWS, PAGE_LENGTH, seed=0)
    counts = digit_counts(sequences)
    means = [counts[labels.numpy() == label].mean(axis=0) for label in (0, 1)]
    decide(close(means[1], means[0], rtol=0, atol=0.02, what="The mean counts of the nine digits in both classes"))


@claim("week07.day1.counts-carry-nothing.corrected")
def test_counts_carry_nothing__corrected__nonlinear(measure: Measure, decide: Decide, evidence: EvidenceOf) -> None:
    boosted = evidence(BOOSTED_COUNTS)["accuracy"]
    bag = evidence(COMPARISON["bag of embeddings"])["accuracy"]
    measure.also("accuracy of boosted trees on counts", boosted, bounds=(0, 1))
    measure.also("accuracy of the bag of embeddings", bag, bounds=(0, 1))
    limit = float(best_from_counts(PAGE_LENGTH)) + VALIDATION_LUCK
    decide(
        beats(boosted, 0.5, by=0.1, names=("the accuracy of boosted trees on counts", "chance")),
        *(
            in_most_seeds(
                sample.values <= limit,
                what=f"{name}, which ignore order, stay under the ceiling and the luck of 2,000 rows, {limit:.3f}",
            )
            for name, sample in (("Boosted trees", boosted), ("Bags of embeddings", bag))
        ),
    )


@claim("week07.day1.repeats-in-both-classes")
def test_repeats_in_both_classes(measure: Measure, decide: Decide) -> None:
    sequences, labels = memory_task(PAGE_ROWS, PAGE_LENGTH, seed=0)
    repeated = np.any(digit_counts(sequences) > 1, axis=1)
    for label in (0, 1):
        found = float(np.mean(repeated, where=labels.numpy() == label))
        measure.also(f"share of rows with a repeated digit, label {label}", found)
        decide(that(found > 0, f"{found:.3f} of the page's rows labelled {label} hold some digit twice."))


@claim("week07.day1.needs-position-zero")
def test_needs_position_zero(measure: Measure, decide: Decide, evidence: EvidenceOf) -> None:
    ceiling = float(best_without_first(PAGE_LENGTH))
    measure.also("ceiling without position 0", ceiling)
    gru = evidence(CELLS["gru"])["accuracy"]
    measure.also("GRU accuracy", gru, bounds=(0, 1))
    decide(beats(gru, ceiling, by=0.1, names=("the page's GRU", f"the best rule without position 0 ({ceiling:.3f})")))


@claim("week07.day1.needs-position-zero")
def test_needs_position_zero__hidden(measure: Measure, decide: Decide, evidence: EvidenceOf) -> None:
    whole, hidden = evidence(CELLS["gru"])["accuracy"], evidence(GRU_WITHOUT_FIRST)["accuracy"]
    measure.also("GRU accuracy, position 0 hidden", hidden, bounds=(0, 1))
    limit = float(best_without_first(PAGE_LENGTH)) + VALIDATION_LUCK
    decide(
        beats(whole, hidden, by=0.2, names=("a GRU that sees the whole row", "the same with position 0 hidden")),
        in_most_seeds(
            hidden.values <= limit,
            what=f"With position 0 hidden a GRU stays under the ceiling and the luck of rows, {limit:.3f}",
        ),
    )


@claim("week07.day1.order-changes-state")
def test_order_changes_state(measure: Measure, device: torch.device) -> None:
    torch.manual_seed(0)
    weights = torch.randn(4, 3) * 0.5, torch.randn(3, 3) * 0.5
    a, c = torch.randn(1, 4), torch.randn(1, 4)
    for name, steps in (("a, c", [a, c]), ("c, a", [c, a])):
        noise = jittered(final_state, steps, weights, device)
        measure.each(f"state after {name}", final_state(steps, weights, device), noise=noise)


@claim("week07.day1.order-changes-state")
def test_order_changes_state__in_general(decide: Decide, device: torch.device) -> None:
    def cases() -> Iterator[bool]:
        for _ in range(300):
            features, hidden = (int(size) for size in torch.randint(1, 9, (2,)))
            weights = torch.randn(features, hidden), torch.randn(hidden, hidden)
            a, c = torch.randn(1, features), torch.randn(1, features)
            there, back = final_state([a, c], weights, device), final_state([c, a], weights, device)
            yield bool((there - back).abs().max() > 1e-5)

    decide(every(cases(), what="Another order leaves another state, for random weights, inputs and sizes"))


def final_state(steps: list[Tensor], weights: tuple[Tensor, Tensor], device: torch.device) -> Tensor:
    """Read steps of shape (1, features) in their order; the final state, shape (hidden,)."""
    inputs = torch.stack(steps, dim=1).to(device)
    return states(inputs, *(weight.to(device) for weight in weights))[-1][0].cpu()


@claim("week07.day1.rnn-shapes")
def test_rnn_shapes(measure: Measure, device: torch.device) -> None:
    layer, x = page_layer(device)
    output, final = layer(x)
    measure.each("input shape", x.shape)
    measure.each("output shape", output.shape)
    measure.each("final shape", final.shape)


@claim("week07.day1.last-output-is-final-state")
def test_last_output_is_final_state(measure: Measure, device: torch.device) -> None:
    layer, x = page_layer(device)
    output, final = layer(x)
    measure("last output equals final state", torch.allclose(output[:, -1], final[0]))


def page_layer(device: torch.device) -> tuple[nn.RNN, Tensor]:
    """Build the page's layer and input."""
    torch.manual_seed(0)
    return nn.RNN(4, 3, batch_first=True).to(device), torch.randn(2, 6, 4).to(device)


@claim("week07.day1.last-output-is-final-state")
def test_last_output_is_final_state__in_general(decide: Decide, device: torch.device) -> None:
    def cases() -> Iterator[tuple[str, bool]]:
        for (name, kind), layers, batch, length in product(LAYERS.items(), (1, 2, 3), (1, 2, 5), (1, 2, 9)):
            layer = kind(4, 6, num_layers=layers, batch_first=True).to(device)
            output, final = layer(torch.randn(batch, length, 4).to(device))
            hidden = final[0] if isinstance(layer, nn.LSTM) else final
            yield f"{name}, {layers} layers, batch {batch}, length {length}", torch.equal(output[:, -1], hidden[-1])

    decide(every(cases(), what="The last output is the last layer's final state, to the bit"))


@claim("week07.day1.library-runs-the-loop")
def test_library_runs_the_loop(measure: Measure, decide: Decide, device: torch.device) -> None:
    library, by_hand, one_bias_less = [], [], []
    for _ in range(20):
        batch, length, features, hidden = (int(size) for size in torch.randint(1, 8, (4,)))
        layer = nn.RNN(features, hidden, batch_first=True).to(device).requires_grad_(False)
        x = torch.randn(batch, length, features).to(device)
        w_x, w_h, b_x, b_h = (layer.get_parameter(f"{name}_l0") for name in WEIGHTS)
        library.append(layer(x)[0].flatten().cpu())
        by_hand.append(torch.stack(states(x, w_x.T, w_h.T, b_x + b_h)[1:], dim=1).flatten().cpu())
        one_bias_less.append(torch.stack(states(x, w_x.T, w_h.T, b_x)[1:], dim=1).flatten().cpu())
    loop = torch.cat(by_hand)
    apart = (loop - torch.cat(one_bias_less)).abs().max().item()
    measure.also("largest change without the second bias", apart)
    decide(
        close(
            torch.cat(library), loop, rtol=0, atol=1e-5, what="nn.RNN and the loop with both biases, 20 random sizes"
        ),
        that(apart > 0.01, f"Leaving out the second bias moves the states by up to {apart:.2g}: both count."),
    )


WEIGHTS = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")


@claim("week07.day1.weights-shared-over-time")
def test_weights_shared_over_time(decide: Decide, device: torch.device) -> None:
    features, hidden = 4, 6
    layer = nn.RNN(features, hidden, batch_first=True).to(device).requires_grad_(False)
    inputs = torch.randn(2, 300, features).to(device)

    def runs() -> Iterator[tuple[str, bool]]:
        for length in (1, 2, 3, 10, 100, 300):
            output, _ = layer(inputs[:, :length])
            yield f"length {length}", output.shape == (2, length, hidden) and bool(output.isfinite().all())

    whole, _ = layer(inputs)
    steps, state = [], None
    for step in torch.split(inputs, 1, dim=1):
        output, state = layer(step, state)
        steps.append(output)
    parameters = sum(parameter.numel() for parameter in layer.parameters())
    decide(
        every(runs(), what="One layer reads sequences of any length"),
        same(parameters, hidden * (features + hidden + 2), what="The number of weights, in which no length occurs"),
        close(
            torch.cat(steps, dim=1).cpu(),
            whole.cpu(),
            rtol=0,
            atol=1e-5,
            what="300 calls of one step each and one call of 300 steps",
        ),
    )


@claim("week07.day1.batch-first-off-by-default")
def test_batch_first_off_by_default(decide: Decide, device: torch.device) -> None:
    def cases() -> Iterator[tuple[str, bool]]:
        for name, kind in LAYERS.items():
            by_default, asked = kind(4, 6).to(device), kind(4, 6, batch_first=True).to(device)
            asked.load_state_dict(by_default.state_dict())
            x = torch.randn(5, 2, 4).to(device)
            yield f"{name}, attribute", by_default.batch_first is False
            expected = asked(x.transpose(0, 1))[0].transpose(0, 1)
            yield f"{name}, behaviour", torch.allclose(by_default(x)[0], expected, atol=1e-5)

    decide(every(cases(), what="A recurrent layer takes (sequence, batch, features) unless asked otherwise"))


SIZES = (1, 2, 3, 5, 8)
"""Batch sizes and lengths in the wrong layout."""


@claim("week07.day1.wrong-layout-is-silent")
@refuted
def test_wrong_layout_is_silent(decide: Decide, device: torch.device) -> None:
    raised = [
        forgotten_layout(kind, *pair, device) is None for kind in LAYERS.values() for pair in product(SIZES, SIZES)
    ]
    decide(
        that(
            any(raised),
            f"{sum(raised)} of {len(raised)} runs with batch_first forgotten raise an error "
            f"(RNN, GRU and LSTM, batch sizes and lengths 1 to {max(SIZES)}): no sizes are incompatible.",
        )
    )


@claim("week07.day1.wrong-layout-is-silent.corrected")
def test_wrong_layout_is_silent__corrected(measure: Measure, decide: Decide, device: torch.device) -> None:
    measure.also("pairs of sizes", len(SIZES) ** 2)

    def cases() -> Iterator[tuple[str, bool]]:
        for (name, kind), batch, length in product(LAYERS.items(), SIZES, SIZES):
            outputs = forgotten_layout(kind, batch, length, device)
            alike = outputs is not None and torch.allclose(*outputs, atol=1e-4)
            alone = batch == length == 1
            yield f"{name}, batch {batch}, length {length}", outputs is not None and alike == alone

    decide(every(cases(), what="The wrong layout runs, and is right for a single sequence of one step only"))


@claim("week07.day1.wrong-layout-is-silent.corrected")
def test_wrong_layout_is_silent__corrected__initial_state(decide: Decide, device: torch.device) -> None:
    def cases() -> Iterator[tuple[str, bool]]:
        for (name, kind), batch, length in product(LAYERS.items(), SIZES, SIZES):
            runs = forgotten_layout(kind, batch, length, device, with_state=True) is not None
            yield f"{name}, batch {batch}, length {length}", runs == (batch == length)

    decide(every(cases(), what="With an initial state, the wrong layout raises unless batch size and length agree"))


def forgotten_layout(
    kind: type[nn.RNN] | type[nn.GRU] | type[nn.LSTM],
    batch: int,
    length: int,
    device: torch.device,
    *,
    with_state: bool = False,
) -> tuple[Tensor, Tensor] | None:
    """Give (batch, length, features) to a layer with batch_first forgotten, and to the same layer with it.

    Returns:
        the two outputs, each of shape (batch, length, hidden), or None if the first raises.
    """
    right = kind(3, 8, batch_first=True).to(device).requires_grad_(False)
    wrong = kind(3, 8).to(device).requires_grad_(False)
    wrong.load_state_dict(right.state_dict())
    x = torch.randn(batch, length, 3).to(device)
    zeros = torch.zeros(1, batch, 8).to(device)
    state = None if not with_state else (zeros, zeros) if kind is nn.LSTM else zeros
    try:
        return wrong(x, state)[0], right(x, state)[0]
    except RuntimeError:
        return None


@claim("week07.day1.other-layers-are-batch-first")
@refuted
def test_other_layers_are_batch_first(decide: Decide, device: torch.device) -> None:
    layers = {**last_dimension_layers(), **attention_layers(batch_first=False), "Conv1d": nn.Conv1d(FEATURES, 5, 1)}
    taken = {name: reads_batch_first(layer, device) for name, layer in layers.items()}
    others = [name for name, takes in taken.items() if not takes]
    decide(
        that(
            not others,
            f"Another layout is the default of {', '.join(others) or 'no layer'}; "
            f"(batch, sequence, features) suits {', '.join(name for name in taken if taken[name])}.",
        )
    )


@claim("week07.day1.other-layers-are-batch-first.corrected")
def test_other_layers_are_batch_first__corrected(decide: Decide, device: torch.device) -> None:
    expected = {
        **dict.fromkeys(last_dimension_layers().items(), True),
        **dict.fromkeys(attention_layers(batch_first=False).items(), False),
        **dict.fromkeys(attention_layers(batch_first=True).items(), True),
        ("Conv1d", nn.Conv1d(FEATURES, 5, 1)): False,
        ("Conv1d, channels first", Transposed(nn.Conv1d(FEATURES, 5, 1))): True,
    }
    cases = [(name, reads_batch_first(layer, device) is batch) for (name, layer), batch in expected.items()]
    decide(every(cases, what="A layer takes the layout that is said of it"))


FEATURES = 4


def last_dimension_layers() -> dict[str, nn.Module]:
    """Return layers that treat every place before the last dimension alike."""
    return {"Linear": nn.Linear(FEATURES, 5), "LayerNorm": nn.LayerNorm(FEATURES), "GELU": nn.GELU()}


def attention_layers(*, batch_first: bool) -> dict[str, nn.Module]:
    """Return layers in which positions look at each other, without dropout."""
    layers: dict[str, tuple[Callable[..., nn.Module], dict[str, Any], int]] = {
        "MultiheadAttention": (nn.MultiheadAttention, {"num_heads": 1}, 3),
        "TransformerEncoderLayer": (nn.TransformerEncoderLayer, {"nhead": 1, "dropout": 0.0}, 1),
        "TransformerDecoderLayer": (nn.TransformerDecoderLayer, {"nhead": 1, "dropout": 0.0}, 2),
    }
    layout = {"batch_first": True} if batch_first else {}
    return {
        name + (", batch_first=True" if batch_first else ""): Fed(build(FEATURES, **sizes, **layout), times)
        for name, (build, sizes, times) in layers.items()
    }


class Fed(nn.Module):
    """A layer that gets the same input in `times` places: as query, key and value, or as source and target."""

    def __init__(self, layer: nn.Module, times: int) -> None:
        super().__init__()
        self.layer, self.times = layer, times

    def forward(self, x: Tensor) -> Tensor:
        """Return the first output."""
        output = self.layer(*[x] * self.times)
        first: Tensor = output[0] if isinstance(output, tuple) else output
        return first


class Transposed(nn.Module):
    """A layer for (batch, channels, length), given (batch, length, channels)."""

    def __init__(self, layer: nn.Module) -> None:
        super().__init__()
        self.layer = layer

    def forward(self, x: Tensor) -> Tensor:
        """Return (batch, length, channels)."""
        output: Tensor = self.layer(x.transpose(1, 2)).transpose(1, 2)
        return output


@torch.no_grad()
def reads_batch_first(layer: Callable[[Tensor], Tensor], device: torch.device) -> bool:
    """Say whether rows of (batch, sequence, features) pass a layer without touching each other, if they pass at all."""
    layer = layer.to(device) if isinstance(layer, nn.Module) else layer
    x = torch.randn(2, 6, FEATURES).to(device)
    changed = torch.cat([x[:1] + torch.randn(1, 6, FEATURES).to(device), x[1:]])
    try:
        return torch.allclose(layer(x)[1], layer(changed)[1], atol=1e-5)
    except RuntimeError:
        return False

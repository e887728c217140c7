"""detector: a toy language detector, what it learns, and what recurrence can and cannot do."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import torch
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
    depends_on_seed,
    equivalent,
    every,
    grows,
    refuted,
    same,
    that,
)
from lessons.attention import AttentionProbe, transformer_block
from lessons.character_counts import CHARACTER_COUNTS, character_counts, log_likelihoods
from lessons.classifiers import RecurrentClassifier, RecurrentClassifierConfig, parameter_count, pool
from lessons.convolution import ConvolutionClassifier
from lessons.detector import ALPHABET, LANGUAGES, PADDING, PAGE_SEED, decode, encode, language_strings
from lessons.gradients import LSTM_PROBE, PLAIN_RNN_PROBE, RAISED_FORGET_GATES, GradientProbe, RecurrenceProbe
from lessons.recall import RECALL_LSTM, RECALL_OPEN_FORGET_GATE, RECALL_PLAIN_RNN
from lessons.recipes import DETECTOR, DETECTOR_TRUE_LAST, LANG_NET, READ_AT_LAST_CHARACTER
from lessons.recurrence import states

CHANCE = 1 / len(LANGUAGES)
ANY_LENGTH = (*range(1, 61), *range(80, 501, 20))


def untrained(config: RecurrentClassifierConfig, device: torch.device) -> RecurrentClassifier:
    """Build a model with the page's initial weights."""
    torch.manual_seed(PAGE_SEED)
    return RecurrentClassifier(config).to(device)


def random_tokens(*shape: int) -> Tensor:
    """Characters without padding, int64."""
    return torch.randint(0, len(ALPHABET), shape)


@claim("detector.strings")
def test_strings(measure: Measure) -> None:
    strings, labels = language_strings(PAGE_SEED)
    measure("first label", labels[0])
    measure("first string", strings[0][:40])


@claim("detector.encoding")
def test_encoding(measure: Measure, decide: Decide) -> None:
    strings, _ = language_strings(PAGE_SEED)
    encoded = encode(strings)
    measure.each("input shape", encoded.shape)
    embedding = RecurrentClassifier(LANG_NET).embedding
    decide(
        that(decode(encoded) == strings, f"Decoding gives back all of {len(strings)} strings."),
        every(
            (bool((row[len(string) :] == PADDING).all()) for row, string in zip(encoded, strings, strict=True)),
            what="Padding after the last character and nowhere else",
        ),
        same(embedding.num_embeddings, len(ALPHABET) + 1, what="Embedding rows, one more than there are characters"),
    )


@claim("detector.parameters")
def test_parameters(measure: Measure) -> None:
    measure("parameters", parameter_count(DETECTOR.model.build()))


@claim("detector.accuracy")
@depends_on_seed
def test_accuracy(measure: Measure, evidence: EvidenceOf) -> None:
    measure("test accuracy", evidence(DETECTOR)["accuracy"], bounds=(0, 1))


@claim("detector.accuracy")
def test_accuracy__above_chance(decide: Decide, evidence: EvidenceOf) -> None:
    decide(beats(evidence(DETECTOR)["accuracy"], CHANCE, names=("The test accuracy", "chance, 1/3,")))


@claim("detector.last-state")
@refuted
def test_last_state(decide: Decide, device: torch.device) -> None:
    model = untrained(LANG_NET, device)
    strings, _ = language_strings(PAGE_SEED)
    tokens = encode(strings).to(device)
    outputs, _ = model.recurrent(model.embedding(tokens))
    read = pool(outputs, "last")
    last = pool(outputs, "true last", torch.tensor([len(string) for string in strings]).to(device))
    decide(
        every(
            (
                (f"a string of {len(string)} characters", torch.equal(*pair))
                for string, *pair in zip(strings, read, last, strict=True)
            ),
            what="The state that is read is the one after the last character",
        )
    )


@claim("detector.last-state.corrected")
def test_last_state__corrected(decide: Decide, device: torch.device) -> None:
    model = untrained(READ_AT_LAST_CHARACTER, device)

    def unaffected_by_padding() -> Iterator[tuple[str, bool]]:
        for length, padding in torch.randint(1, 60, (10, 2)).tolist():
            tokens = random_tokens(4, length).to(device)
            padded = functional.pad(tokens, (0, padding), value=PADDING)
            alike = torch.allclose(model(padded), model(tokens), rtol=1e-4, atol=1e-6)
            yield f"{length} characters, {padding} padding tokens", alike

    decide(
        every(
            unaffected_by_padding(), what="Logits read at the last character are the same however much padding follows"
        )
    )


@claim("detector.last-state.corrected")
def test_last_state__corrected__trained(measure: Measure, decide: Decide, evidence: EvidenceOf) -> None:
    padded, gathered = evidence(DETECTOR), evidence(DETECTOR_TRUE_LAST)
    measure.also("accuracy after the padding", padded["accuracy"], bounds=(0, 1))
    measure.also("accuracy at the last character", gathered["accuracy"], bounds=(0, 1))
    for name, runs in (("after the padding", padded), ("at the last character", gathered)):
        losses = runs["losses"].values
        measure.range_over_seeds(
            "Training loss of both readings, median and range over seeds",
            range(1, losses.shape[1] + 1),
            losses,
            series=name,
            x_label="epoch",
            y_label="training loss (nats)",
        )
    decide(
        beats(
            padded["losses"].reduced(np.mean),
            gathered["losses"].reduced(np.mean),
            names=(
                "The training loss when reading after the padding, averaged over epochs,",
                "that at the last character",
            ),
            unit="nats",
        ),
        beats(
            gathered["accuracy"],
            padded["accuracy"],
            by=-0.03,
            names=("The accuracy when reading at the last character", "that after the padding"),
        ),
    )


@claim("detector.learns-combinations")
@refuted
def test_learns_combinations(decide: Decide, evidence: EvidenceOf) -> None:
    runs = evidence(DETECTOR)
    decide(
        beats(
            runs["accuracy"],
            runs["shuffled accuracy"],
            by=0.02,
            names=("The accuracy on the test strings", "that on the same strings with their characters shuffled"),
        )
    )


@claim("detector.learns-combinations.corrected")
def test_learns_combinations__corrected(measure: Measure, decide: Decide, evidence: EvidenceOf) -> None:
    lstm, gathered, counts = evidence(DETECTOR), evidence(DETECTOR_TRUE_LAST), evidence(CHARACTER_COUNTS)
    accuracies = {
        "LSTM": lstm["accuracy"],
        "LSTM, characters shuffled": lstm["shuffled accuracy"],
        "LSTM read at the last character": gathered["accuracy"],
        "logistic regression on counts": counts["logistic regression accuracy"],
        "naive Bayes on counts": counts["naive Bayes accuracy"],
        "best possible rule": counts["best possible rule accuracy"],
    }
    measure.also("accuracy on the strings", lstm["accuracy"], bounds=(0, 1))
    measure.also("accuracy on shuffled strings", lstm["shuffled accuracy"], bounds=(0, 1))
    for name in ("logistic regression accuracy", "naive Bayes accuracy", "best possible rule accuracy"):
        measure.also(name, counts[name], bounds=(0, 1))
    bars = "Accuracy on the test strings, median and range over seeds"
    for name, accuracy in accuracies.items():
        measure.range_over_seeds(bars, [name], np.stack([accuracy], axis=1), mark="bar", y_label="accuracy")
    measure.limit(bars, CHANCE, series="chance")
    decide(
        equivalent(
            lstm["shuffled accuracy"],
            lstm["accuracy"],
            margin=0.05,
            names=("The accuracy on shuffled strings", "that on the strings as they are"),
        ),
        beats(
            counts["naive Bayes accuracy"],
            lstm["accuracy"],
            names=("The accuracy of naive Bayes on character counts", "that of the LSTM"),
        ),
        beats(
            counts["logistic regression accuracy"],
            lstm["accuracy"],
            by=-0.02,
            names=("The accuracy of logistic regression on character counts", "that of the LSTM"),
        ),
        beats(
            counts["naive Bayes accuracy"],
            gathered["accuracy"],
            by=-0.02,
            names=("The accuracy of naive Bayes on character counts", "that of an LSTM read at the last character"),
        ),
    )


@claim("detector.learns-combinations.corrected")
def test_learns_combinations__corrected__shuffled(decide: Decide) -> None:
    split = DETECTOR.data.split(PAGE_SEED)
    (strings, _), (shuffled, _) = split.validation, split.others["shuffled"]
    decide(
        every(
            (not torch.equal(*pair) for pair in zip(strings, shuffled, strict=True)),
            what="Test strings whose order shuffling changes",
        ),
        same(
            log_likelihoods(character_counts(shuffled)),
            log_likelihoods(character_counts(strings)),
            what="Log-probability of each test string in each language, shuffled and not",
        ),
    )


@claim("detector.any-length")
def test_any_length(decide: Decide, device: torch.device) -> None:
    model = untrained(LANG_NET, device).eval()
    weights = parameter_count(model)
    tokens = random_tokens(2, 500).to(device)
    message = "no error"
    with torch.no_grad():
        decide(
            every(
                ((length, bool(model(tokens[:, :length]).isfinite().all())) for length in ANY_LENGTH),
                what="Finite logits at each length from 1 to 60 and at every twentieth from 80 to 500",
            )
        )
        try:
            model(tokens[:, :0])
        except ValueError as error:
            message = str(error)
    decide(
        same(parameter_count(model), weights, what="Parameters after all these lengths"),
        that("length 0" in message, f"The one length that is refused is 0: {message}."),
    )


@claim("detector.state-formula")
def test_state_formula(decide: Decide, device: torch.device) -> None:
    for activation in (torch.tanh, torch.relu):
        layer = nn.RNN(4, 3, nonlinearity=activation.__name__, batch_first=True, dtype=torch.float64).to(device)
        input_weights, state_weights, *biases = (weight.detach() for weight in layer.all_weights[0])
        inputs = torch.randn(100, 12, 4, dtype=torch.float64).to(device)
        by_formula = states(inputs, input_weights.T, state_weights.T, sum(biases), activation=activation)[1:]
        decide(
            close(
                layer(inputs)[0].detach().cpu().numpy(),
                torch.stack(by_formula, dim=1).cpu().numpy(),
                rtol=1e-9,
                atol=1e-12,
                what=f"The library's layer and the formula with g = {activation.__name__} and both biases as b",
            )
        )


@claim("detector.state-formula")
def test_state_formula__biases(measure: Measure, decide: Decide, device: torch.device) -> None:
    features, hidden = 4, 3
    layer = nn.RNN(features, hidden, batch_first=True, dtype=torch.float64).to(device)
    formula = features * hidden + hidden * hidden + hidden
    measure.also("parameters of the formula", formula)
    measure.also("parameters of the library's layer", parameter_count(layer))
    decide(same(parameter_count(layer) - formula, hidden, what="Parameters that the formula has not, a second bias"))
    inputs = torch.randn(100, 12, features, dtype=torch.float64).to(device)
    with torch.no_grad():
        before, _ = layer(inputs)
        *_, first, second = layer.all_weights[0]
        first.add_(0.5)
        second.sub_(0.5)
        after, _ = layer(inputs)
    decide(
        close(
            after.cpu().numpy(),
            before.cpu().numpy(),
            rtol=1e-9,
            atol=1e-12,
            what="Outputs after a half has moved from one bias to the other, so that one would do",
        )
    )


@claim("detector.gradient-exponential")
def test_gradient_exponential(measure: Measure, decide: Decide, evidence: EvidenceOf) -> None:
    decays = {
        "a linear recurrence of gain 0.8": (RecurrenceProbe(0.8), math.log(0.8)),
        "a tanh recurrence of gain 0.8": (RecurrenceProbe(0.8, "tanh"), math.log(0.8)),
    }
    growth = {"a linear recurrence of gain 1.2": (RecurrenceProbe(1.2), math.log(1.2))}
    for name, (recipe, expected) in (decays | growth).items():
        norms = evidence(recipe)["norms"].values
        steps = range(norms.shape[1])
        measure.curve(
            "Gradient against steps back, median over seeds",
            steps,
            np.median(norms, axis=0),
            series=name,
            x_label="steps back",
            y_label="gradient norm",
            y_scale="log",
        )
        # tanh takes a little off every step, and adds nothing.
        slope = (expected - 0.05, expected + 0.001)
        decide(grows(steps, norms, law="exponential", slope=slope, what=f"The gradient of {name}"))


@claim("detector.gradient-exponential")
def test_gradient_exponential__library(decide: Decide, evidence: EvidenceOf) -> None:
    gradients = evidence(PLAIN_RNN_PROBE)["gradients"].values
    decide(
        grows(
            PLAIN_RNN_PROBE.lengths,
            gradients,
            law="exponential",
            slope=(-math.inf, -0.1),
            what="The gradient of the library's plain layer",
        )
    )


OPEN_FORGET_GATE = RAISED_FORGET_GATES[5.0]
VANISHED = -12.0
"""Power of ten: a float32 weight of 1e-4 stays the same when 1e-12 is added to it."""


def log10_at_100_steps(gradients: Sample) -> Sample:
    """Power of ten of the last gradient of a probe."""
    return gradients.reduced(lambda by_length: math.log10(by_length[-1]))


@claim("detector.gates-fix-it")
@refuted
def test_gates_fix_it(decide: Decide, evidence: EvidenceOf) -> None:
    decide(
        beats(
            log10_at_100_steps(evidence(LSTM_PROBE)["gradients"]),
            VANISHED,
            names=("The power of ten of a default LSTM's gradient after 100 steps", "-12"),
        )
    )


@claim("detector.gates-fix-it")
@refuted
def test_gates_fix_it__trained(decide: Decide, evidence: EvidenceOf) -> None:
    decide(
        beats(
            evidence(RECALL_LSTM)["accuracy"],
            0.75,
            names=(
                "The share of bits that a trained default LSTM recalls over 50 steps",
                "3/4, half way from guessing,",
            ),
        )
    )


@claim("detector.gates-fix-it.corrected")
def test_gates_fix_it__corrected(measure: Measure, decide: Decide, evidence: EvidenceOf) -> None:
    probes = {
        "plain RNN": PLAIN_RNN_PROBE,
        "LSTM": LSTM_PROBE,
        **{f"LSTM, forget bias {bias:g}": probe for bias, probe in RAISED_FORGET_GATES.items()},
    }
    for name, probe in probes.items():
        measure.curve(
            "Gradient in the first element, median over seeds",
            probe.lengths,
            np.median(evidence(probe)["gradients"].values, axis=0),
            series=name,
            x_label="length in steps",
            y_label="absolute gradient",
            y_scale="log",
        )
    default, opened = (log10_at_100_steps(evidence(probe)["gradients"]) for probe in (LSTM_PROBE, OPEN_FORGET_GATE))
    measure.also("power of ten of the default LSTM's gradient", default)
    measure.also("power of ten of the gradient with open forget gates", opened)
    decide(
        beats(
            opened,
            VANISHED,
            names=("The power of ten of the gradient after 100 steps, with a forget-gate bias of 5,", "-12"),
        )
    )


@claim("detector.gates-fix-it.corrected")
def test_gates_fix_it__corrected__trained(measure: Measure, decide: Decide, evidence: EvidenceOf) -> None:
    plain, default, opened = (
        evidence(recipe)["accuracy"] for recipe in (RECALL_PLAIN_RNN, RECALL_LSTM, RECALL_OPEN_FORGET_GATE)
    )
    measure.also("recall of the plain RNN", plain, bounds=(0, 1))
    measure.also("recall of the default LSTM", default, bounds=(0, 1))
    measure.also("recall with open forget gates", opened, bounds=(0, 1))
    opened_name = "The share of bits that an LSTM with a forget-gate bias of 5 recalls over 50 steps"
    decide(
        beats(opened, plain, by=0.25, names=(opened_name, "that of a plain recurrence")),
        beats(opened, default, by=0.25, names=(opened_name, "that of a default LSTM")),
    )


LENGTHS = range(5, 51)
BUILT_FOR = 50


def lengths_taken(model: nn.Module, device: torch.device) -> Iterator[tuple[str, bool]]:
    """Yield for each length whether the model gives logits for it."""
    for length in LENGTHS:
        try:
            taken = model(random_tokens(2, length).to(device)).shape == (2, len(LANGUAGES))
        except (ValueError, RuntimeError):
            taken = False
        yield f"length {length}", taken


POOLED = ConvolutionClassifier(len(ALPHABET), len(LANGUAGES))
SIDE_BY_SIDE = ConvolutionClassifier(len(ALPHABET), len(LANGUAGES), length=BUILT_FOR)


@claim("detector.convolution-needs-fixed-size")
@refuted
def test_convolution_needs_fixed_size(decide: Decide, device: torch.device) -> None:
    model = POOLED.build().to(device)
    taken = [length for length, taken in lengths_taken(model, device) if taken]
    decide(
        that(
            len(taken) <= 1,
            f"One convolutional network with global pooling takes {len(taken)} of the {len(LENGTHS)} lengths "
            f"from {LENGTHS[0]} to {LENGTHS[-1]}.",
        )
    )


@claim("detector.convolution-needs-fixed-size.corrected")
def test_convolution_needs_fixed_size__corrected(measure: Measure, decide: Decide, device: torch.device) -> None:
    pooled, side_by_side = POOLED.build().to(device), SIDE_BY_SIDE.build().to(device)
    measure.also("parameters with pooling", parameter_count(pooled))
    measure.also(f"parameters with a head for {BUILT_FOR} positions", parameter_count(side_by_side))
    decide(
        every(lengths_taken(pooled, device), what="With global pooling, logits at every length from 5 to 50"),
        every(
            (
                (length, taken == (length == f"length {BUILT_FOR}"))
                for length, taken in lengths_taken(side_by_side, device)
            ),
            what=f"With a head for {BUILT_FOR} positions, logits at that length alone",
        ),
    )


ATTENTION = AttentionProbe()


@claim("detector.attention-direct")
def test_attention_direct(decide: Decide, device: torch.device) -> None:
    block = transformer_block(width=4, heads=2).to(device).double()
    sequence = torch.randn(1, 8, 4, dtype=torch.float64).to(device)
    jacobian = torch.autograd.functional.jacobian(block, sequence)[0, :, :, 0]  # type: ignore[no-untyped-call]
    influence = jacobian.norm(dim=(1, 3)).tolist()
    decide(
        every(
            ((f"{to} from {of}", weight > 1e-6) for to, row in enumerate(influence) for of, weight in enumerate(row)),
            what="In one block, each of 8 positions depends on every other",
        )
    )


@claim("detector.attention-direct")
def test_attention_direct__gradient(measure: Measure, decide: Decide, evidence: EvidenceOf) -> None:
    attention, recurrence = evidence(ATTENTION), evidence(GradientProbe("rnn", lengths=ATTENTION.lengths))
    gradients, neighbours = attention["gradients"].values, attention["gradients of a neighbour"].values
    picture = "Gradient of the last output in the first input, relative to length 5"
    recurrent = recurrence["gradients"].values
    for name, series in (("one transformer block", gradients), ("plain recurrence", recurrent)):
        measure.curve(
            picture,
            ATTENTION.lengths,
            np.median(series / series[:, :1], axis=0),
            series=name,
            x_label="length",
            y_label="relative gradient",
            x_scale="log",
            y_scale="log",
        )
    decide(
        grows(
            ATTENTION.lengths,
            gradients / neighbours,
            law="constant",
            what="Through one block, the last output's gradient in the first input over that in the last but one",
        ),
        grows(
            ATTENTION.lengths,
            gradients,
            law="linear",
            slope=(-1.3, -0.7),
            what="The gradient in the first input, one share in as many as there are positions,",
        ),
    )

"""week07, day 2: how gradients fade on their way back through a recurrence, and what gated cells do about it."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import torch
from torch import nn

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
    jittered,
    refuted,
    same,
    that,
)
from lessons.classifiers import parameter_count
from lessons.gradients import (
    LENGTHS,
    LSTM_PROBE,
    PLAIN_RNN_PROBE,
    RAISED_FORGET_GATES,
    RecurrenceProbe,
    absolute_gradients,
    jacobian_by_autograd,
    jacobian_by_product,
)
from lessons.recipes import CELLS, COMPARISON
from lessons.recurrence import LATCH_NOISE, latch

LAYERS = {"RNN": nn.RNN, "GRU": nn.GRU, "LSTM": nn.LSTM}
GRADIENT_AXES = {"x_label": "length", "y_label": "|gradient| at the first step", "y_scale": "log"}

USELESS = 6.0
"""Decades, powers of ten, that a gradient may lose between the lengths 5 and 100 and still be of some use."""

MARGIN = 0.02
"""Two accuracies closer than this are indistinguishable."""


@claim("week07.day2.powers")
def test_powers(measure: Measure) -> None:
    steps = (5, 10, 25, 50, 100)
    for factor in (0.8, 1.2):
        for t in steps:
            measure(f"{factor} ** {t}", factor**t, noise=jittered(pow, factor, t))
        picture = "A factor applied t times"
        measure.curve(
            picture, steps, [factor**t for t in steps], series=str(factor), x_label="t", y_label="power", y_scale="log"
        )


@claim("week07.day2.gradient-is-a-product")
def test_gradient_is_a_product(decide: Decide) -> None:
    end_to_end, step_by_step = [], []
    for length in (1, 2, 5, 20, 100):
        for hidden in (1, 4, 16):
            # In float64, on the CPU: a product of a hundred factors shows in float32 mostly its rounding.
            sizes = (1, length, 3), (3, hidden), (hidden, hidden), (hidden,), (1, hidden)
            drawn = [torch.randn(size, dtype=torch.float64) for size in sizes]
            drawn[2] /= hidden**0.5
            end_to_end.append(jacobian_by_autograd(*drawn).flatten())
            step_by_step.append(jacobian_by_product(*drawn).flatten())
    what = "The derivative of the last state in the first, and the product of the steps' derivatives"
    decide(close(torch.cat(end_to_end), torch.cat(step_by_step), rtol=1e-9, atol=1e-300, what=what))


GAINS = (0.9, 0.99, 1.0, 1.01, 1.1)
FAR = 1000
"""Steps after which anything that is not stable has shown it: even 0.99 and 1.01 have changed ten-thousandfold."""


@claim("week07.day2.no-stable-setting")
@refuted
def test_no_stable_setting(measure: Measure, decide: Decide, device: torch.device) -> None:
    unstable = {}
    for gain in GAINS:
        norms = RecurrenceProbe(gain, steps=FAR).run(0, device)["norms"]
        unstable[gain] = not 0.5 < norms[-1] < 2
        measure.curve(
            "Gradient of a linear recurrence",
            range(0, FAR + 1, 20),
            norms[::20],
            series=f"gain {gain}",
            x_label="steps back",
            y_label="norm of the gradient",
            y_scale="log",
        )
    stable = ", ".join(f"{gain:g}" for gain in GAINS if not unstable[gain])
    decide(
        that(
            all(unstable.values()),
            f"Of linear recurrences with orthogonal weights times {', '.join(map(str, GAINS))}, the gradient's norm "
            f"neither halves nor doubles within {FAR} steps for: {stable or 'none'}.",
        )
    )


@claim("week07.day2.no-stable-setting.corrected")
def test_no_stable_setting__corrected(measure: Measure, decide: Decide, device: torch.device) -> None:
    rotations = 5
    runs = [RecurrenceProbe(1.0, steps=FAR).run(seed, device)["norms"] for seed in range(rotations)]
    ratios = np.array([norms[-1] / norms[0] for norms in runs])
    measure.also(f"smallest ratio after {FAR} steps", ratios.min())
    measure.also(f"largest ratio after {FAR} steps", ratios.max())
    what = f"The gradient's norm after {FAR} steps over that at the start, for {rotations} orthogonal matrices"
    decide(close(ratios, np.ones(rotations), rtol=1e-10, what=what))


@claim("week07.day2.no-stable-setting.corrected")
def test_no_stable_setting__corrected__tanh(measure: Measure, decide: Decide, evidence: EvidenceOf) -> None:
    left = evidence(RecurrenceProbe(1.0, "tanh"))["norms"].at(-1)
    measure.also("left after 100 steps with tanh", left, bounds=(0, 1))
    decide(beats(1 - np.asarray(left), 0.5, names=("The share of the gradient that tanh takes away", "a half")))


@claim("week07.day2.rnn-gradient-vanishes")
def test_rnn_gradient_vanishes(measure: Measure, decide: Decide, device: torch.device) -> None:
    layer, inputs = PLAIN_RNN_PROBE.draw(0, device)
    gradients, noise = absolute_gradients(layer, inputs), jittered(absolute_gradients, layer, inputs)
    for length, gradient, *moved in zip(LENGTHS, gradients, *noise, strict=True):
        measure(f"gradient at step 0, length {length}", gradient, noise=moved)
    decide(that(bool(np.all(np.diff(gradients) < 0)), "The page's four gradients fall as the length grows."))


@claim("week07.day2.rnn-gradient-vanishes")
def test_rnn_gradient_vanishes__in_general(measure: Measure, decide: Decide, evidence: EvidenceOf) -> None:
    gradients = evidence(PLAIN_RNN_PROBE)["gradients"]
    draw_gradients(measure, "Gradient of a plain RNN", "plain RNN", gradients)
    what = "The gradient of a freshly initialised RNN over the length"
    decide(grows(LENGTHS, gradients.values, law="exponential", slope=(-np.inf, -0.1), what=what))


def draw_gradients(measure: Measure, picture: str, series: str, gradients: Sample) -> None:
    """Draw the median over initialisations, and the range of them."""
    middle, low, high = (reduce(gradients.values, axis=0) for reduce in (np.median, np.min, np.max))
    measure.curve(picture, LENGTHS, middle, series=series, low=low, high=high, **GRADIENT_AXES)


@claim("week07.day2.parameter-counts")
def test_parameter_counts(measure: Measure) -> None:
    features, hidden = 16, 32
    for name, kind in LAYERS.items():
        layer = kind(features, hidden)
        measure(f"{name} parameters", parameter_count(layer))
        measure(f"{name} internal transforms", layer.get_parameter("weight_ih_l0").shape[0] // hidden)


@claim("week07.day2.lstm-gradient-survives")
@refuted
def test_lstm_gradient_survives(measure: Measure, device: torch.device, decide: Decide, evidence: EvidenceOf) -> None:
    layer, inputs = LSTM_PROBE.draw(0, device)
    gradients, noise = absolute_gradients(layer, inputs), jittered(absolute_gradients, layer, inputs)
    for length, gradient, *moved in zip(LENGTHS, gradients, *noise, strict=True):
        measure(f"gradient at step 0, length {length}", gradient, noise=moved)
    lstm, rnn = evidence(LSTM_PROBE)["gradients"], evidence(PLAIN_RNN_PROBE)["gradients"]
    draw_gradients(measure, "Gradient as the library initialises", "plain RNN", rnn)
    draw_gradients(measure, "Gradient as the library initialises", "LSTM", lstm)
    lost = decades_lost(lstm)
    decide(
        beats(-np.asarray(lost), -USELESS, names=("The gradient that an LSTM has left", "a millionth"), unit="decades"),
        beats(
            np.asarray(decades_lost(rnn)) / 2,
            lost,
            names=("Half of what a plain RNN loses", "what an LSTM loses (it would last twice as long)"),
            unit="decades",
        ),
    )


def decades_lost(gradients: Sample) -> Sample:
    """Return by how many powers of ten the gradient is smaller at the longest length than at the shortest."""
    return gradients.reduced(lambda series: float(np.log10(series[0] / series[-1])))


@claim("week07.day2.lstm-gradient-survives.corrected")
def test_lstm_gradient_survives__corrected(measure: Measure, decide: Decide, evidence: EvidenceOf) -> None:
    by_default = evidence(LSTM_PROBE)["gradients"]
    rnn, lstm = decades_lost(evidence(PLAIN_RNN_PROBE)["gradients"]), decades_lost(by_default)
    measure.also("decades lost, plain RNN", rnn)
    measure.also("decades lost, LSTM", lstm)
    names = ("What a fresh LSTM loses of its gradient", "half of what a plain RNN loses")
    decide(beats(lstm, np.asarray(rnn) / 2, names=names, unit="decades"))
    picture = "Gradient with the forget gates held open"
    draw_gradients(measure, picture, "default", by_default)
    for bias, recipe in RAISED_FORGET_GATES.items():
        gradients = evidence(recipe)["gradients"]
        draw_gradients(measure, picture, f"forget bias {bias:g}", gradients)
        lost = decades_lost(gradients)
        measure.also(f"decades lost, forget bias {bias:g}", lost)
        name = f"The gradient that an LSTM of forget bias {bias:g} has left"
        decide(beats(-np.asarray(lost), -np.asarray(lstm), by=6, names=(name, "that of a fresh one"), unit="decades"))
        if bias >= 3:
            decide(beats(-np.asarray(lost), -USELESS, names=(name, "a millionth"), unit="decades"))


@claim("week07.day2.lstm-returns-tuple")
def test_lstm_returns_tuple(measure: Measure, decide: Decide, device: torch.device) -> None:
    x = torch.randn(2, 5, 4).to(device)
    final = {name: kind(4, 8, batch_first=True).to(device)(x)[1] for name, kind in LAYERS.items()}
    output, (hidden, cell) = nn.LSTM(4, 8, batch_first=True).to(device)(x)
    measure.each("output shape", output.shape)
    measure.each("hidden shape", hidden.shape)
    measure.each("cell shape", cell.shape)
    types = {name: type(state).__name__ for name, state in final.items()}
    decide(same(types, {"RNN": "Tensor", "GRU": "Tensor", "LSTM": "tuple"}, what="What a layer returns as its state"))


@claim("week07.day2.lstm-returns-tuple")
def test_lstm_returns_tuple__silent_swap(decide: Decide, device: torch.device) -> None:
    x = torch.randn(2, 5, 4).to(device)

    def unpacks(layers: int, bidirectional: bool) -> bool:
        gru = nn.GRU(4, 8, num_layers=layers, bidirectional=bidirectional, batch_first=True).to(device)
        try:
            _, (h, c) = gru(x)
        except ValueError:
            return False
        return bool(h.shape == c.shape == (2, 8))

    decide(
        that(not unpacks(1, False), "Unpacking a one-layer GRU as if it were an LSTM raises."),
        that(unpacks(2, False), "Unpacking a two-layer GRU as if it were an LSTM passes without a word."),
        that(unpacks(1, True), "So does unpacking a bidirectional GRU."),
    )


@claim("week07.day2.gru-matches-lstm")
@refuted
def test_gru_matches_lstm(decide: Decide, evidence: EvidenceOf) -> None:
    gru, lstm = evidence(CELLS["gru"])["accuracy"], evidence(CELLS["lstm"])["accuracy"]
    early_gru, early_lstm = evidence(COMPARISON["GRU"])["accuracy"], evidence(COMPARISON["LSTM"])["accuracy"]
    decide(
        equivalent(gru, lstm, margin=MARGIN, names=("A GRU after 10 epochs", "an LSTM")),
        equivalent(early_gru, early_lstm, margin=MARGIN, names=("A GRU after 8 clipped epochs", "an LSTM")),
    )


@claim("week07.day2.gru-matches-lstm.corrected")
def test_gru_matches_lstm__corrected(measure: Measure, decide: Decide, evidence: EvidenceOf) -> None:
    gru, lstm = evidence(CELLS["gru"])["accuracy"], evidence(CELLS["lstm"])["accuracy"]
    measure.also("GRU accuracy, 10 epochs", gru, bounds=(0, 1))
    measure.also("LSTM accuracy, 10 epochs", lstm, bounds=(0, 1))
    decide(equivalent(gru, lstm, margin=MARGIN, names=("A GRU after 10 epochs", "an LSTM")))


@claim("week07.day2.gru-matches-lstm.corrected")
def test_gru_matches_lstm__corrected__early(measure: Measure, decide: Decide, evidence: EvidenceOf) -> None:
    gru, lstm = evidence(COMPARISON["GRU"])["accuracy"], evidence(COMPARISON["LSTM"])["accuracy"]
    measure.also("GRU accuracy, 8 epochs clipped", gru, bounds=(0, 1))
    measure.also("LSTM accuracy, 8 epochs clipped", lstm, bounds=(0, 1))
    decide(beats(gru, lstm, names=("A GRU after 8 clipped epochs", "an LSTM")))


@claim("week07.day2.rnn-can-remember-in-principle")
def test_rnn_can_remember_in_principle(decide: Decide, device: torch.device) -> None:
    rows, steps = 50, 100
    layer = latch().to(device).requires_grad_(False)
    bits = torch.randint(0, 2, (rows, 1, 1)).float() * 2 - 1
    noises = {
        "random noise": LATCH_NOISE * (2 * torch.rand(rows, steps, 1) - 1),
        "random noise of full size": LATCH_NOISE * (torch.randint(0, 2, (rows, steps, 1)).float() * 2 - 1),
        "noise against the bit": -LATCH_NOISE * bits.expand(rows, steps, 1),
    }

    def kept() -> Iterator[tuple[str, bool]]:
        for name, noise in noises.items():
            output, _ = layer(torch.cat([bits, noise], dim=1).to(device))
            yield name, bool((output[:, -1].cpu().sign() == bits[:, 0]).all())

    what = f"A plain RNN of one unit holds a bit for {steps} steps under noise of ±{LATCH_NOISE}, in all {rows} rows"
    decide(every(kept(), what=what))

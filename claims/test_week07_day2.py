"""week07, day 2: how gradients fade on their way back through a recurrence, and what gated cells do about it."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import torch
from torch import nn

from lesson_claims import (
    Decide,
    Decision,
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
    jittered,
    only_differ,
    refuted,
    same,
    that,
)
from lessons.budgets import BUDGETS, GRU_BY_EPOCHS, LSTM_BY_EPOCHS
from lessons.classifiers import parameter_count
from lessons.gates import DIRECT_PATH, DIRECT_PATH_OPEN, direct_path, gru_step, lstm_steps
from lessons.gradients import (
    FAR,
    GRU_PROBE,
    LENGTHS,
    LSTM_PROBE,
    NEAR_ONE,
    PLAIN_RNN_PROBE,
    RAISED_FORGET_GATES,
    RecurrenceProbe,
    absolute_gradients,
    jacobian_by_autograd,
    jacobian_by_product,
    stays,
)
from lessons.recall import FIVE_BACK, HUNDRED_BACK
from lessons.recurrence import LATCH_NOISE, latch

LAYERS = {"RNN": nn.RNN, "GRU": nn.GRU, "LSTM": nn.LSTM}
GRADIENT_AXES = {"x_label": "length", "y_label": "|gradient| at the first step", "y_scale": "log"}

MARGIN = 0.02
"""Two accuracies closer than this are indistinguishable."""

CHANCE, NEAR_CHANCE = 0.5, 0.05
"""Accuracy of guessing one bit, and how far from it one may lie on 1,000 rows that knows nothing: 3 standard errors."""

SIZES = ((1, 1), (1, 16), (7, 3))
"""Features and hidden sizes of the random layers."""


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


@claim("week07.day2.no-stable-setting")
@refuted
def test_no_stable_setting(measure: Measure, decide: Decide, device: torch.device) -> None:
    stable = []
    for setting, probe in NEAR_ONE.items():
        norms = probe.run(0, device)["norms"]
        if stays(norms):
            stable.append(setting)
        measure.curve(
            "Gradient of a recurrence with orthogonal weights times a gain",
            range(0, FAR + 1, 20),
            norms[::20],
            series=setting,
            x_label="steps back",
            y_label="norm of the gradient",
            y_scale="log",
        )
    decide(
        that(
            not stable,
            f"Of {len(NEAR_ONE)} settings of a recurrence with orthogonal weights times a gain, the gradient's norm "
            f"neither halves nor doubles within {FAR} steps for: {'; '.join(stable) or 'none'}.",
        )
    )


@claim("week07.day2.no-stable-setting.corrected")
def test_no_stable_setting__corrected(measure: Measure, decide: Decide, device: torch.device) -> None:
    rotations, staying = 5, {}
    for gain in (1.0, 0.99, 1.01):
        runs = [RecurrenceProbe(gain, steps=FAR).run(seed, device)["norms"] for seed in range(rotations)]
        staying[gain] = [stays(norms) for norms in runs]
        ratios = np.array([norms[-1] / norms[0] for norms in runs])
        if gain == 1.0:
            measure.also(f"smallest ratio after {FAR} steps", ratios.min())
            measure.also(f"largest ratio after {FAR} steps", ratios.max())
        what = (
            f"What {FAR} steps make of the gradient's norm in a linear recurrence, for {rotations} orthogonal matrices "
            f"times {gain:g}"
        )
        decide(close(ratios, np.full(rotations, gain**FAR), rtol=1e-9, what=what))
    stay = all(staying.pop(1.0)) and not any(map(any, staying.values()))
    decide(that(stay, f"With a gain of 1 it neither halves nor doubles in {FAR} steps, and with 0.99 or 1.01 it does."))


@claim("week07.day2.no-stable-setting.corrected")
def test_no_stable_setting__corrected__tanh(measure: Measure, decide: Decide, evidence: EvidenceOf) -> None:
    tiny, as_on_the_page = (evidence(RecurrenceProbe(1.0, "tanh", input_scale=scale)) for scale in (0.001, 1.0))
    small_inputs, inputs_of_1 = tiny["norms"].at(-1), as_on_the_page["norms"].at(-1)
    measure.also("left after 100 steps with tanh, inputs of 0.001", small_inputs)
    measure.also("left after 100 steps with tanh, inputs of 1", inputs_of_1)
    name = "The share of the gradient that is left after 100 steps with tanh and inputs of"
    decide(
        beats(small_inputs, 0.9, names=(f"{name} 0.001", "nine tenths")),
        beats(
            inputs_of_1.reduced(lambda left: -np.log10(left)),
            6.0,
            names=("What the gradient loses in 100 steps with tanh and inputs of 1", "six powers of ten"),
            unit="powers of ten",
        ),
    )


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
    # "To nothing": a float32 weight of 1e-4 stays the same when 1e-12 is added to it.
    steepest_of_all_that_stay = np.log(1e-12) / (LENGTHS[-1] - LENGTHS[0])
    what = "The gradient of a freshly initialised RNN over the length"
    decide(grows(LENGTHS, gradients.values, law="exponential", slope=(-np.inf, steepest_of_all_that_stay), what=what))


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


DEFINED_FOR = [(batch, length, features, hidden) for batch in (1, 3) for length in (1, 9) for features, hidden in SIZES]


@claim("week07.day2.lstm-definition")
def test_lstm_definition(measure: Measure, decide: Decide) -> None:
    for dtype, tolerance in ((torch.float32, 1e-5), (torch.float64, 1e-12)):
        by_library, by_hand = [], []
        for batch, length, features, hidden in DEFINED_FOR:
            layer = nn.LSTM(features, hidden, batch_first=True, dtype=dtype)
            x = torch.randn(batch, length, features, dtype=dtype)
            outputs, (_, cell) = layer(x)
            steps = list(lstm_steps(layer, x))
            by_library += [outputs.flatten(), cell.flatten()]
            by_hand += [torch.stack([step.hidden for step in steps], dim=1).flatten(), steps[-1].cell.flatten()]
        what = f"Outputs and cell states of nn.LSTM, and the three gates and the sum written out, in {dtype}"
        decide(close(torch.cat(by_library).detach(), torch.cat(by_hand).detach(), rtol=0, atol=tolerance, what=what))
    measure("gates", len(steps[-1].gates))


@claim("week07.day2.lstm-definition")
def test_lstm_definition__gru(decide: Decide) -> None:
    for dtype, tolerance in ((torch.float32, 1e-5), (torch.float64, 1e-12)):
        by_library, by_hand = [], []
        for batch, length, features, hidden in DEFINED_FOR:
            layer = nn.GRU(features, hidden, batch_first=True, dtype=dtype)
            x = torch.randn(batch, length, features, dtype=dtype)
            state = torch.zeros(batch, hidden, dtype=dtype)
            for element in x.unbind(dim=1):
                state = gru_step(layer, element, state)
                by_hand.append(state.flatten())
            by_library.append(layer(x)[0].transpose(0, 1).flatten())
        what = f"Outputs of nn.GRU, and its two gates written out, in {dtype}"
        decide(close(torch.cat(by_library).detach(), torch.cat(by_hand).detach(), rtol=0, atol=tolerance, what=what))


@claim("week07.day2.lstm-definition")
def test_lstm_definition__what_the_gates_do(decide: Decide) -> None:
    features, hidden = 3, 5
    x = torch.randn(4, 1, features)
    before, cell, other_cell = torch.randn(3, 1, 4, hidden)

    def one_step(cell: torch.Tensor, **gates: float) -> tuple[torch.Tensor, torch.Tensor]:
        """Return output and cell of the library's layer, with gates held closed (−1000) or open (1000)."""
        torch.manual_seed(0)
        layer = nn.LSTM(features, hidden, batch_first=True)
        with torch.no_grad():
            for gate, bias in gates.items():
                place = ("add", "forget", "candidate", "put_out").index(gate)
                layer.get_parameter("bias_ih_l0")[place * hidden : (place + 1) * hidden] = bias
        _, (output, cell) = layer(x, (before, cell))
        return output.detach(), cell.detach()

    closed, opened = -1000.0, 1000.0
    decide(
        that(
            torch.equal(one_step(cell, forget=closed)[1], one_step(other_cell, forget=closed)[1]),
            "With the forget gate closed, the new cell state knows nothing of the old one.",
        ),
        that(
            torch.equal(one_step(cell, forget=opened, add=closed)[1], cell),
            "With the forget gate open and nothing added, the cell state stays as it is, to the bit.",
        ),
        close(
            (one_step(cell, forget=opened)[1] - cell).numpy(),
            (one_step(other_cell, forget=opened)[1] - other_cell).numpy(),
            rtol=0,
            atol=1e-6,
            what="With the forget gate open, what a step adds to one cell state, and to another",
        ),
        that(not one_step(cell, put_out=closed)[0].any(), "With the last gate closed, nothing is put out of the cell."),
    )


@claim("week07.day2.lstm-gradient-survives")
@refuted
def test_lstm_gradient_survives(measure: Measure, device: torch.device, decide: Decide, evidence: EvidenceOf) -> None:
    layer, inputs = LSTM_PROBE.draw(0, device)
    gradients, noise = absolute_gradients(layer, inputs), jittered(absolute_gradients, layer, inputs)
    for length, gradient, *moved in zip(LENGTHS, gradients, *noise, strict=True):
        measure(f"gradient at step 0, length {length}", gradient, noise=moved)
    only_differ(LSTM_PROBE, PLAIN_RNN_PROBE, "cell")
    lstm, rnn = evidence(LSTM_PROBE)["gradients"], evidence(PLAIN_RNN_PROBE)["gradients"]
    draw_gradients(measure, "Gradient as the library initialises", "plain RNN", rnn)
    draw_gradients(measure, "Gradient as the library initialises", "LSTM", lstm)
    decide(lasts_twice_as_long(lstm, rnn, "an LSTM's"))


def powers_lost(gradients: Sample) -> Sample:
    """Return by how many powers of ten the gradient is smaller at the longest length than at the shortest."""
    return gradients.reduced(lambda series: float(np.log10(series[0] / series[-1])))


def lasts_twice_as_long(gated: Sample, plain: Sample, whose: str) -> Decision:
    """Decide whether a gated cell's gradient survives far more steps than a plain RNN's: at least twice as many.

    Both fall exponentially, so that twice the steps is half the powers of ten over the same steps.
    """
    half = np.asarray(powers_lost(plain)) / 2
    names = ("Half of the powers of ten that a plain RNN's gradient loses", f"those that {whose} loses")
    return beats(half, powers_lost(gated), names=names, unit="powers of ten")


def does_not_last_twice_as_long(gated: Sample, plain: Sample, name: str) -> Decision:
    """Decide the opposite."""
    half = np.asarray(powers_lost(plain)) / 2
    names = (f"What {name} loses of its gradient", "half of what a plain RNN loses")
    return beats(powers_lost(gated), half, names=names, unit="powers of ten")


@claim("week07.day2.lstm-gradient-survives.corrected")
def test_lstm_gradient_survives__corrected(measure: Measure, decide: Decide, evidence: EvidenceOf) -> None:
    only_differ(LSTM_PROBE, PLAIN_RNN_PROBE, "cell")
    rnn, by_default = evidence(PLAIN_RNN_PROBE)["gradients"], evidence(LSTM_PROBE)["gradients"]
    measure.also("powers of ten lost, plain RNN", powers_lost(rnn))
    measure.also("powers of ten lost, LSTM", powers_lost(by_default))
    above = np.log10(by_default.values[:, -1] / rnn.values[:, -1])
    measure.also("share of initialisations with a million times the plain RNN's at length 100", np.mean(above >= 6))
    decide(does_not_last_twice_as_long(by_default, rnn, "a fresh LSTM"))
    picture = "Gradient with the forget gates held open"
    draw_gradients(measure, picture, "default", by_default)
    for bias, recipe in RAISED_FORGET_GATES.items():
        only_differ(LSTM_PROBE, recipe, "forget_bias")
        gradients = evidence(recipe)["gradients"]
        draw_gradients(measure, picture, f"forget bias {bias:g}", gradients)
        lost = powers_lost(gradients)
        measure.also(f"powers of ten lost, forget bias {bias:g}", lost)
        decide(lasts_twice_as_long(gradients, rnn, f"an LSTM's with a forget bias of {bias:g}"))
        if bias >= 3:
            names = (f"The gradient that an LSTM with a forget bias of {bias:g} has left", "a thousandth")
            decide(beats(-np.asarray(lost), -3.0, names=names, unit="powers of ten"))


@claim("week07.day2.gru-gradient-survives")
@refuted
def test_gru_gradient_survives(decide: Decide, evidence: EvidenceOf) -> None:
    only_differ(GRU_PROBE, PLAIN_RNN_PROBE, "cell")
    gru, rnn = evidence(GRU_PROBE)["gradients"], evidence(PLAIN_RNN_PROBE)["gradients"]
    decide(lasts_twice_as_long(gru, rnn, "a GRU's"))


@claim("week07.day2.gru-gradient-survives.corrected")
def test_gru_gradient_survives__corrected(
    measure: Measure, device: torch.device, decide: Decide, evidence: EvidenceOf
) -> None:
    only_differ(GRU_PROBE, PLAIN_RNN_PROBE, "cell")
    gru, rnn = evidence(GRU_PROBE)["gradients"], evidence(PLAIN_RNN_PROBE)["gradients"]
    measure.also("powers of ten lost, plain RNN", powers_lost(rnn))
    measure.also("powers of ten lost, GRU", powers_lost(gru))
    measure.also("gradient of a GRU at length 100", gru.at(-1))
    draw_gradients(measure, "Gradient as the library initialises, GRU", "plain RNN", rnn)
    draw_gradients(measure, "Gradient as the library initialises, GRU", "GRU", gru)
    layer, _ = GRU_PROBE.draw(0, device)
    decide(that(isinstance(layer, nn.GRU), "The layer that is looked through is the library's GRU."))
    decide(does_not_last_twice_as_long(gru, rnn, "a fresh GRU"))


@claim("week07.day2.a-sum-does-not-shrink")
@refuted
def test_a_sum_does_not_shrink(decide: Decide, evidence: EvidenceOf) -> None:
    left = evidence(DIRECT_PATH)["left"].at(-1)
    decide(beats(left, 0.5, names=("What is left of a gradient after 100 steps on the additive path", "a half")))


@claim("week07.day2.a-sum-does-not-shrink.corrected")
def test_a_sum_does_not_shrink__corrected(measure: Measure, decide: Decide, evidence: EvidenceOf) -> None:
    only_differ(DIRECT_PATH, DIRECT_PATH_OPEN, "forget_bias")
    default, opened = evidence(DIRECT_PATH), evidence(DIRECT_PATH_OPEN)
    measure.also("forget gate", default["forget gate"], bounds=(0, 1))
    measure.also("forget gate, bias 5", opened["forget gate"], bounds=(0, 1))
    measure.also("left after 10 steps", default["left"].at(10), bounds=(0, 1))
    measure.also("left after 100 steps, forget bias 5", opened["left"].at(-1), bounds=(0, 1))
    left = default["left"].values
    steps = range(left.shape[1])
    for series, values in (("default", left), ("forget bias 5", opened["left"].values)):
        measure.curve(
            "Gradient on the additive path",
            steps,
            np.median(values, axis=0),
            series=series,
            x_label="steps back",
            y_label="share of the gradient that is left",
            y_scale="log",
        )
    what = "The gradient on the additive path of a fresh LSTM over the steps, about halved by each,"
    decide(
        grows(steps, left, law="exponential", slope=(np.log(0.4), np.log(0.7)), what=what),
        beats(
            opened["left"].at(-1),
            0.25,
            names=("What is left of it after 100 steps with a forget-gate bias of 5", "a quarter"),
        ),
    )


@claim("week07.day2.a-sum-does-not-shrink.corrected")
def test_a_sum_does_not_shrink__corrected__product_of_gates(decide: Decide) -> None:
    lstm, inputs = nn.LSTM(3, 4, batch_first=True, dtype=torch.float64), torch.randn(2, 30, 3, dtype=torch.float64)
    steps = list(lstm_steps(lstm, inputs))
    product = torch.stack([step.forget for step in steps]).prod(dim=0)
    what = (
        "The derivative of the last cell state in the first on the additive path, and the product of the forget gates"
    )
    decide(close(direct_path(steps)[-1].numpy(), product.detach().numpy(), rtol=1e-9, what=what))


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
def test_lstm_returns_tuple__addition(decide: Decide, device: torch.device) -> None:
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


def gru_and_lstm(epochs: int, evidence: EvidenceOf) -> tuple[Sample, Sample]:
    """Return the accuracies of both on the memory task."""
    only_differ(GRU_BY_EPOCHS[epochs], LSTM_BY_EPOCHS[epochs], "model.cell")
    return evidence(GRU_BY_EPOCHS[epochs])["accuracy"], evidence(LSTM_BY_EPOCHS[epochs])["accuracy"]


@claim("week07.day2.gru-matches-lstm")
@refuted
def test_gru_matches_lstm(decide: Decide, evidence: EvidenceOf) -> None:
    apart = [np.abs(np.subtract(*gru_and_lstm(epochs, evidence))) for epochs in (8, 10)]
    what = f"After 8 epochs as well as after 10, a GRU's accuracy is within {MARGIN} of an LSTM's"
    decide(in_most_seeds(np.max(apart, axis=0) < MARGIN, what=what))


@claim("week07.day2.gru-matches-lstm.corrected")
def test_gru_matches_lstm__corrected(measure: Measure, decide: Decide, evidence: EvidenceOf) -> None:
    for epochs in BUDGETS:
        gru, lstm = gru_and_lstm(epochs, evidence)
        measure.also(f"GRU accuracy, {epochs} epochs", gru, bounds=(0, 1))
        measure.also(f"LSTM accuracy, {epochs} epochs", lstm, bounds=(0, 1))
    apart = np.abs(np.subtract(*gru_and_lstm(8, evidence)))
    names = ("A GRU's accuracy after 15 epochs", "an LSTM's")
    decide(
        in_most_seeds(apart > MARGIN, what=f"After 8 epochs a GRU's accuracy is more than {MARGIN} from an LSTM's"),
        equivalent(*gru_and_lstm(15, evidence), margin=MARGIN, names=names),
    )


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


@claim("week07.day2.plain-rnn-forgets-a-hundred")
def test_plain_rnn_forgets_a_hundred__what_is_asked(decide: Decide) -> None:
    for name, recipe, steps in [("RNN", FIVE_BACK, 5), *((name, recipe, 100) for name, recipe in HUNDRED_BACK.items())]:
        inputs, labels = recipe.data.split(0).training
        after = {*inputs[:, 1:].flatten().tolist()}
        asked = torch.equal(labels, inputs[:, 0]) and inputs.shape[1] - 1 == steps and not after & {*labels.tolist()}
        decide(
            that(asked, f"The bit to recall stands {steps} steps before the end, and nowhere else."),
            same(type(recipe.model.build().get_submodule("recurrent")).__name__, name, what="The cell that is asked"),
        )


@claim("week07.day2.plain-rnn-forgets-a-hundred")
def test_plain_rnn_forgets_a_hundred(measure: Measure, decide: Decide, evidence: EvidenceOf) -> None:
    only_differ(HUNDRED_BACK["RNN"], FIVE_BACK, "data.steps")
    far, near = evidence(HUNDRED_BACK["RNN"])["accuracy"], evidence(FIVE_BACK)["accuracy"]
    measure.also("recall of the plain RNN over 100 steps", far, bounds=(0, 1))
    measure.also("recall of the plain RNN over 5 steps", near, bounds=(0, 1))
    name = "The share of bits that a plain RNN recalls over"
    decide(
        equivalent(far, CHANCE, margin=NEAR_CHANCE, names=(f"{name} 100 steps", "guessing")),
        beats(near, 0.9, names=(f"{name} 5 steps, trained in the same way,", "0.9")),
    )


@claim("week07.day2.plain-rnn-forgets-a-hundred")
def test_plain_rnn_forgets_a_hundred__addition(measure: Measure, decide: Decide, evidence: EvidenceOf) -> None:
    for cell, a_cell in (("GRU", "a GRU"), ("LSTM", "an LSTM")):
        only_differ(HUNDRED_BACK["RNN"], HUNDRED_BACK[cell], "model.cell")
        recall = evidence(HUNDRED_BACK[cell])["accuracy"]
        measure.also(f"recall of the {cell} over 100 steps", recall, bounds=(0, 1))
        names = (f"The share of bits that {a_cell} recalls over 100 steps", "guessing")
        decide(equivalent(recall, CHANCE, margin=NEAR_CHANCE, names=names))

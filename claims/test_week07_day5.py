"""week07, day 5: clipping, sequences too long for the budget, and dropout that does nothing or too much."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator
from itertools import product

import numpy as np
import torch
from torch import nn

from lesson_claims import (
    Decide,
    EvidenceOf,
    Measure,
    Outcome,
    beats,
    claim,
    close,
    depends_on_seed,
    equivalent,
    every,
    in_most_seeds,
    refuted,
    run_numerics,
    share,
    that,
)
from lessons.classifiers import CELLS, Cell, parameter_count
from lessons.clipping import SGD_RATE, ClippingProbe, handed_over, sgd
from lessons.divergence import CLIPPED_TOTAL, UNCLIPPED_TOTAL
from lessons.dropout import STATE_DROPOUT, carried, refreshed, state_masks
from lessons.length_sweep import LARGER_BUDGET, UNCLIPPED_SWEEP
from lessons.recipes import CLIPPED, CLIPPING, LENGTH_SWEEP, LENGTHS, PLAIN_RNN

NAMES: tuple[Cell, ...] = ("rnn", "gru", "lstm")
LIMITS = (0.01, 0.1, 0.3)
"""For plain SGD, whose gradients here hardly reach 1."""

ROUNDING = 1e-5
"""What the float32 arithmetic of clipping may add to a norm, as a share of it."""


def watched(probe: ClippingProbe, device: torch.device) -> Outcome:
    """One run at the page's seed, made as the runs of the store are, with the same number of threads."""
    with run_numerics():
        return probe.run(0, device)


@claim("week07.day5.clipping-caps-norm")
@depends_on_seed
def test_clipping_caps_norm(measure: Measure, evidence: EvidenceOf) -> None:
    # Its tolerance, .09, is two hundredths of the printed norm, as that of a share is .02 of the whole.
    largest = evidence(CLIPPING["without clipping"])["norms before"].reduced(max)
    measure("largest norm without clipping", largest, bounds=(0, np.inf))


@claim("week07.day5.clipping-caps-norm")
def test_clipping_caps_norm__unclipped(decide: Decide, evidence: EvidenceOf) -> None:
    largest = evidence(CLIPPING["without clipping"])["norms before"].reduced(max)
    decide(beats(largest, 1.5, names=("the largest norm without clipping", "1.5, half as much again as the ceiling,")))


@claim("week07.day5.clipping-caps-norm")
def test_clipping_caps_norm__ceiling(
    measure: Measure, decide: Decide, evidence: EvidenceOf, device: torch.device
) -> None:
    runs = evidence(CLIPPING["with clipping"])
    page = runs.page.outcome
    noise = list(runs["norms after"].reduced(max).platforms.values())
    measure("largest norm with clipping", max(page["norms after"]), noise=noise)
    trace, steps = "the page's clipped run, step by step", range(len(page["norms after"]))
    for series, name in (("before clipping", "norms before"), ("after clipping", "norms after")):
        measure.curve(trace, steps, page[name], series=series, x_label="step", y_label="gradient norm")
    measure.limit(trace, 1.0, "largest norm allowed")

    def steps_of_runs() -> Iterator[tuple[tuple[float, int], bool]]:
        for norms in runs["norms after"].values:
            yield from (((1.0, step), norm <= 1 + ROUNDING) for step, norm in enumerate(norms))
        for limit in LIMITS:
            run = watched(sgd(limit), device)
            yield from (((limit, step), norm <= limit * (1 + ROUNDING)) for step, norm in enumerate(run["norms after"]))

    decide(every(steps_of_runs(), what="steps whose norm is at most the limit, for the limits 1, 0.3, 0.1 and 0.01"))


@claim("week07.day5.clipping-keeps-direction")
def test_clipping_keeps_direction(decide: Decide, device: torch.device) -> None:
    cosines, same_before, untouched = [], [], []
    for cell, seed in product(NAMES, range(4)):
        with run_numerics():
            norm, gradient = handed_over(cell, None, seed, device)
            for share_of_norm in (0.01, 0.3, 0.9):
                before, clipped = handed_over(cell, share_of_norm * norm, seed, device)
                cosines.append((clipped @ gradient / (clipped.norm() * gradient.norm())).item())
                same_before.append(((cell, seed), before == norm))
            for share_of_norm in (1.1, 10.0):
                _, below = handed_over(cell, share_of_norm * norm, seed, device)
                untouched.append(((cell, seed), torch.equal(below, gradient)))
    decide(
        close(cosines, np.ones(len(cosines)), rtol=1e-6, what="the cosine of clipped and unclipped gradients"),
        every(same_before, what="the norm before clipping is that of the run without it, to the bit"),
        every(untouched, what="a gradient below the limit is untouched, to the bit"),
    )


@claim("week07.day5.clipping-bounds-the-step")
@refuted
def test_clipping_bounds_the_step(measure: Measure, decide: Decide, evidence: EvidenceOf) -> None:
    runs = {
        "without clipping": evidence(CLIPPING["without clipping"]),
        "with clipping": evidence(CLIPPING["with clipping"]),
    }
    largest = {name: run["changes"].reduced(max) for name, run in runs.items()}
    for name, run in runs.items():
        measure.also(f"largest Adam step {name}", largest[name], bounds=(0, np.inf))
        changes = run["changes"].page
        measure.curve(
            "steps that Adam takes in the page's two runs",
            range(len(changes)),
            changes,
            series=name,
            x_label="step",
            y_label="norm of the parameters' change",
            y_scale="log",
        )
    decide(
        beats(
            largest["without clipping"],
            largest["with clipping"],
            by=0.1,
            names=("Adam's largest step without clipping", "the one with clipping"),
        )
    )


@claim("week07.day5.clipping-bounds-the-step.corrected")
def test_clipping_bounds_the_step__corrected(decide: Decide, evidence: EvidenceOf) -> None:
    clipped, unclipped = (
        evidence(CLIPPING["with clipping"])["changes"],
        evidence(CLIPPING["without clipping"])["changes"],
    )
    decide(
        equivalent(
            clipped.reduced(max),
            unclipped.reduced(max),
            margin=0.02,
            names=("Adam's largest step with clipping", "the one without"),
        )
    )
    # Adam's first step is ± the learning rate in every parameter that has a gradient: all but token 0's embedding.
    moved = parameter_count(PLAIN_RNN.build()) - PLAIN_RNN.embedding
    first = np.concatenate([clipped.at(0), unclipped.at(0)])
    decide(
        close(
            first,
            np.full(len(first), CLIPPING["with clipping"].training.learning_rate * math.sqrt(moved)),
            rtol=1e-3,
            what="Adam's first step, clipped or not, against learning rate × √parameters",
        )
    )


@claim("week07.day5.clipping-bounds-the-step.corrected")
def test_clipping_bounds_the_step__corrected__sgd(decide: Decide, device: torch.device) -> None:
    unclipped = max(watched(sgd(None), device)["changes"])

    def steps() -> Iterator[tuple[tuple[float, int], bool]]:
        for limit in LIMITS:
            changes = watched(sgd(limit), device)["changes"]
            # Parameters are rounded to float32 when they are changed, which moves them by far less than this.
            yield from (((limit, step), c <= SGD_RATE * limit * (1 + 1e-3)) for step, c in enumerate(changes))

    decide(
        every(
            steps(), what="steps of plain SGD no longer than learning rate times limit, for limits 0.01, 0.1 and 0.3"
        ),
        that(unclipped > SGD_RATE * max(LIMITS), f"Without clipping the longest of these steps is {unclipped:.3f}."),
    )


NO_HARM = 0.05
"""An accuracy that one seed's luck easily moves in the middle of learning, where the LSTM stands at length 10."""


@claim("week07.day5.clip-at-one")
def test_clip_at_one(measure: Measure, decide: Decide, evidence: EvidenceOf) -> None:
    measure("recommended maximum norm", CLIPPED.clip)
    for (name, length), recipe in UNCLIPPED_SWEEP.items():
        clipped, unclipped = evidence(LENGTH_SWEEP[name, length])["accuracy"], evidence(recipe)["accuracy"]
        measure.also(f"{name} accuracy without clipping, length {length}", unclipped, bounds=(0, 1))
        decide(
            beats(
                clipped,
                unclipped,
                by=-NO_HARM,
                names=(f"the clipped {name}'s accuracy at length {length}", "the unclipped one's"),
            )
        )


@claim("week07.day5.unclipped-run-diverges")
def test_unclipped_run_diverges(measure: Measure, decide: Decide, evidence: EvidenceOf) -> None:
    unclipped, clipped = evidence(UNCLIPPED_TOTAL), evidence(CLIPPED_TOTAL)
    decide(
        in_most_seeds(unclipped["diverged"].values, what="the unclipped run ends in NaN or infinity"),
        in_most_seeds(~clipped["diverged"].values, what="the same run, clipped at 1.0, stays finite"),
        beats(
            unclipped["first loss"],
            unclipped["lowest loss"],
            names=("the loss before the first step", "the lowest one before the breakdown"),
        ),
    )
    measure.missing("step of the divergence", "the page shows no run that diverges, so there is none to run again")
    measure.also("steps before the breakdown", unclipped["steps"], bounds=(0, UNCLIPPED_TOTAL.steps))
    for series, run in (("without clipping", unclipped), ("clipped at 1.0", clipped)):
        losses = run.page.outcome["losses"]
        measure.curve(
            "learning a running total with plain SGD",
            range(len(losses)),
            losses,
            series=series,
            x_label="step",
            y_label="loss",
            y_scale="log",
        )


@claim("week07.day5.length-sweep")
def test_length_sweep(measure: Measure, decide: Decide, evidence: EvidenceOf) -> None:
    accuracies = {place: evidence(recipe)["accuracy"] for place, recipe in LENGTH_SWEEP.items()}
    for (name, length), accuracy in accuracies.items():
        measure(f"{name} accuracy, length {length}", accuracy, bounds=(0, 1))
    for name in ("plain RNN", "LSTM"):
        measure.range_over_seeds(
            "accuracy against length",
            LENGTHS,
            np.stack([accuracies[name, length] for length in LENGTHS], axis=1),
            series=name,
            x_label="length",
            y_label="validation accuracy",
        )
    measure.limit("accuracy against length", 0.5, "chance")
    for length in (6, 10):
        decide(
            beats(
                accuracies["LSTM", length],
                accuracies["plain RNN", length],
                by=0.02,
                names=(f"the LSTM's accuracy at length {length}", "the plain RNN's"),
            )
        )


@claim("week07.day5.lstm-holds-up")
@refuted
def test_lstm_holds_up(decide: Decide, evidence: EvidenceOf) -> None:
    accuracy = evidence(LENGTH_SWEEP["LSTM", 16])["accuracy"]
    decide(beats(accuracy, 0.9, names=("the LSTM's accuracy at length 16", "0.9")))


@claim("week07.day5.lstm-holds-up.corrected")
def test_lstm_holds_up__corrected(measure: Measure, decide: Decide, evidence: EvidenceOf) -> None:
    plain, lstm = (evidence(LENGTH_SWEEP[name, 16])["accuracy"] for name in ("plain RNN", "LSTM"))
    measure.also("LSTM accuracy, length 16", lstm, bounds=(0, 1))
    decide(
        equivalent(plain, 0.5, margin=0.1, names=("the plain RNN's accuracy at length 16", "chance")),
        equivalent(lstm, 0.5, margin=0.1, names=("the LSTM's accuracy at length 16", "chance")),
    )
    more = evidence(LARGER_BUDGET)["accuracy"]
    measure.also("LSTM accuracy, length 16, four times the rows", more, bounds=(0, 1))
    decide(beats(more, 0.9, names=("the LSTM's accuracy at length 16, learnt from 32,000 rows,", "0.9")))


def two_passes_agree(layer: nn.Module, inputs: torch.Tensor) -> bool:
    """Whether two passes of a layer give the same outputs, to the bit."""
    return torch.equal(layer(inputs)[0], layer(inputs)[0])


def layer_with_dropout(cell: Cell, layers: int, rate: float, device: torch.device) -> nn.RNNBase:
    """Build a layer of the page's sizes, without the warning that one layer would cause."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return CELLS[cell](16, 32, num_layers=layers, dropout=rate, batch_first=True).to(device)


def dropout_cases(device: torch.device) -> Iterator[tuple[Cell, float, torch.Tensor]]:
    """Every cell with several rates above 0, each with an input of another random size."""
    for cell in NAMES:
        for rate in (0.1, 0.3, 0.5, 0.9):
            batch, length = torch.randint(1, 9, (2,)).tolist()
            yield cell, rate, torch.randn(1 + batch, 1 + length, 16).to(device)


@claim("week07.day5.single-layer-dropout-noop")
def test_single_layer_dropout_noop(measure: Measure, decide: Decide, device: torch.device) -> None:
    layer, inputs = layer_with_dropout("lstm", 1, 0.3, device), torch.randn(2, 5, 16).to(device)
    measure("two passes identical", two_passes_agree(layer.train(), inputs))
    decide(
        every(
            (
                ((cell, rate), two_passes_agree(layer_with_dropout(cell, 1, rate, device).train(), inputs))
                for cell, rate, inputs in dropout_cases(device)
            ),
            what="two training passes of one layer with dropout are identical to the bit",
        )
    )


@claim("week07.day5.stacked-dropout-acts")
def test_stacked_dropout_acts(decide: Decide, device: torch.device) -> None:
    differ, evaluated, without = [], [], []
    for cell, rate, inputs in dropout_cases(device):
        stacked = layer_with_dropout(cell, 2, rate, device)
        differ.append(((cell, rate), not two_passes_agree(stacked.train(), inputs)))
        evaluated.append(((cell, rate), two_passes_agree(stacked.eval(), inputs)))
        without.append(((cell, 0.0), two_passes_agree(layer_with_dropout(cell, 2, 0.0, device).train(), inputs)))
    decide(
        every(differ, what="two training passes of two layers differ"),
        every(evaluated, what="two passes in eval mode are identical to the bit"),
        every(without, what="two training passes with p = 0 are identical to the bit"),
    )


def warnings_of_dropout(cell: Cell, rate: float) -> tuple[list[str], list[str]]:
    """What is said of dropout at construction of a layer of one layer, and in a training pass.

    Other warnings, which a library may add on any day, are no part of the claim.
    """
    with warnings.catch_warnings(record=True) as constructed:
        warnings.simplefilter("always")
        layer = CELLS[cell](16, 32, dropout=rate, batch_first=True)
    with warnings.catch_warnings(record=True) as passed:
        warnings.simplefilter("always")
        layer.train()(torch.randn(2, 5, 16))
    said = [[str(w.message) for w in heard] for heard in (constructed, passed)]
    at_construction, in_training = ([message for message in each if "dropout" in message] for each in said)
    return at_construction, in_training


@claim("week07.day5.single-layer-dropout-is-silent")
@refuted
def test_single_layer_dropout_is_silent(decide: Decide) -> None:
    decide(
        every(
            ((cell, not any(map(len, warnings_of_dropout(cell, 0.3)))) for cell in NAMES),
            what="a layer of one layer with dropout is constructed and run without a warning",
        )
    )


@claim("week07.day5.single-layer-dropout-is-silent.corrected")
def test_single_layer_dropout_is_silent__corrected(decide: Decide) -> None:
    for rate, expected in ((0.3, 1), (0.0, 0)):
        heard = {cell: warnings_of_dropout(cell, rate) for cell in NAMES}
        decide(
            every(
                ((cell, len(constructed) == expected) for cell, (constructed, _) in heard.items()),
                what=f"cells with {expected} warnings of dropout at construction with p = {rate}",
            ),
            every(
                ((cell, not passed) for cell, (_, passed) in heard.items()),
                what=f"cells whose training pass with p = {rate} does not warn of it",
            ),
        )


MASKED_STEPS = 20
MASKED_SEQUENCES = 4000
MASKED_UNITS = 32
"""The size of the state in the page's dropout example."""


@claim("week07.day5.dropout-mask-per-step")
def test_dropout_mask_per_step(measure: Measure, decide: Decide) -> None:
    longest = 2 * MASKED_STEPS
    picture = "what dropout with p = 0.3 leaves of a carried state"
    for rate in (0.1, 0.3):
        fresh, one = (
            carried(state_masks(drawn, rate, longest, MASKED_SEQUENCES, MASKED_UNITS)) > 0
            for drawn in ("at every step", "once per sequence")
        )
        trials = MASKED_SEQUENCES * MASKED_UNITS
        kept_fresh, kept_one = (int(alive[MASKED_STEPS - 1].sum()) for alive in (fresh, one))
        decide(
            share(
                kept_fresh,
                trials,
                equals=(1 - rate) ** MASKED_STEPS,
                margin=max(0.05 * (1 - rate) ** MASKED_STEPS, 3e-4),
                what=f"with p = {rate} and a fresh mask at each step, the share of a state left after 20 steps",
            ),
            share(
                kept_one,
                trials,
                equals=1 - rate,
                margin=0.01,
                what=f"with p = {rate} and one mask for all steps, the share of a state left after 20 steps",
            ),
        )
        if rate != 0.3:
            continue
        measure.also("left by fresh masks", kept_fresh / trials)
        measure.also("left by one mask", kept_one / trials)
        # A state is lost at the first step after which none of its units is left.
        lost_at = 1 + fresh.any(dim=2).sum(dim=0).double()
        low, typical, high = torch.quantile(lost_at, torch.tensor([0.9, 0.95, 0.99]).double()).tolist()
        measure("steps over which memory is lost", typical, within=(low, high), unit="steps")
        steps = range(1, MASKED_STEPS + 1)
        for series, alive in (("a fresh mask at each step", fresh), ("one mask for all steps", one)):
            left = alive[:MASKED_STEPS].double().mean(dim=(1, 2))
            measure.curve(
                picture, steps, left, series=series, x_label="step", y_label="share of the state", y_scale="log"
            )


@claim("week07.day5.dropout-mask-per-step")
def test_dropout_mask_per_step__accuracy(measure: Measure, decide: Decide, evidence: EvidenceOf) -> None:
    fresh, one = (evidence(STATE_DROPOUT[drawn])["accuracy"] for drawn in ("at every step", "once per sequence"))
    measure.also("accuracy, a fresh mask at each step", fresh, bounds=(0, 1))
    measure.also("accuracy, one mask for all steps", one, bounds=(0, 1))
    decide(beats(one, fresh, names=("accuracy with one mask for all steps", "that with fresh masks")))


@claim("week07.day5.dropout-mask-per-step")
def test_dropout_mask_per_step__refreshed(decide: Decide) -> None:
    states = refreshed(state_masks("at every step", 0.3, MASKED_STEPS, MASKED_SEQUENCES, MASKED_UNITS))
    decide(
        share(
            int((states[-1].mean(dim=1) > 0).sum()),
            MASKED_SEQUENCES,
            at_least=0.99,
            what="with fresh masks of p = 0.3, the share kept of a bit that 32 units hold together and refresh",
        )
    )


@claim("week07.day5.dropout-on-input-works")
def test_dropout_on_input_works(decide: Decide, device: torch.device) -> None:
    differ, evaluated = [], []
    for cell, rate, inputs in dropout_cases(device):
        model = nn.Sequential(nn.Dropout(rate), CELLS[cell](16, 32, batch_first=True)).to(device)
        differ.append(((cell, rate), not two_passes_agree(model.train(), inputs)))
        evaluated.append(((cell, rate), two_passes_agree(model.eval(), inputs)))
    decide(
        every(differ, what="two training passes differ with dropout in front of a layer of one layer"),
        every(evaluated, what="two passes in eval mode are identical to the bit"),
    )

"""descent: how descent finds a line, how fast, and what momentum does to it."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from lesson_claims import Decide, EvidenceOf, Measure, beats, claim, close, every, grows, refuted, same
from lessons.descent import (
    MOMENTUM,
    PLAIN,
    TEN_TIMES_THE_RATE,
    Floats,
    Patients,
    curvatures,
    gradient,
    loss,
    losses_of_descent,
    lowest_point,
    split,
    standardised,
    steps_needed,
    with_ones,
)

PAGE_SEED = 0


def page_patients() -> tuple[Patients, Floats]:
    """The page's training patients, and their feature in standard deviations, not centred, with ones."""
    training, _ = split(PAGE_SEED)
    return training, with_ones(training.bmi / training.bmi.std())


@claim("descent.split")
def test_split(measure: Measure, decide: Decide) -> None:
    training, testing = split(PAGE_SEED)
    measure("training patients", len(training.bmi))
    measure("test patients", len(testing.bmi))
    decide(same(len(training.bmi) + len(testing.bmi), 442, what="Patients in all"))


@claim("descent.least-squares")
def test_least_squares(measure: Measure, decide: Decide) -> None:
    training, features = page_patients()
    lowest = lowest_point(features, training.progression)
    intercept, slope = lowest
    measure("slope", slope)
    measure("intercept", intercept)
    measure("lowest loss", loss(features, training.progression, lowest))
    decide(
        close(
            gradient(features, training.progression, lowest),
            np.zeros(2),
            rtol=0,
            atol=1e-9,
            what="The gradient at the least-squares line, against zero",
        )
    )


@claim("descent.largest-rate")
def test_largest_rate(measure: Measure) -> None:
    _, features = page_patients()
    measure("largest rate", 2 / curvatures(features)[-1])


def cases(low: float, high: float) -> Iterator[tuple[str, Floats]]:
    """Draw 50 starts, and rates between two shares of 2/L; yield their names and the losses of 100 steps each."""
    training, scaled = page_patients()
    generator = np.random.default_rng(PAGE_SEED)
    for features in (scaled, with_ones(standardised(training.bmi, training.bmi))):
        for _ in range(25):
            share, start = generator.uniform(low, high), generator.normal(scale=200, size=2)
            rate = share * 2 / curvatures(features)[-1]
            name = f"rate {rate:.4f}, {share:.2f} of 2/L, from intercept {start[0]:.0f} and slope {start[1]:.0f}"
            yield name, losses_of_descent(features, training.progression, start, rate, steps=100)


@claim("descent.largest-rate")
def test_largest_rate__any_start(decide: Decide) -> None:
    # At the lowest point itself, rounding moves the loss by its last bits.
    below = ((name, bool(np.all(losses[1:] <= losses[:-1] * (1 + 1e-12)))) for name, losses in cases(0.05, 0.95))
    above = ((name, bool(losses[-1] > 1000 * losses[0])) for name, losses in cases(1.1, 1.5))
    decide(
        every(below, what="With a rate below 2/L, a loss that never rises in 100 steps"),
        every(above, what="With a rate above 2/L, a loss that is a thousand times larger after 100 steps"),
    )


@claim("descent.condition-number")
def test_condition_number(measure: Measure, decide: Decide) -> None:
    training, _ = split(PAGE_SEED)
    condition_numbers, steps = [], []
    for mean in (1, 2, 4):
        features = with_ones(standardised(training.bmi, training.bmi) + mean)
        flattest, steepest = curvatures(features)
        condition_numbers.append(steepest / flattest)
        steps.append(steps_needed(features, training.progression))
    measure.each("condition number", condition_numbers)
    measure.each("steps", steps)
    measure.curve(
        "Steps against the condition number",
        condition_numbers,
        steps,
        x_label="condition number",
        y_label="steps",
        x_scale="log",
        y_scale="log",
    )
    decide(grows(condition_numbers, steps, law="linear", what="The number of steps, over the condition number,"))


@claim("descent.test-error")
def test_test_error(measure: Measure, decide: Decide, evidence: EvidenceOf) -> None:
    runs = evidence(PLAIN)
    measure("test error", runs["test error"])
    measure("test error of the mean", runs["test error of the mean"])
    decide(
        beats(
            runs["test error of the mean"],
            runs["test error"],
            names=("The test error of a line that says the mean", "that of the line that descent found"),
        )
    )


@claim("descent.momentum")
@refuted
def test_momentum(measure: Measure, decide: Decide, evidence: EvidenceOf) -> None:
    plain, momentum = evidence(PLAIN)["losses"], evidence(MOMENTUM)["losses"]
    measure("loss without momentum", plain.at(0))
    measure("loss with momentum", momentum.at(0))
    decide(
        beats(
            plain.at(-1),
            momentum.at(-1),
            names=("The training loss after ten epochs without momentum", "that with momentum"),
        )
    )


@claim("descent.momentum.corrected")
def test_momentum__corrected(measure: Measure, decide: Decide, evidence: EvidenceOf) -> None:
    descents = {
        "without momentum": evidence(PLAIN)["losses"],
        "with momentum": evidence(MOMENTUM)["losses"],
        "with ten times the rate": evidence(TEN_TIMES_THE_RATE)["losses"],
    }
    for name, losses in descents.items():
        measure.also(f"loss {name} after one epoch", losses.at(0))
        measure.also(f"loss {name} after ten epochs", losses.at(-1))
        measure.range_over_seeds(
            "Training loss, median and range over seeds",
            range(1, PLAIN.epochs + 1),
            losses.values,
            series=name,
            x_label="epoch",
            y_label="training loss",
        )
    plain, momentum, faster = descents.values()
    decide(
        beats(
            plain.at(0),
            momentum.at(0),
            names=("The training loss after one epoch without momentum", "that with momentum"),
        ),
        beats(
            momentum.at(-1),
            plain.at(-1),
            names=("The training loss after ten epochs with momentum", "that without momentum"),
        ),
        beats(
            faster.at(-1),
            plain.at(-1),
            names=("The training loss after ten epochs with ten times the rate", "that with the page's rate"),
        ),
    )

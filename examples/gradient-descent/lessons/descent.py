"""Gradient descent on a line: the page's data, its loss, and its descent, for any seed.

The page itself uses seed 0 for all that is drawn at random.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_diabetes
from sklearn.model_selection import train_test_split

from lesson_claims import Outcome

Floats = NDArray[np.float64]

BODY_MASS_INDEX = 2
"""Column of the data set."""


@dataclass(frozen=True)
class Patients:
    """Some patients.

    Attributes:
        bmi: body mass index in kg/m², shape (patients,).
        progression: score of the disease one year later, 25..346, shape (patients,).
    """

    bmi: Floats
    progression: Floats


def split(seed: int) -> tuple[Patients, Patients]:
    """Put a quarter of the 442 patients aside, chosen by the seed.

    Returns:
        331 patients for training and 111 for testing.
    """
    data = load_diabetes(scaled=False)
    bmi, test_bmi, progression, test_progression = train_test_split(
        data.data[:, BODY_MASS_INDEX], data.target, random_state=seed
    )
    return Patients(bmi, progression), Patients(test_bmi, test_progression)


def with_ones(feature: Floats) -> Floats:
    """Put a column of ones before the feature, for the intercept; shape (patients, 2)."""
    return np.column_stack([np.ones(len(feature)), feature])


def standardised(feature: Floats, training: Floats) -> Floats:
    """Return the feature in standard deviations of the training patients, from their mean; shape as before."""
    result: Floats = (feature - training.mean()) / training.std()
    return result


def loss(features: Floats, targets: Floats, weights: Floats) -> float:
    """Return the mean squared error of a line; `weights` are its intercept and slope."""
    return float(np.mean((features @ weights - targets) ** 2))


def gradient(features: Floats, targets: Floats, weights: Floats) -> Floats:
    """Return the gradient of the loss, shape (2,)."""
    result: Floats = 2 * features.T @ (features @ weights - targets) / len(features)
    return result


def lowest_point(features: Floats, targets: Floats) -> Floats:
    """Return the intercept and slope of least loss, in closed form; shape (2,)."""
    return np.asarray(np.linalg.lstsq(features, targets)[0], dtype=np.float64)


def curvatures(features: Floats) -> Floats:
    """Return the curvature of the loss along its flattest and its steepest direction, shape (2,)."""
    return np.asarray(np.linalg.eigvalsh(2 * features.T @ features / len(features)), dtype=np.float64)


def losses_of_descent(features: Floats, targets: Floats, start: Floats, rate: float, steps: int) -> Floats:
    """Return the loss at the start and after each step over all patients, shape (steps + 1,)."""
    weights = start
    losses = [loss(features, targets, weights)]
    for _ in range(steps):
        weights = weights - rate * gradient(features, targets, weights)
        losses.append(loss(features, targets, weights))
    return np.array(losses)


def steps_needed(features: Floats, targets: Floats) -> int:
    """Count the steps of rate 1/L that bring the weights a hundred times closer to the lowest point.

    They start with the right slope and an intercept that is off by 100.
    """
    lowest = lowest_point(features, targets)
    rate = 1 / curvatures(features)[-1]
    weights = lowest + np.array([100.0, 0.0])
    steps = 0
    while np.linalg.norm(weights - lowest) > 1:
        weights = weights - rate * gradient(features, targets, weights)
        steps += 1
    return steps


@dataclass(frozen=True)
class Step:
    """A step of descent: the patients it saw, shape (batch,), their gradient, shape (2,), and the change it made."""

    rows: NDArray[np.int64]
    gradient: Floats
    change: Floats


def settings_of(steps: Sequence[Step], patients: int) -> dict[str, float | str]:
    """Return how a descent was made, as it follows from its steps.

    The first change is the gradient times the rate; the second keeps a share of the first, the momentum.

    Returns:
        `training patients`, `epochs`, `batch`, `order` of the patients, `rate` and `momentum`.
    """
    seen = np.concatenate([step.rows for step in steps])
    epochs = seen.reshape(-1, patients) if len(seen) % patients == 0 else seen[None]
    whole = all(np.array_equal(np.sort(epoch), np.arange(patients)) for epoch in epochs)
    anew = whole and len(np.unique(epochs, axis=0)) == len(epochs)
    first, second = steps[:2]
    rate = -(first.change @ first.gradient) / (first.gradient @ first.gradient)
    kept = second.change + rate * second.gradient
    return {
        "training patients": patients,
        "epochs": len(seen) / patients,
        "batch": len(first.rows),
        "order": "drawn anew in each epoch" if anew else "another one",
        "rate": round(float(rate), 9),
        "momentum": round(float(kept @ first.change / (first.change @ first.change)), 9),
    }


@dataclass(frozen=True)
class MiniBatchDescent:
    """Descent on the centred feature in mini-batches; the seed draws the split and the order of the patients.

    Attributes:
        momentum: share of each step that the next one keeps, 0 ≤ momentum < 1.
        rate: step length over gradient.
        epochs: how often each patient is seen.
        batch: patients in a mini-batch; the last of an epoch may be smaller.
    """

    momentum: float = 0.0
    rate: float = 0.02
    epochs: int = 10
    batch: int = 16

    def run(self, seed: int) -> Outcome:
        """Descend from the flat line through zero.

        Returns:
            `losses`, the loss on all training patients after each epoch; `test error` and `test error of the mean`,
            the root-mean-square errors on the test patients of the line and of the training patients' mean; `settings`,
            how the descent was made, as `settings_of` tells it.
        """
        training, testing = split(seed)
        features = with_ones(standardised(training.bmi, training.bmi))
        test_features = with_ones(standardised(testing.bmi, training.bmi))
        generator = np.random.default_rng(seed)
        weights, velocity = np.zeros(2), np.zeros(2)
        losses, steps = [], []
        for _ in range(self.epochs):
            order = generator.permutation(len(features))
            for first in range(0, len(features), self.batch):
                rows = order[first : first + self.batch]
                slope = gradient(features[rows], training.progression[rows], weights)
                velocity = self.momentum * velocity - self.rate * slope
                weights = weights + velocity
                steps.append(Step(rows, slope, velocity))
            losses.append(loss(features, training.progression, weights))
        flat = np.array([training.progression.mean(), 0.0])
        return {
            "losses": losses,
            "test error": loss(test_features, testing.progression, weights) ** 0.5,
            "test error of the mean": loss(test_features, testing.progression, flat) ** 0.5,
            "settings": settings_of(steps, len(features)),
        }


PLAIN = MiniBatchDescent()
MOMENTUM = MiniBatchDescent(momentum=0.9)
TEN_TIMES_THE_RATE = MiniBatchDescent(rate=0.2)

PAGE_RUNS = {"without momentum": PLAIN, "with momentum": MOMENTUM}
"""The descents that the page itself makes."""

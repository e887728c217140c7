"""Two recipes that are compared differ in one thing."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import pytest

from lesson_claims import only_differ
from lesson_claims.runs.recipe import RecipeError


@dataclass(frozen=True)
class Training:
    epochs: int = 10
    rate: float = 0.1


@dataclass(frozen=True)
class Fit:
    cell: str = "GRU"
    training: Training = field(default_factory=Training)


@dataclass(frozen=True)
class OtherFit:
    cell: str = "GRU"


def test_the_field_that_is_compared_may_differ():
    only_differ(Fit("GRU"), Fit("LSTM"), "cell")
    only_differ(Fit(), Fit(training=Training(epochs=3)), "training.epochs")
    only_differ(Fit(), Fit(training=Training(3, 0.2)), "training")
    only_differ(Fit(), Fit("LSTM", Training(epochs=3)), "cell", "training.epochs")


@pytest.mark.parametrize(
    ("other", "names", "told"),
    [
        (Fit("LSTM", Training(epochs=3)), ["cell"], "differ in cell alone: they differ in training.epochs as well"),
        (Fit(training=Training(3, 0.2)), ["training.epochs"], "differ in training.rate as well"),
        (Fit(), ["cell"], "they are the same in cell"),
        (Fit("LSTM"), ["cell", "training"], "they are the same in training"),
        (Fit("LSTM"), ["cel"], "differ in cell as well"),
        (OtherFit(), ["cell"], "differ in what they are as well"),
    ],
)
def test_nothing_else_may_differ_and_what_is_compared_must(other, names, told):
    with pytest.raises(RecipeError, match=told):
        only_differ(Fit(), other, *names)


def test_a_difference_at_any_depth_is_found():
    @dataclass(frozen=True)
    class Outer:
        inner: object

    deep = Fit()
    with pytest.raises(RecipeError, match=r"inner\.inner\.training\.rate"):
        only_differ(Outer(Outer(deep)), Outer(Outer(replace(deep, training=Training(rate=1.0)))), "inner.inner.cell")

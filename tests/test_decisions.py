"""Decisions hold plain Python values and refuse what no report could show."""

import dataclasses

import numpy as np
import pytest

from lesson_claims.decisions import ClaimRefuted, Decision, Verdict


def test_numpy_values_become_plain_python():
    decision = Decision(
        np.str_("holds"), np.str_("Found."), "rule", np.float32(0.5), np.float64(0), np.int64(1), np.float64(0.01),
        np.float64(0.05), np.int64(5), np.int32(6),
    )  # fmt: skip
    assert [type(value) for value in dataclasses.astuple(decision)] == [
        Verdict, str, str, float, float, float, float, float, int, int,
    ]  # fmt: skip


@pytest.mark.parametrize("name", ["estimate", "low", "high", "p", "level"])
def test_nan_is_named(name):
    with pytest.raises(ValueError, match=f"the {name} of a decision.*NaN"):
        Decision(Verdict.HOLDS, "Found.", "rule", **{name: np.float64("nan")})


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"p": 1.5}, "outside"),
        ({"level": -0.1}, "outside"),
        ({"seeds": -1}, "counts -1 seeds"),
        ({"needed": -1}, "needs -1"),
        ({"sentence": " "}, "no sentence"),
        ({"verdict": "maybe"}, "not a valid Verdict"),
    ],
)
def test_impossible_values_are_refused(wrong, message):
    with pytest.raises(ValueError, match=message):
        Decision(**{"verdict": Verdict.HOLDS, "sentence": "Found.", "rule": "rule", **wrong})


def test_a_decision_cannot_be_changed():
    with pytest.raises(dataclasses.FrozenInstanceError):
        Decision(Verdict.HOLDS, "Found.", "rule").verdict = Verdict.REFUTED


def test_a_refuted_claim_is_a_failed_assertion():
    assert issubclass(ClaimRefuted, AssertionError)

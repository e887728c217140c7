"""Decisions hold plain Python values and refuse what no report could show."""

import dataclasses

import numpy as np
import pytest

from lesson_claims import decisions
from lesson_claims.decisions import ClaimRefuted, Decision, Levels, Verdict


def test_numpy_values_become_plain_python():
    decision = Decision(
        np.str_("holds"), np.str_("Found."), "rule", np.float32(0.5), np.float64(0), np.int64(1), np.float64(0.01),
        np.float64(0.05), np.int64(5),
    )  # fmt: skip
    assert [type(value) for value in dataclasses.astuple(decision)] == [
        Verdict, str, str, float, float, float, float, float, int, type(None),
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


def evidence(p_holds=0.5, p_refuted=0.5, e_holds=0.5, e_refuted=0.5):
    return decisions.Tested(p_holds, p_refuted, e_holds, e_refuted)


def decided(found, levels):
    decision = Decision.of_test(found, "Found.", "rule", 0.0, None, 6).at(levels)
    return decision.verdict, decision.p, decision.level


def test_a_fixed_number_of_seeds_is_decided_by_exact_p_and_looks_by_e_values():
    exact = evidence(p_holds=0.03, e_holds=1000.0)
    assert decided(exact, Levels(0.03, 0.01)) == (Verdict.HOLDS, 0.03, 0.03)
    assert decided(exact, Levels(0.02, 0.01)) == (Verdict.INCONCLUSIVE, 0.03, 0.02)
    assert decided(exact, Levels(0.001, 0.01, every_look=True)) == (Verdict.HOLDS, 0.001, 0.001)
    assert decided(evidence(p_holds=1e-9), Levels(every_look=True)) == (Verdict.INCONCLUSIVE, 1.0, 0.05)


def test_each_verdict_has_a_level_of_its_own():
    low = evidence(p_holds=0.04, p_refuted=0.04)
    assert decided(low, Levels(0.001, 0.05))[0] == Verdict.REFUTED
    assert decided(low, Levels(0.05, 0.001))[0] == Verdict.HOLDS
    assert decided(low, Levels(0.001, 0.001))[0] == Verdict.INCONCLUSIVE


def test_one_of_several_tests_needs_its_share_of_the_level_to_refute_and_all_of_it_to_hold():
    levels = Levels(0.05, 0.05).shared_by(4)
    assert (levels.holds, levels.refuted) == (0.05, 0.0125)
    assert Levels(0.05, 0.02).shared_by(0) == Levels(0.05, 0.02)


@pytest.mark.parametrize("levels", [Levels(), Levels(1e-9, 1e-9), Levels(every_look=True)])
def test_no_level_moves_a_fact(levels):
    fact = Decision(Verdict.REFUTED, "Found.", "fact", level=0.0)
    assert fact.at(levels) is fact


def test_evidence_keeps_the_height_that_it_once_had():
    once, later = evidence(e_holds=40.0, e_refuted=0.1), evidence(p_holds=0.2, e_holds=3.0, e_refuted=0.2)
    joined = later.joined(once)
    assert (joined.e_holds, joined.e_refuted, joined.p_holds) == (40.0, 0.2, 0.2)


def test_a_decision_alone_is_one_at_the_level_of_one_in_twenty():
    assert Decision.of_test(evidence(p_holds=0.05), "Found.", "rule", 0.0, (0.0, 1.0)).verdict == Verdict.HOLDS
    assert Decision.of_test(evidence(p_holds=0.051), "Found.", "rule", 0.0, None).verdict == Verdict.INCONCLUSIVE

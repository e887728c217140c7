"""Deterministic deciders: one counter-example refutes, and what cannot fail is an error."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lesson_claims.deciders import close, every, same, that
from lesson_claims.decisions import Verdict


def test_a_fact():
    assert that(True, "It warns.").verdict == Verdict.HOLDS
    assert that(np.bool_(False), "It does not warn.").verdict == Verdict.REFUTED
    with pytest.raises(TypeError, match="expected True or False"):
        that(1, "One is not true.")


def test_every_names_the_counter_example():
    assert every([True, True], what="steps stay under the limit").sentence == (
        "steps stay under the limit: all of 2 cases."
    )
    decision = every(((p, p != 0.3) for p in (0.1, 0.3)), what="no-op")
    assert (decision.verdict, decision.sentence) == (Verdict.REFUTED, "no-op: fails in 1 of 2 cases, for example 0.3.")
    assert (decision.level, decision.p) == (0.0, None)


def test_every_of_nothing_is_an_error():
    with pytest.raises(ValueError, match="cannot fail"):
        every([], what="no-op")


@pytest.mark.parametrize("result", [np.nan, 1, None, np.array([True])])
def test_every_takes_booleans_alone(result):
    with pytest.raises(TypeError, match="case 1: expected True or False"):
        every([True, result], what="no-op")


@given(st.lists(st.booleans(), min_size=1))
def test_every_is_all(results):
    assert (every(results, what="it").verdict == Verdict.HOLDS) == all(results)


def test_closeness_names_the_first_difference_and_the_largest_error():
    measured = np.array([[1.0, 2.0], [3.5, 4.25]])
    expected = np.array([[1.0, 2.0], [3.0, 4.0]])
    decision = close(measured, expected, rtol=1e-6, what="the states")
    assert decision.verdict == Verdict.REFUTED
    assert decision.estimate == 0.5
    assert decision.sentence == ("the states: differs in 2 of 4 values by up to 0.5, first at [1, 0]: 3.5 against 3.0.")
    assert close(measured, expected, rtol=0.2, what="the states").verdict == Verdict.HOLDS


@given(st.lists(st.floats(-1e6, 1e6), min_size=1), st.floats(0, 1), st.floats(0, 1))
def test_closeness_is_numpys(values, rtol, atol):
    wanted = np.array(values)
    got = wanted[::-1].copy()
    holds = close(got, wanted, rtol=rtol, atol=atol, what="it").verdict == Verdict.HOLDS
    assert holds == np.allclose(got, wanted, rtol=rtol, atol=atol)


def test_infinities_are_close_to_themselves_alone():
    assert close([np.inf], [np.inf], rtol=0.0, what="it").verdict == Verdict.HOLDS
    for other in (-np.inf, 1.0):
        assert close([np.inf], [other], rtol=1.0, what="it").verdict == Verdict.REFUTED
        assert close([other], [np.inf], rtol=1.0, what="it").verdict == Verdict.REFUTED


def test_equality_of_numbers():
    assert same(np.arange(3), np.arange(3), what="it").sentence == "it: 3 values equal exactly."
    decision = same(np.array([1.0, 2.0]), np.array([1.0, 2.0 + 1e-15]), what="it")
    assert decision.verdict == Verdict.REFUTED
    assert "1 of 2 values" in decision.sentence
    assert "first at [1]" in decision.sentence
    assert same(25538, 25538, what="parameters").verdict == Verdict.HOLDS
    assert same(np.bool_(True), False, what="the default").verdict == Verdict.REFUTED


def test_equality_of_other_arrays():
    assert same(np.array(["a", "b"]), np.array(["a", "c"]), what="letters").sentence == (
        "letters: differs in 1 of 2 values, first at [1]: b against c."
    )
    assert same(np.array([True, False]), np.array([True, True]), what="it").estimate == 1.0
    assert close(np.array([True]), np.array([1.0]), rtol=0.0, what="it").verdict == Verdict.HOLDS
    assert close(1 + 1e-9j, 1 + 0j, rtol=1e-6, what="it").verdict == Verdict.HOLDS


def test_equality_of_other_things():
    assert same("123451234", "123451234", what="the string").verdict == Verdict.HOLDS
    assert same("1234", "1244", what="it").sentence == "it: '1234' instead of '1244', first at 2."
    assert same((2, 6), (2, 6, 3), what="shape").sentence == "shape: (2, 6) instead of (2, 6, 3), first at 2."
    assert same(None, "none", what="it").verdict == Verdict.REFUTED


@pytest.mark.parametrize("compare", [lambda a, b: close(a, b, rtol=1.0, what="it"), lambda a, b: same(a, b, what="it")])
def test_what_cannot_be_compared_is_loud(compare):
    with pytest.raises(ValueError, match=r"measured value at \[1\] is NaN"):
        compare(np.array([1.0, np.nan]), np.array([1.0, np.nan]))
    with pytest.raises(ValueError, match="expected value is NaN"):
        compare(np.float64(1), np.float64("nan"))
    with pytest.raises(ValueError, match="nothing is broadcast"):
        compare(np.zeros(3), np.zeros((1, 3)))
    with pytest.raises(ValueError, match="compares nothing"):
        compare(np.zeros((0, 3)), np.zeros((0, 3)))


def test_only_numbers_are_close():
    with pytest.raises(ValueError, match="only numbers"):
        close(["a"], ["a"], rtol=0.0, what="it")
    with pytest.raises(ValueError, match="tolerances"):
        close([1.0], [1.0], rtol=np.nan, what="it")

"""The correction for multiplicity: the textbook procedure, and what it does to the decisions of a run."""

from dataclasses import asdict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lesson_claims.deciders import (
    beats,
    better_than_shuffled,
    equivalent,
    plausible_draw,
    prediction,
    proportions,
    sign_test,
    that,
)
from lesson_claims.decisions import Decision, Verdict
from lesson_claims.results import multiplicity
from lesson_claims.results.multiplicity import q_values

probabilities = st.lists(st.floats(0, 1), min_size=1, max_size=40)
CLEAR = beats([1.0] * 5, 0.5)
OPEN = beats([1.0, 1.0, 1.0, 0.0, 0.0], 0.5)
LUCKY = plausible_draw("0.7", [0.5, 0.51, 0.52, 0.5, 0.49])
ORDINARY = plausible_draw("0.5", [0.5, 0.51, 0.52, 0.5, 0.49])


def rows(decisions):
    """Decisions as the rows of a table, as they are recorded."""
    return [{**asdict(decision), "verdict": decision.verdict.value, "alone": "", "alone_sentence": ""}
            for decision in decisions]  # fmt: skip


def corrected(decisions):
    result = multiplicity.corrected(rows(decisions))
    assert multiplicity.uncorrected(result) == rows(decisions)
    return [Decision(**{name: value for name, value in row.items() if "alone" not in name}) for row in result]


def test_the_rules_are_named_as_the_deciders_name_them():
    named = (multiplicity.LEVEL, multiplicity.PREDICTION, multiplicity.PERMUTATION)
    assert named == (sign_test.LEVEL, prediction.RULE, proportions.PERMUTATION)


@given(probabilities, st.floats(0.01, 0.2))
def test_it_is_the_step_up_procedure(p_values, level):
    p = np.sort(p_values)
    passing = np.flatnonzero(p <= level * np.arange(1, len(p) + 1) / len(p))
    threshold = p[passing[-1]] if len(passing) else -1.0
    q = q_values(p_values)
    # Away from the border, where rounding may tip either side.
    firm = np.abs(q - level) > 1e-12
    assert np.array_equal((q <= level)[firm], (np.array(p_values) <= threshold)[firm])


@given(probabilities, st.randoms())
def test_the_order_of_tests_does_not_matter(p_values, random):
    order = random.sample(range(len(p_values)), len(p_values))
    assert np.array_equal(q_values(np.array(p_values)[order]), q_values(p_values)[order])


@given(probabilities)
def test_correction_never_helps(p_values):
    assert np.all(q_values(p_values) >= np.array(p_values) - 1e-15)


def test_no_test_needs_no_correction():
    assert q_values([]).shape == (0,)
    assert corrected([]) == []


@pytest.mark.parametrize("p_values", [[0.1, np.nan], [-0.1], [1.1], [[0.1]]])
def test_p_values_that_are_none_are_loud(p_values):
    with pytest.raises(ValueError, match="between 0 and 1"):
        q_values(p_values)


def test_five_unanimous_seeds_stand_while_five_in_eight_tests_are_clear():
    assert corrected([CLEAR]) == [CLEAR]
    run = [CLEAR] * 25 + [OPEN] * 15
    assert corrected(run) == run
    fallen = corrected([CLEAR] * 24 + [OPEN] * 16)
    assert {decision.verdict for decision in fallen} == {Verdict.INCONCLUSIVE}
    assert fallen[-1] == OPEN
    assert fallen[0].sentence.endswith(
        "Alone it would count as holds; among 40 tests it does not (corrected p = 0.052, above 0.05)."
    )


@pytest.mark.parametrize("clear", [1, 5, 24])
def test_needed_is_the_number_of_seeds_at_which_it_stands(clear):
    needed = corrected([CLEAR] * clear + [OPEN] * 16)[0].needed
    for seeds, stands in ((needed - 1, False), (needed, True)):
        again = corrected([beats([1.0] * seeds, 0.5)] * clear + [OPEN] * 16)
        assert (again[0].verdict == Verdict.HOLDS) is stands


def test_refutations_fall_too_and_facts_stay():
    fact = that(False, "It is not so.")
    refuted = equivalent([1.0] * 5, 0.5, margin=0.1)
    run = corrected([fact, refuted, OPEN, OPEN])
    assert [decision.verdict for decision in run] == [Verdict.REFUTED, *[Verdict.INCONCLUSIVE] * 3]
    assert run[0] == fact


def test_printed_figures_are_a_family_of_their_own():
    assert corrected([LUCKY, ORDINARY, CLEAR]) == [LUCKY, ORDINARY, CLEAR]
    border = plausible_draw("0.547", [0.5, 0.51, 0.52, 0.5, 0.49])
    assert border.verdict == Verdict.REFUTED
    run = corrected([border] + [ORDINARY] * 10)
    assert (run[0].verdict, run[0].needed) == (Verdict.INCONCLUSIVE, None)
    assert run[1:] == [ORDINARY] * 10


def test_more_seeds_are_not_what_a_shuffle_needs():
    shuffled = better_than_shuffled(1.0, np.zeros(19))
    assert shuffled.verdict == Verdict.HOLDS
    assert corrected([shuffled, OPEN, OPEN])[0].needed is None

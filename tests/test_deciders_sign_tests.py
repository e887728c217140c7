"""The sign tests: what they decide, the seeds they ask for, and their symmetries."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from lesson_claims.deciders import beats, equivalent, median_interval
from lesson_claims.deciders.sign_test import LEVEL, MOST_SEEDS, majority
from lesson_claims.decisions import Verdict

# Hundredths: values that tie, as accuracies on a validation set do.
accuracies = st.integers(0, 100).map(lambda k: k / 100)
pairs = st.lists(st.tuples(accuracies, accuracies), min_size=1, max_size=30).map(lambda rows: np.array(rows).T)
margins = st.integers(1, 60).map(lambda k: k / 100)
ORDER = [Verdict.REFUTED, Verdict.INCONCLUSIVE, Verdict.HOLDS]
MIRRORED = dict(zip(ORDER, reversed(ORDER), strict=True))


def test_five_unanimous_seeds_decide():
    decision = beats([0.99, 0.98, 0.97, 0.9, 0.95], [0.6, 0.6, 0.65, 0.61, 0.63], by=0.02, names=("GRU", "RNN"))
    assert decision.verdict == Verdict.HOLDS
    assert (decision.p, decision.seeds, decision.needed) == (1 / 32, 5, None)
    assert decision.sentence == (
        "GRU exceeds RNN by more than 0.02 in 5 of 5 seeds (p = 0.031); "
        "median difference 0.32 (0.29 to 0.39), mean 0.34."
    )
    assert (decision.low, decision.high) == pytest.approx((0.29, 0.39))


def test_four_unanimous_seeds_ask_for_a_fifth():
    decision = beats([1.0, 1.0, 1.0, 1.0], 0.5)
    assert (decision.verdict, decision.needed, decision.low) == (Verdict.INCONCLUSIVE, 5, None)


def test_no_harm_is_a_negative_by():
    decision = beats([0.5] * 5, [0.51] * 5, by=-0.02, names=("clipped", "unclipped"))
    assert decision.verdict == Verdict.HOLDS
    assert "clipped falls short of unclipped by less than 0.02, if at all, in 5 of 5 seeds" in decision.sentence


@pytest.mark.parametrize("seeds", [5, 20, 100])
def test_ties_decide_nothing_and_no_number_of_seeds_would(seeds):
    for decision in (beats([0.52] * seeds, 0.5, by=0.02), equivalent([0.52] * seeds, 0.5, margin=0.02)):
        assert (decision.verdict, decision.needed) == (Verdict.INCONCLUSIVE, None)
        assert f"{seeds} tied" in decision.sentence


def test_equivalence_refuses_pluses_that_balance_minuses():
    assert equivalent([0.3, 0.7] * 10, 0.5, margin=0.03).verdict == Verdict.REFUTED
    assert equivalent([0.49, 0.51] * 10, 0.5, margin=0.03).verdict == Verdict.HOLDS


@pytest.mark.parametrize(("yes", "seeds"), [(4, 5), (3, 5), (7, 10), (14, 20), (11, 20), (3, 4), (1, 1), (58, 100)])
def test_needed_is_the_first_number_of_seeds_that_decides(yes, seeds):
    needed = majority(yes, seeds - yes, seeds).needed

    def decides(later):
        return stats.binomtest(yes * later // seeds, later, alternative="greater").pvalue <= LEVEL

    expected = next((later for later in range(seeds + 1, MOST_SEEDS + 1) if decides(later)), None)
    assert needed == expected
    assert needed is not None
    assert majority(seeds - yes, yes, seeds).needed == needed


def test_needed_is_absent_for_an_even_split():
    assert majority(10, 10, 20).needed is None


@given(st.integers(1, 60), st.data())
def test_p_is_the_exact_binomial_test(seeds, data):
    yes = data.draw(st.integers(0, seeds))
    found = majority(yes, seeds - yes, seeds)
    tests = [stats.binomtest(k, seeds, alternative="greater").pvalue for k in (yes, seeds - yes)]
    assert found.p == pytest.approx(min(tests))
    assert found.verdict == (
        Verdict.HOLDS if tests[0] <= LEVEL else Verdict.REFUTED if tests[1] <= LEVEL else Verdict.INCONCLUSIVE
    )


@given(pairs, st.integers(-50, 50).map(lambda k: k / 100))
def test_beats_is_antisymmetric(pair, by):
    forward, backward = beats(pair[0], pair[1], by=by), beats(pair[1], pair[0], by=-by)
    assert backward.verdict == MIRRORED[forward.verdict]
    assert backward.p == forward.p
    assert backward.estimate == pytest.approx(-forward.estimate)


@given(pairs, margins)
def test_equivalence_is_symmetric(pair, margin):
    assert equivalent(pair[0], pair[1], margin=margin).verdict == equivalent(pair[1], pair[0], margin=margin).verdict


@given(pairs, margins, margins)
def test_asking_for_more_never_helps(pair, one, other):
    less, more = sorted([one, other])
    assert ORDER.index(beats(*pair, by=more).verdict) <= ORDER.index(beats(*pair, by=less).verdict)
    wide, narrow = equivalent(*pair, margin=more), equivalent(*pair, margin=less)
    assert ORDER.index(narrow.verdict) <= ORDER.index(wide.verdict)


@given(pairs, margins, st.randoms())
def test_the_order_of_seeds_does_not_matter(pair, margin, random):
    order = random.sample(range(pair.shape[1]), pair.shape[1])
    for before, after in (
        (beats(*pair, by=margin), beats(*pair[:, order], by=margin)),
        (equivalent(*pair, margin=margin), equivalent(*pair[:, order], margin=margin)),
    ):
        assert (before.verdict, before.p, before.estimate, before.low) == (
            after.verdict, after.p, after.estimate, after.low,
        )  # fmt: skip


@given(pairs, margins)
def test_signs_alone_decide(pair, margin):
    difference = np.round((pair[0] - pair[1]) * 100) / 100
    beat, equal = beats(*pair), equivalent(*pair, margin=margin)
    assert beats(np.sign(difference), 0.0).verdict == beat.verdict
    inside = np.sign(np.round((margin - np.abs(difference)) * 100))
    assert majority(int((inside > 0).sum()), int((inside < 0).sum()), len(inside)).verdict == equal.verdict


@given(pairs, margins)
def test_what_is_equivalent_is_beaten_by_less_than_the_margin(pair, margin):
    if equivalent(*pair, margin=margin).verdict == Verdict.HOLDS:
        assert beats(*pair, by=-margin).verdict == Verdict.HOLDS
        assert beats(*pair, by=margin).verdict == Verdict.REFUTED


@given(pairs, st.integers(0, 29), st.sampled_from([np.nan, np.inf, -np.inf]))
def test_a_run_without_a_number_is_loud(pair, place, value):
    pair[0, place % pair.shape[1]] = value
    for decide in (lambda: beats(*pair), lambda: beats(*pair[::-1]), lambda: equivalent(*pair, margin=0.1)):
        with pytest.raises(ValueError, match="gave no finite number"):
            decide()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: beats([], []), "non-empty"),
        (lambda: beats([1.0, 2.0], [1.0]), "pair by seed"),
        (lambda: beats([[1.0]], 0.0), "1 axes"),
        (lambda: beats([1.0], 0.0, by=np.nan), "by must be"),
        (lambda: beats([1.0], 0.0, level=0.5), "level must lie"),
        (lambda: equivalent([1.0], 0.0, margin=0.0), "margin must be"),
        (lambda: equivalent([1.0], 0.0, margin=np.nan), "margin must be"),
    ],
)
def test_bad_input_is_one_clear_line(call, message):
    with pytest.raises(ValueError, match=message) as caught:
        call()
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("seeds", [5, 6, 10, 20, 41])
@pytest.mark.parametrize("level", [0.05, 0.01])
def test_the_median_interval_errs_at_most_at_its_level_and_not_less_than_it_must(seeds, level):
    interval = median_interval(np.arange(1, seeds + 1), level=level)
    if interval is None:
        assert 0.5**seeds > level
        return
    low, high = (int(end) for end in interval)
    # The k-th smallest exceeds the median when fewer than k of the values lie below it.
    assert stats.binom.cdf(low - 1, seeds, 0.5) <= level < stats.binom.cdf(low, seeds, 0.5)
    assert high == seeds + 1 - low


@given(pairs, margins)
def test_the_median_interval_agrees_with_the_test(pair, by):
    decision = beats(*pair, by=by)
    if decision.low is not None:
        assert (decision.verdict == Verdict.HOLDS) == (decision.low > by + 1e-9)
        assert (decision.verdict == Verdict.REFUTED) == (decision.high < by - 1e-9)

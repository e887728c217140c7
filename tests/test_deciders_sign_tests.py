"""The sign tests: what they decide, and their symmetries."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from lesson_claims.deciders import beats, equivalent, in_most_seeds, median_interval
from lesson_claims.deciders.e_values import majority_e
from lesson_claims.deciders.sign_test import majority
from lesson_claims.decisions import LEVEL, Decision, Verdict

# Hundredths: values that tie, as accuracies on a validation set do.
accuracies = st.integers(0, 100).map(lambda k: k / 100)
pairs = st.lists(st.tuples(accuracies, accuracies), min_size=1, max_size=30).map(lambda rows: np.array(rows).T)
margins = st.integers(1, 60).map(lambda k: k / 100)
ORDER = [Verdict.REFUTED, Verdict.INCONCLUSIVE, Verdict.HOLDS]
MIRRORED = dict(zip(ORDER, reversed(ORDER), strict=True))


def test_five_unanimous_seeds_decide():
    decision = beats([0.99, 0.98, 0.97, 0.9, 0.95], [0.6, 0.6, 0.65, 0.61, 0.63], by=0.02, names=("GRU", "RNN"))
    assert decision.verdict == Verdict.HOLDS
    assert (decision.p, decision.level, decision.seeds) == (1 / 32, LEVEL, 5)
    assert decision.sentence == (
        "GRU exceeds RNN by more than 0.02 in 5 of 5 seeds; the first minus the second: median 0.32 (0.29 to 0.39)."
    )
    assert (decision.low, decision.high) == pytest.approx((0.29, 0.39))


def test_four_unanimous_seeds_decide_nothing():
    decision = beats([1.0, 1.0, 1.0, 1.0], 0.5)
    assert (decision.verdict, decision.p, decision.low) == (Verdict.INCONCLUSIVE, 1 / 16, None)


def test_no_harm_is_a_negative_by():
    decision = beats([0.5] * 5, [0.51] * 5, by=-0.02, names=("clipped", "unclipped"))
    assert decision.verdict == Verdict.HOLDS
    assert "clipped falls short of unclipped by less than 0.02, or not at all, in 5 of 5 seeds" in decision.sentence


@pytest.mark.parametrize("seeds", [5, 20, 100])
def test_a_tie_is_no_win_and_no_difference_beyond_the_margin(seeds):
    beaten, equal = beats([0.52] * seeds, 0.5, by=0.02), equivalent([0.52] * seeds, 0.5, margin=0.02)
    assert (beaten.verdict, equal.verdict) == (Verdict.REFUTED, Verdict.INCONCLUSIVE)
    assert all(f"{seeds} tied" in decision.sentence for decision in (beaten, equal))
    assert (beaten.tested.wins, equal.tested.wins) == (0, 0)
    assert beats([0.5] * seeds, [0.5] * seeds).verdict == Verdict.REFUTED


def test_ties_count_among_the_seeds_of_either_direction():
    assert beats([1.0] * 5 + [0.0] * 3, 0.0).p == pytest.approx(stats.binom.sf(4, 8, 0.5))
    assert equivalent([0.0] * 4 + [0.1] * 6, 0.0, margin=0.1).verdict == Verdict.INCONCLUSIVE


def test_what_happens_in_most_seeds():
    decision = in_most_seeds([True] * 9 + [False], what="the loss falls")
    assert (decision.verdict, decision.seeds, decision.estimate, decision.tested.wins) == (Verdict.HOLDS, 10, 0.9, 9)
    assert decision.sentence == "the loss falls: in 9 of 10 seeds."
    interval = stats.binomtest(9, 10).proportion_ci(0.9, method="exact")
    assert (decision.low, decision.high) == pytest.approx((interval.low, interval.high))
    assert in_most_seeds([False] * 6, what="it").verdict == Verdict.REFUTED
    assert in_most_seeds(np.array([True, False] * 4), what="it").verdict == Verdict.INCONCLUSIVE


@pytest.mark.parametrize(
    ("happened", "error"),
    [([], ValueError), ([[True]], ValueError), ([1, 0], TypeError), ([0.9], TypeError), ([np.nan], TypeError)],
)
def test_only_truth_values_happen(happened, error):
    with pytest.raises(error, match="it: "):
        in_most_seeds(happened, what="it")


def test_equivalence_refuses_pluses_that_balance_minuses():
    assert equivalent([0.3, 0.7] * 10, 0.5, margin=0.03).verdict == Verdict.REFUTED
    assert equivalent([0.49, 0.51] * 10, 0.5, margin=0.03).verdict == Verdict.HOLDS


@given(st.integers(1, 60), st.data(), st.booleans())
def test_p_is_the_exact_binomial_test(seeds, data, ties_refute):
    yes = data.draw(st.integers(0, seeds))
    no = data.draw(st.integers(0, seeds - yes))
    found = majority(yes, no, seeds, ties_refute=ties_refute)
    against = seeds - yes if ties_refute else no
    expected = [stats.binomtest(k, seeds, alternative="greater").pvalue for k in (yes, against)]
    assert (found.p_holds, found.p_refuted) == pytest.approx(tuple(expected))
    evidence = [float(majority_e(k, seeds - k)) for k in (yes, against)]
    assert (found.e_holds, found.e_refuted) == pytest.approx(tuple(evidence))
    assert found.wins == yes


@given(pairs, st.integers(-50, 50).map(lambda k: k / 100))
def test_beats_is_antisymmetric_but_for_ties(pair, by):
    forward, backward = beats(pair[0], pair[1], by=by), beats(pair[1], pair[0], by=-by)
    ties = len(pair[0]) - forward.tested.wins - backward.tested.wins
    assert ties >= 0
    assert backward.estimate == pytest.approx(-forward.estimate)
    if not ties:
        assert backward.verdict == MIRRORED[forward.verdict]
        assert backward.p == forward.p
    assert not (forward.verdict == backward.verdict == Verdict.HOLDS)


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
    counted = majority(int((inside > 0).sum()), int((inside < 0).sum()), len(inside))
    assert Decision.of_test(counted, "Found.", "rule", 0.0, None).verdict == equal.verdict


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
        (lambda: equivalent([1.0], 0.0, margin=0.0), "margin must be"),
        (lambda: equivalent([1.0], 0.0, margin=np.nan), "margin must be"),
    ],
)
def test_bad_input_is_one_clear_line(call, message):
    with pytest.raises(ValueError, match=message) as caught:
        call()
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("seeds", [4, 5, 6, 10, 20, 41])
def test_the_median_interval_errs_at_most_at_its_level_and_not_less_than_it_must(seeds):
    interval = median_interval(np.arange(1, seeds + 1))
    if interval is None:
        assert 0.5**seeds > LEVEL
        return
    low, high = (int(end) for end in interval)
    # The k-th smallest exceeds the median when fewer than k of the values lie below it.
    assert stats.binom.cdf(low - 1, seeds, 0.5) <= LEVEL < stats.binom.cdf(low, seeds, 0.5)
    assert high == seeds + 1 - low


@given(pairs, margins)
def test_the_median_interval_agrees_with_the_test(pair, by):
    decision = beats(*pair, by=by)
    if decision.low is not None:
        assert (decision.verdict == Verdict.HOLDS) == (decision.low > by + 1e-9)
        # A tie is no win, so that an interval which ends at a tie is refuted.
        assert (decision.verdict == Verdict.REFUTED) == (decision.high < by + 1e-9)

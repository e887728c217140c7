"""E-values and the looks at them: fair bets, so that no number of looks makes an error likelier than stated."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from lesson_claims.deciders.e_values import BETS, majority_e, share_e
from lesson_claims.looks import CAP, looks

counts = st.integers(0, 300)
shares = st.integers(0, 100).map(lambda k: k / 100)


def test_the_gambler_starts_with_one():
    assert sum(part for part, _ in BETS) == pytest.approx(1)
    assert all(0 < stake <= 1 for _, stake in BETS)
    assert majority_e(0, 0) == pytest.approx(1)
    for above in (True, False):
        assert share_e(0, 0, 0.3, above=above) == pytest.approx(1)


@given(counts, counts, st.integers(0, 50).map(lambda k: k / 100))
def test_where_no_majority_is_the_evidence_is_never_expected_to_grow(wins, others, truth):
    expected = truth * majority_e(wins + 1, others) + (1 - truth) * majority_e(wins, others + 1)
    assert expected <= majority_e(wins, others) * (1 + 1e-12)
    if truth == 0.5:
        assert expected == pytest.approx(majority_e(wins, others))


@given(counts, counts, shares, shares, st.booleans())
def test_where_the_share_is_not_beyond_its_limit_the_evidence_is_never_expected_to_grow(
    hits, misses, limit, truth, above
):
    if (truth > limit) is above and truth != limit:
        truth = limit
    now, hit, miss = (
        float(share_e(hits + more, hits + misses + after, limit, above=above))
        for more, after in ((0, 0), (1, 1), (0, 1))
    )
    if not np.isfinite(now):  # what has shown the limit to be impossible shows it for ever
        assert hit == miss == np.inf
        return
    expected = (truth * hit if truth else 0.0) + ((1 - truth) * miss if truth < 1 else 0.0)
    assert expected <= now * (1 + 1e-6) + 1e-12


@given(counts, counts)
def test_a_win_speaks_for_and_another_seed_against(wins, others):
    assert majority_e(wins + 1, others) >= majority_e(wins, others) >= majority_e(wins, others + 1)
    for limit in (0.1, 0.5, 0.99):
        trials = wins + others + 1
        more, fewer = share_e(wins + 1, trials, limit, above=True), share_e(wins, trials, limit, above=True)
        assert more >= fewer
        more, fewer = share_e(wins + 1, trials, limit, above=False), share_e(wins, trials, limit, above=False)
        assert more <= fewer


def test_both_are_elementwise():
    table = majority_e(np.arange(3)[:, None], np.arange(4))
    assert table.shape == (3, 4)
    assert table[2, 1] == majority_e(2, 1)
    table = share_e(np.arange(3), 5, 0.5, above=True)
    assert table[2] == share_e(2, 5, 0.5, above=True)


@pytest.mark.filterwarnings("error")
def test_no_number_of_seeds_overflows():
    evidence = majority_e([0, 10**6, 10**6, 10**6], [10**6, 0, 10**5, 10**6])
    assert np.all(np.isfinite(evidence))
    assert evidence[1] >= evidence[2] > 1e200
    assert evidence[3] < 1e-200
    assert share_e(10**6, 10**6, 0.5, above=True) == np.inf
    assert share_e(0, 10**6, 0.5, above=True) < 1e-6


def test_limits_at_the_ends():
    assert share_e(5, 5, 1.0, above=True) == 0, "no share lies above 1"
    assert share_e(0, 5, 0.0, above=False) == 0
    assert share_e(4, 5, 1.0, above=False) == np.inf, "one failure, and the share is not 1"
    assert share_e(1, 5, 0.0, above=True) == np.inf
    assert share_e(5, 5, 1.0, above=False) < 1


def crossings(evidence, truth, bar, seeds=200):
    """Return the probability that the evidence reaches the bar at any seed up to the last."""
    state, crossed = np.ones(1), 0.0
    for n in range(1, seeds + 1):
        state = np.convolve(state, [1 - truth, truth])
        wins = np.arange(n + 1)
        high = evidence(wins, n) >= bar
        crossed += state[high].sum()
        state = np.where(high, 0.0, state)
    return crossed


@pytest.mark.parametrize("bar", [20, 24.7, 104.4, 1000])
@pytest.mark.parametrize("truth", [0.3, 0.5])
def test_a_look_after_every_seed_errs_no_more_often_than_stated(bar, truth):
    assert crossings(lambda wins, n: majority_e(wins, n - wins), truth, bar) <= 1 / bar


@pytest.mark.parametrize("limit", [0.1, 0.5, 0.9])
@pytest.mark.parametrize("above", [True, False])
def test_a_share_looked_at_after_every_trial_errs_no_more_often_than_stated(limit, above):
    for truth in (limit, limit - 0.05 if above else limit + 0.05):
        assert crossings(lambda wins, n: share_e(wins, n, limit, above=above), truth, 24.7) <= 1 / 24.7


def test_a_p_value_followed_from_seed_to_seed_would_err_more_often():
    followed = crossings(lambda wins, n: 1 / stats.binom.sf(wins - 1, n, 0.5), 0.5, 20, seeds=100)
    assert followed > 3 / 20


def test_six_seeds_of_one_mind_decide_and_one_against_is_made_up_for():
    at = {(wins, others): float(majority_e(wins, others)) for wins, others in ((6, 0), (5, 0), (11, 1), (16, 4))}
    assert at[5, 0] < 20 < 24.7 < at[6, 0]
    assert min(at[11, 1], at[16, 4]) > 24.7


def test_a_higher_cap_goes_on_where_a_lower_one_ended():
    assert looks(100)[: len(looks(CAP))] == looks(CAP)

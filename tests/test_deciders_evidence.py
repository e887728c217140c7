"""Printed figures, growth, shares and shuffles."""

import functools

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats

from lesson_claims.deciders import better_than_shuffled, grows, prediction_interval, share
from lesson_claims.decisions import Levels, Verdict

LSTM = [0.72, 0.70, 0.71, 0.65, 0.73]
samples = st.lists(st.integers(0, 1000).map(lambda k: k / 1000), min_size=3, max_size=25)


def test_the_prediction_interval_is_students():
    low, high = prediction_interval(LSTM)
    reach = stats.t.ppf(0.975, 4) * np.std(LSTM, ddof=1) * np.sqrt(1.2)
    assert (low, high) == pytest.approx((np.mean(LSTM) - reach, np.mean(LSTM) + reach))
    assert prediction_interval([0.99, 1.0, 0.95, 1.0], bounds=(0, 1))[1] == 1.0
    assert prediction_interval([0.5, 0.6]) is None
    assert prediction_interval([1.0] * 5) == (1.0, 1.0)


@given(samples, st.floats(0.5, 0.98))
def test_the_prediction_interval_holds_its_seeds_and_grows_with_coverage(values, coverage):
    narrow, wide = prediction_interval(values, coverage, (0, 1)), prediction_interval(values, 0.99, (0, 1))
    assert 0 <= wide[0] <= narrow[0] <= min(values) <= max(values) <= narrow[1] <= wide[1] <= 1


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: prediction_interval([0.5, np.nan, 0.5]), "is nan at index"),
        (lambda: prediction_interval([0.5, 0.5, 1.5], bounds=(0, 1)), "beyond its bounds"),
        (lambda: prediction_interval([0.5, 0.5, 0.5], coverage=1.0), "coverage must lie"),
    ],
)
def test_samples_without_an_interval_are_loud(call, message):
    with pytest.raises(ValueError, match=message):
        call()


X = np.array([5.0, 10.0, 20.0, 40.0])


@pytest.mark.parametrize(
    ("law", "y"),
    [("constant", 0 * X + 7), ("linear", 12 * X + 5), ("quadratic", 2 * X**2 + 64 * X)],
)
def test_counts_follow_one_law_exactly(law, y):
    verdicts = {other: grows(X, y, law=other).verdict for other in ("constant", "linear", "quadratic")}
    assert verdicts.pop(law) == Verdict.HOLDS
    assert set(verdicts.values()) == {Verdict.REFUTED}
    one_more = y + np.array([0, 0, 1, 0])
    assert grows(X, one_more, law=law).verdict == Verdict.REFUTED


def test_counts_of_any_size_are_exact():
    assert grows(X, 2.0**40 * X + X**2, law="linear").verdict == Verdict.REFUTED
    assert grows(X, 1000 - 3 * X, law="linear").verdict == Verdict.REFUTED


def test_decay_over_initialisations():
    rates = np.linspace(0.3, 0.9, 9)[:, None]
    decision = grows(X, np.exp(-rates * X), law="exponential", slope=(-np.inf, -0.1), what="the gradient")
    assert decision.verdict == Verdict.HOLDS
    assert decision.estimate == pytest.approx(-0.6)
    assert decision.sentence.startswith(
        "the gradient has a slope of log y over x below -0.1 with R² ≥ 0.95 in 9 of 9 seeds; "
    )
    assert grows(X, np.exp(-rates * X), law="exponential").verdict == Verdict.REFUTED
    assert grows(X, np.exp(-rates[:4] * X), law="exponential").verdict == Verdict.INCONCLUSIVE


@pytest.mark.parametrize(
    ("law", "y"), [("linear", 3.5 * X), ("quadratic", 0.1 * X**2), ("constant", 0 * X + 0.3), ("exponential", 2**X)]
)
def test_one_measured_line(law, y):
    assert grows(X, y, law=law).verdict == Verdict.HOLDS
    assert grows(X, np.tile(y, (5, 1)), law=law).verdict == Verdict.HOLDS
    others = {"linear", "quadratic", "constant"} - {law}
    assert {grows(X, y, law=other).verdict for other in others} == {Verdict.REFUTED}


def test_a_poor_fit_is_no_law():
    jumps = np.exp(np.array([0.0, 3.0, -1.0, 4.0]))
    assert grows(X, jumps, law="exponential").verdict == Verdict.REFUTED
    assert grows(X, jumps, law="exponential", fit=0.1).verdict == Verdict.HOLDS


# Several slopes, because rounding moves some of them off their limit.
@pytest.mark.parametrize("limit", [-0.1, -0.2, -0.3, -0.7, -0.9])
def test_a_slope_at_its_limit_is_a_tie(limit):
    x = np.array([3.0, 7.0, 11.0, 13.0])
    y = np.tile(np.exp(limit * x), (20, 1))
    for limits in ((-np.inf, limit), (limit, np.inf)):
        decision = grows(x, y, law="exponential", slope=limits)
        assert (decision.verdict, decision.p) == (Verdict.INCONCLUSIVE, 1.0)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: grows(X, X, law="cubic"), "law must be one of"),
        (lambda: grows(X[:2], X[:2], law="linear"), "at least 3 increasing"),
        (lambda: grows(X[::-1], X, law="linear"), "increasing values"),
        (lambda: grows(X, X[:3], law="linear"), "y must have shape"),
        (lambda: grows(X, [1.5, 0.0, 1.0, 1.0], law="exponential"), "y must be positive"),
        (lambda: grows(X, [1.5, np.nan, 1.0, 1.0], law="linear"), "y is nan"),
        (lambda: grows(X - 5, X + 0.5, law="linear"), "x must be positive"),
    ],
)
def test_growth_that_cannot_be_judged_is_loud(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_a_fair_coin():
    decision = share(8_010, 16_000, equals=0.5, margin=0.02, what="the share of label 1")
    assert decision.verdict == Verdict.HOLDS
    # Rows are no seeds: nothing is counted by seed, and more seeds would not decide it.
    assert (decision.seeds, decision.tested.wins, decision.estimate) == (0, None, 8_010 / 16_000)
    assert share(9_000, 16_000, equals=0.5, margin=0.02).verdict == Verdict.REFUTED


@given(st.integers(1, 200), st.data(), st.floats(0.05, 0.95))
def test_shares_are_exact_binomial_tests(trials, data, limit):
    successes = data.draw(st.integers(0, trials))
    decision = share(successes, trials, at_least=limit)
    above = stats.binomtest(successes, trials, limit, alternative="greater").pvalue
    below = stats.binomtest(successes, trials, limit, alternative="less").pvalue
    assume(min(abs(above - 0.05), abs(below - 0.05)) > 1e-9)
    assert decision.p == pytest.approx(min(above, below))
    assert (decision.verdict == Verdict.HOLDS) == (above <= 0.05)
    assert (decision.verdict == Verdict.REFUTED) == (below <= 0.05)
    interval = stats.binomtest(successes, trials).proportion_ci(0.9, method="exact")
    assert (decision.low, decision.high) == pytest.approx((interval.low, interval.high))
    mirrored = share(trials - successes, trials, at_most=1 - limit)
    assert mirrored.verdict == decision.verdict


@given(st.integers(1, 300), st.data(), st.floats(0.1, 0.9), st.floats(0.02, 0.3))
def test_two_sides_spend_the_level_once(trials, data, equals, margin):
    low, high = max(0.0, equals - margin), min(1.0, equals + margin)
    assume(low > 0 and high < 1)
    successes = data.draw(st.integers(0, trials))
    found = share(successes, trials, equals=equals, margin=margin, of_seeds=True).tested
    below, above = stats.binom.cdf(successes, trials, low), stats.binom.sf(successes - 1, trials, high)
    assert found.p_refuted == pytest.approx(min(1, 2 * min(below, above)))
    one, other = (share(successes, trials, **{side: limit}, of_seeds=True).tested
                  for side, limit in (("at_least", low), ("at_most", high)))  # fmt: skip
    assert found.e_refuted == pytest.approx((one.e_refuted + other.e_refuted) / 2)
    assert found.e_holds == min(one.e_holds, other.e_holds)
    assert found.p_holds == max(one.p_holds, other.p_holds)


@functools.cache
def within_a_tenth_of_one_half(successes, trials):
    found = share(successes, trials, equals=0.5, margin=0.1, of_seeds=True)
    return found.at(Levels(1e-12, 0.05, every_look=True)).verdict != Verdict.REFUTED


@pytest.mark.parametrize("truth", [0.4, 0.5, 0.6])
def test_a_share_within_its_margin_is_refuted_at_most_at_the_level_however_often_one_looks(truth):
    alive = np.array([1.0])
    for trials in range(1, 31):
        alive = np.append(alive * (1 - truth), 0) + np.append(0, alive * truth)
        alive *= [within_a_tenth_of_one_half(successes, trials) for successes in range(trials + 1)]
    assert 1 - alive.sum() <= 0.05


def test_runs_count_as_seeds_and_rows_do_not():
    runs = share(19, 20, at_least=0.5, of_seeds=True)
    assert (runs.seeds, runs.tested.wins) == (20, 19)
    assert share(19, 20, at_most=0.5, of_seeds=True).tested.wins == 1
    assert share(19, 20, equals=0.5, margin=0.1, of_seeds=True).tested.wins is None
    rows = share(19, 20, at_least=0.5)
    assert (rows.seeds, rows.tested.wins) == (0, None)


@given(st.integers(1, 60), st.data(), st.floats(0.05, 0.95))
def test_rows_are_decided_by_their_exact_p_also_where_seeds_are_added(trials, data, limit):
    """Their number is fixed, so that nothing is to be paid for looking again."""
    successes = data.draw(st.integers(0, trials))
    rows = share(successes, trials, at_least=limit)
    levels = [Levels(0.01, 0.02, every_look=every_look) for every_look in (False, True)]
    fixed, looked = (rows.at(each) for each in levels)
    assume(all(abs(p - level) > 1e-9 for p in (rows.tested.p_holds, rows.tested.p_refuted) for level in (0.01, 0.02)))
    assert fixed.verdict == looked.verdict
    assert fixed.p == pytest.approx(looked.p)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: share(5, 4, at_least=0.5), "impossible"),
        (lambda: share(0, 0, at_least=0.5), "impossible"),
        (lambda: share(1, 2), "give one of"),
        (lambda: share(1, 2, at_least=0.5, at_most=0.5), "give one of"),
        (lambda: share(1, 2, at_least=np.nan), "give one of"),
        (lambda: share(1, 2, equals=0.5), "positive margin"),
        (lambda: share(1, 2, at_least=0.5, margin=0.1), "positive margin"),
        (lambda: share(1, 2, at_least=0.0), "cannot fail"),
        (lambda: share(1, 2, equals=0.5, margin=0.5), "cannot fail"),
        (lambda: better_than_shuffled(np.nan, np.zeros(99)), "statistic is nan"),
        (lambda: better_than_shuffled(1.0, np.full(99, np.nan)), "permuted statistics is nan"),
        (lambda: better_than_shuffled(1.0, np.zeros(18)), "draw at least 19"),
        (lambda: better_than_shuffled([1.0, 1.0], np.zeros(99)), "2 axes"),
    ],
)
def test_shares_and_shuffles_that_cannot_be_judged_are_loud(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_beating_the_shuffles():
    shuffles = np.linspace(0, 1, 99)
    assert better_than_shuffled(2.0, shuffles).p == 1 / 100
    assert better_than_shuffled(2.0, shuffles).verdict == Verdict.HOLDS
    assert better_than_shuffled(-1.0, shuffles).verdict == Verdict.REFUTED
    assert better_than_shuffled(0.5, shuffles).verdict == Verdict.INCONCLUSIVE
    decision = better_than_shuffled([2.0] * 8 + [0.6], np.stack([shuffles] * 8 + [shuffles[::-1]]), what="the gain")
    assert (decision.verdict, decision.seeds, decision.tested.wins) == (Verdict.HOLDS, 9, 8)
    assert decision.sentence == "the gain exceeds what 99 shuffles of the labels give: in 8 of 9 seeds."
    assert better_than_shuffled([0.6] * 9, np.stack([shuffles] * 9)).verdict == Verdict.REFUTED


def test_shuffles_that_all_tie_decide_nothing():
    assert better_than_shuffled(1.0, np.ones(99)).p == 1.0


def test_shuffles_are_decided_by_their_p_also_where_seeds_are_added():
    decision = better_than_shuffled(2.0, np.linspace(0, 1, 999)).at(Levels(0.002, 0.002, every_look=True))
    assert (decision.verdict, decision.p, decision.tested.wins) == (Verdict.HOLDS, pytest.approx(1 / 1000), None)

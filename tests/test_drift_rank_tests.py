"""The statistics of drift: exact while nothing changes, whatever the distribution; and the promised rates."""

from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import ndtri
from scipy.stats import kstest

from lesson_claims.drift.populations import shapes
from lesson_claims.drift.rank_tests import (
    CHUNK,
    OVERLAP,
    WINDOWS,
    Nights,
    alarms,
    conformal_scores,
    first_alarm,
    tie_breakers,
)
from lesson_claims.drift.tails import LEAST_REFERENCE


def scores(values, rng):
    return np.concatenate(conformal_scores(list(values), list(rng.random(values.shape))))


@pytest.mark.parametrize("population", shapes(), ids=lambda p: p.figure)
def test_scores_are_standard_normal_whatever_the_distribution(population):
    rng = np.random.default_rng(1)
    z = scores(population.draw(rng, (400, 10)), rng)
    assert kstest(z, "norm").pvalue > 1e-3
    assert abs(np.corrcoef(z[:-1], z[1:])[0, 1]) < 4 / np.sqrt(len(z))


@given(st.lists(st.lists(st.sampled_from([0.0, 0.5, 1.0]), min_size=1, max_size=4), min_size=1, max_size=5))
def test_scores_are_the_ranks_that_the_formula_says(values):
    ties = [np.full(len(night), 0.5) for night in values]
    found = np.concatenate(conformal_scores([np.array(night) for night in values], ties))
    flat = [value for night in values for value in night]
    for place, value in enumerate(flat):
        smaller = sum(other < value for other in flat[:place])
        equal = sum(other == value for other in flat[:place])
        rank = (smaller + 0.5 * (equal + 1)) / (place + 1)
        assert np.isclose(found[place], NormalDist().inv_cdf(rank))


@given(st.lists(st.integers(-(2**62), 2**62), min_size=1, unique=True))
def test_tie_breakers_are_fixed_and_inside(seeds):
    first = tie_breakers(np.array(seeds))
    assert ((first > 0) & (first < 1)).all()
    assert (first == tie_breakers(np.array(seeds))).all()


def test_tie_breakers_are_uniform():
    assert kstest(tie_breakers(np.arange(5000)), "uniform").pvalue > 1e-3


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from([-1.0, 1.0]))
def test_both_directions_and_monotone_maps_are_alike(seed, sign):
    rng = np.random.default_rng(seed)
    values = rng.standard_normal((12, 20))
    values[8:] += 3 * sign
    ties = list(rng.random(values.shape))
    figures = np.full(12, 60)
    alarm = first_alarm(Nights.from_samples(list(values + 10), ties), figures)
    assert (alarm.night, alarm.first, alarm.what) == (8, 8, "level")
    assert (alarm.after > alarm.before) == (sign > 0)
    mapped = first_alarm(Nights.from_samples(list(np.exp(values)), ties), figures)
    assert mapped.p == alarm.p


def test_a_spread_that_grows_is_found():
    rng = np.random.default_rng(3)
    values = 1 + 0.1 * rng.standard_normal((12, 20))
    values[8:] = 1 + 3 * (values[8:] - 1)
    alarm = first_alarm(Nights.from_samples(list(values), list(rng.random(values.shape))), np.full(12, 60))
    assert alarm.night in (8, 9)
    assert alarm.what == "spread"
    assert alarm.after > 2 * alarm.before


def test_many_values_are_ranked_as_one_by_one():
    """Counting in chunks gives what counting does, also across the borders of chunks and for ties."""
    rng = np.random.default_rng(3)
    sizes = rng.integers(0, 9, 3 * CHUNK // 4)
    samples, ties = ([draw(size) for size in sizes] for draw in (lambda n: rng.integers(0, 40, n) / 40, rng.random))
    x, t = np.concatenate(samples), np.concatenate(ties)
    assert len(x) > 2 * CHUNK
    ranks = [((x[:i] < x[i]).sum() + t[i] * ((x[:i] == x[i]).sum() + 1)) / (i + 1) for i in range(len(x))]
    scores = conformal_scores(samples, ties)
    assert [len(night) for night in scores] == sizes.tolist()
    assert np.array_equal(np.concatenate(scores), ndtri(np.clip(ranks, 1e-15, 1 - 1e-15)))


def test_a_short_reference_is_never_enough():
    values = [np.zeros(LEAST_REFERENCE - 1), np.ones(20)]
    nights = Nights.from_samples(values, [np.full(len(x), 0.5) for x in values])
    assert not alarms(nights, np.ones(2, dtype=int)).any()


def test_windows_overlap_at_least_as_much_as_the_levels_count_on():
    """First alarms of a year are rarer than the levels of the windows add up to."""
    rng = np.random.default_rng(4)
    level, series, nights = 1e-4, 2000, 365
    sums = np.cumsum(rng.standard_normal((series, nights + 1)), axis=1)
    alarmed = np.zeros(series, dtype=bool)
    for w in WINDOWS:
        alarmed |= (np.abs(sums[:, w:] - sums[:, :-w]) > NormalDist().inv_cdf(1 - level / 2) * np.sqrt(w)).any(axis=1)
    assert len(WINDOWS) * level / (alarmed.sum() / (series * nights)) > OVERLAP

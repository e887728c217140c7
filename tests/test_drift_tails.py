"""Tests of a distribution's ends: exact while nothing changes, and what they name."""

from itertools import combinations

import numpy as np
import pytest
from scipy.stats import hypergeom

from lesson_claims.drift.rank_tests import TAIL_OVERLAP, Nights, first_alarm
from lesson_claims.drift.tails import LEAST_REFERENCE, TESTS, tails


def test_the_chance_is_that_of_all_orders():
    """At least k of n values below the r-th lowest of m others: counted over all orders of so few values."""
    m, n = 5, 4
    orders = [set(places) for places in combinations(range(m + n), n)]
    for r in (1, 2, 3):
        for k in (1, 2, 3, 4):
            edges = [sorted(set(range(m + n)) - window)[r - 1] for window in orders]
            share = np.mean([sum(x < edge for x in window) >= k for window, edge in zip(orders, edges, strict=True)])
            assert hypergeom.sf(k - 1, m + n, n, r + k - 1) == pytest.approx(share)


@pytest.mark.parametrize("sign", [-1, 1])
def test_a_few_collapsed_seeds_are_found_and_named(sign):
    rng = np.random.default_rng(1)
    x = 0.9 + 0.01 * rng.standard_normal((70, 20))
    x[60:, 0] += 0.3 * sign
    ties = list(rng.random(x.shape))
    found = tails(list(x), ties, 0.005)
    night = int(np.argmax(found.p < 1e-6))
    assert 61 <= night <= 66
    assert 58 <= found.start[night] <= 60
    assert found.low[night] == (sign < 0)
    assert found.before[night] < 0.01
    assert 0.03 < found.after[night] < 0.1
    assert x.min() < found.edge[night] < x.max()
    alarm = first_alarm(Nights.from_samples(list(x), ties), np.full(70, 60))
    assert 60 <= alarm.night <= 66
    assert alarm.what != "level"


def test_a_tiny_tail_and_a_short_reference_are_no_alarm():
    x = [np.full(20, 0.9)] * 30 + [np.array([0.8999] * 5 + [0.9] * 15)] * 10
    found = tails(x, [np.full(20, 0.5)] * 40, 0.005)
    assert (found.p == 1).all()
    short = [np.zeros(LEAST_REFERENCE - 1), np.full(20, -1.0)]
    assert (tails(short, [np.full(len(part), 0.5) for part in short], 0.005).p == 1).all()
    assert len(tails([], [], 0.005).p) == 0


def test_a_year_has_fewer_alarms_than_the_levels_count_on():
    rng = np.random.default_rng(2)
    level, years = 3e-4, 40
    alarmed = sum((tails(list(x), list(x), 0.0).p < level).any() for x in rng.random((years, 120, 20)))
    assert TESTS * level * years * 120 / alarmed > TAIL_OVERLAP

"""What follows an alarm: the new level, further changes, the way back, and false alarms."""

import numpy as np
import pytest

from lesson_claims.drift.levels import levels
from lesson_claims.drift.seeds import Samples

NIGHTS = 40


def told(x, seeds=None, figures=60):
    seeds = np.arange(x.size).reshape(x.shape) if seeds is None else seeds
    found = levels(Samples(list(seeds), list(x), np.full(len(x), figures)))
    return [(event.first, "back" if event.back else "change") for event in found.events], len(found.open)


@pytest.fixture
def x():
    return 0.9 + 0.02 * np.random.default_rng(7).standard_normal((NIGHTS, 20))


def test_nothing_happens(x):
    assert told(x) == ([], 0)


def test_one_bad_night_is_no_level_for_ever(x):
    x[15] -= 0.1
    assert told(x) == ([(15, "change"), (16, "back")], 0)


def test_an_alarm_does_not_blind(x):
    """A bug of ten points that lands soon after an upgrade's shift of two is found, too."""
    x[15:] -= 0.025
    x[18:] -= 0.1
    assert told(x) == ([(15, "change"), (18, "change")], 2)


def test_the_way_back_ends_at_the_level_that_is_like_it(x):
    x[10:] -= 0.04
    x[15:25] -= 0.1
    assert told(x) == ([(10, "change"), (15, "change"), (25, "back")], 1)
    x[30:] += 0.04
    assert told(x) == ([(10, "change"), (15, "change"), (25, "back"), (30, "back")], 0)


def test_a_collapse_that_is_mended_is_gone(x):
    x[15:25, :2] -= 0.3
    events, still_open = told(x)
    assert events[0] == (15, "change")
    assert events[-1][1] == "back"
    assert still_open == 0


def test_the_same_seeds_twice_are_no_second_night():
    rng = np.random.default_rng(3)
    seeds = np.arange(NIGHTS * 20).reshape(NIGHTS, 20)
    x = 0.9 + 0.02 * rng.standard_normal((NIGHTS, 20))
    x[20] -= 0.011  # not enough for an alarm
    x[21:], seeds[21:] = x[20], seeds[20]
    assert told(x, seeds) == ([], 0)
    other_numerics = x + 1e-7 * rng.standard_normal(x.shape)
    other_numerics[:21] = x[:21]
    assert told(other_numerics, seeds) == ([], 0), "the last bits are no new values"
    bug = x.copy()
    bug[30:] -= 0.1
    assert told(bug, seeds) == ([(30, "change")], 1), "the same seeds with other values are"
    bug[35:] = x[20]
    assert told(bug, seeds)[1] == 0, "and so is the way back"


def test_false_alarms_are_gone_again_and_changes_stay():
    """Figures that share no rate have enough false alarms to see what follows them."""
    rng = np.random.default_rng(11)
    events, left, false = [], 0, 0
    for _ in range(60):
        found, still_open = told(5 + 0.1 * rng.standard_normal((120, 20)), figures=1)
        events += found
        left += still_open
        false += bool(found)
    changes = sum(what == "change" for _, what in events)
    assert changes <= 0.008 * 60 * 120
    assert left <= changes / 2
    closed = 0
    for _ in range(20):
        x = 5 + 0.1 * rng.standard_normal((80, 20))
        x[40:] += 0.06
        closed += told(x)[1] == 0
    assert closed <= 1

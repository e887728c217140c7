"""Numbers as people read them: no digit too few, none too many."""

import math
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lesson_claims.drift.trend import sparkline as text_sparkline
from lesson_claims.results.numbers import (
    NOISE,
    decimals_of,
    duration,
    interval,
    is_float,
    parse_printed,
    share_of_range,
    show,
    show_all,
)


@pytest.mark.parametrize(
    ("value", "printed", "text"),
    [
        (0.876, "0.8760", "0.8760"),
        (0.876, ".8760", "0.8760"),
        (0.7224, "0.8760", "0.7224"),
        (-0.15412345528602, "-0.154", "-0.15412"),
        (6.3199871e-28, "6.320e-28", "6.319987e-28"),
        (6.32e-28, "6.320e-28", "6.320e-28"),
        (1e-27, "", "1e-27"),
        (1.00000001, "", "1.00000001"),
        (1.00000002, "1.00000001", "1.00000002"),
        (0.123456789, "", "0.123457"),
        (0.5, "", "0.5"),
        (0.014499999999999957, "", "0.0145"),
        (0.30000000000000004, "0.3", "0.3"),
        (0.0, "0.000", "0.000"),
        (-0.0, "", "-0.0"),
        (82817974.52200553, "82817975", "82817974.52"),
        (math.nan, "0.5", "NaN"),
        (math.inf, "", "inf"),
        (-math.inf, "0.5", "-inf"),
        (0.5, "nan", "0.5"),
        (5e-324, "", "5e-324"),
    ],
)
def test_digits(value, printed, text):
    assert show(value, printed) == text


def test_values_that_differ_look_different():
    assert show_all([(0.12345601, ""), (0.12345602, ""), (0.5, "")]) == ["0.12345601", "0.12345602", "0.5"]


@given(st.lists(st.floats(-1e300, 1e300) | st.floats(1.0, 1.00001), unique=True, min_size=2, max_size=5))
def test_any_values_that_differ_look_different(values):
    texts = show_all([(value, "") for value in values])
    for (one, first), (other, second) in combinations(zip(values, texts, strict=True), 2):
        assert float(first) != float(second) or abs(one - other) <= NOISE * max(abs(one), abs(other))


@given(st.floats(allow_nan=False, allow_infinity=False), st.sampled_from(["", "0.5", "1e-07", "8000", "x"]))
def test_what_is_shown_is_the_value_rounded(value, printed):
    text = show(value, printed)
    assert abs(float(text) - value) <= 0.5000001 * 10.0 ** -min(decimals_of(text), 300) + 1e-9 * abs(value)


@given(st.floats(), st.floats())
def test_an_interval_can_always_be_written(low, high):
    open_ends = (low == -math.inf) + (high == math.inf)
    for exact in (False, True):
        text = interval(low, high, exact=exact)
        assert (" to " in text) is (open_ends == 0)
        assert text.startswith("at ") is (open_ends == 1)


@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize(
    ("low", "high", "text"),
    [
        (0.0, math.inf, "at least 0"),
        (0.25, None, "at least 0.25"),
        (-math.inf, 0.5, "at most 0.5"),
        (None, 0.5, "at most 0.5"),
        (-math.inf, math.inf, "any number"),
        (None, None, ""),
    ],
)
def test_an_open_interval_is_written_in_words(low, high, text, exact):
    assert interval(low, high, exact=exact) == text


def test_intervals():
    assert interval(0.61234, 0.93411) == "0.61 to 0.93"
    assert interval(0.87612, 0.87698) == "0.87612 to 0.87698"
    assert interval(0.61234, 0.93411, exact=True) == "0.61234 to 0.93411"
    assert interval(1e-27, 3e-27) == "1.0e-27 to 3.0e-27"


@pytest.mark.parametrize(
    ("text", "expected"),
    [("0.1", True), ("1e-27", True), ("nan", True), ("8", False), ("True", False), ("8.10", False), ("", False)],
)
def test_what_counts_as_a_stored_float(text, expected):
    assert is_float(text) is expected


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(None, ""), (0.0123, "12 ms"), (8.04, "8.04 s"), (372, "6 min 12 s"), (3840, "1 h 4 min"), (math.nan, "NaN")],
)
def test_durations(seconds, text):
    assert duration(seconds) == text


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1))
def test_every_value_of_a_range_has_a_place_in_it(values):
    shares = [share_of_range(value, min(values), max(values)) for value in values]
    assert all(0 <= share <= 1 for share in shares)
    assert len(text_sparkline(values)) == len(values)


def test_places_in_a_range():
    assert [share_of_range(value, 1.0, 3.0) for value in (1.0, 1.5, 3.0)] == [0.0, 0.25, 1.0]
    assert share_of_range(2.0, 2.0, 2.0) == 0.5
    assert share_of_range(0.0, -1.7e308, 1.7e308) == 0.5


@pytest.mark.parametrize(
    ("printed", "value", "shown"),
    [("87%", 0.8712, "0.8712"), ("1,608", 1608.0, "1608"), ("1.2k", 1234.0, "1234"), (".5933", 0.593, "0.5930")],
)
def test_a_value_is_shown_beside_what_the_page_prints_in_any_form(printed: str, value: float, shown: str) -> None:
    assert show(value, printed) == shown
    assert parse_printed(printed) == pytest.approx(value, rel=0.05)
    assert parse_printed("some text") is None

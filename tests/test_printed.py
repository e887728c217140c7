"""Printed against measured: digits, tolerances, intervals, NaN."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lesson_claims.figures import Figure
from lesson_claims.printed import compare, last_digit


def figure(printed: str, kind: str = "float", digits: int | None = 4, significant: bool = False) -> Figure:
    return Figure("week07.day1.x", "x", printed, kind, digits, significant, "day 1")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("printed", "digits", "significant", "measured", "agreement"),
    [
        ("0.5933", 4, False, 0.59333333, "reproduced"),
        ("0.5933", 4, False, 0.59343, "within"),
        ("0.5933", 4, False, 0.5936, "outside"),
        ("1.438e-02", 4, True, 0.014384, "reproduced"),
        ("6.320e-28", 4, True, 6.3204e-28, "reproduced"),
        ("6.320e-28", 4, True, 6.3211e-28, "within"),
        ("6.320e-28", 4, True, 6.35e-28, "outside"),
        ("82817975", 8, True, 82817974.5221, "reproduced"),
        ("0.0", 1, False, -0.04, "reproduced"),
        ("0.444", 3, False, math.nan, "outside"),
        ("0.444", 3, False, math.inf, "outside"),
    ],
)
def test_a_float_is_compared_at_its_printed_digits(
    printed: str, digits: int, significant: bool, measured: float, agreement: str
) -> None:
    assert compare(figure(printed, "float", digits, significant), measured).agreement == agreement


@pytest.mark.parametrize(
    ("printed", "measured", "agreement"),
    [("8000", 8000, "reproduced"), ("8000", 8001, "outside"), ("True", True, "reproduced"), ("True", 1, "outside")],
)
def test_an_exact_figure_is_equal_or_outside(printed: str, measured: int, agreement: str) -> None:
    assert compare(figure(printed, "exact", None), measured).agreement == agreement


@pytest.mark.parametrize(
    ("interval", "agreement"), [((0.8, 0.9), "within"), ((0.881, 0.9), "outside"), (None, "not measured")]
)
def test_a_trained_figure_is_judged_by_the_interval_over_seeds(
    interval: tuple[float, float] | None, agreement: str
) -> None:
    assert compare(figure("0.8760", "trained"), 0.87, interval).agreement == agreement
    assert compare(figure("0.8760", "trained"), 0.876, interval).agreement == "reproduced"


def test_a_stated_number_with_words_behind_it() -> None:
    assert compare(figure("4000 (roughly)", "stated", None), 4064, (3600, 4400)).agreement == "within"
    assert compare(figure("50000", "stated", None), 50000).agreement == "reproduced"


@given(st.floats(-1e6, 1e6), st.integers(1, 6))
def test_what_is_printed_from_a_number_is_reproduced_by_it(value: float, digits: int) -> None:
    assert compare(figure(f"{value:.{digits}f}", "float", digits), value).agreement == "reproduced"
    assert compare(figure(f"{value:.{digits}e}", "float", digits + 1, True), value).agreement == "reproduced"


@given(st.floats(-1e3, 1e3), st.integers(1, 6), st.floats(1.51, 1e3))
def test_more_than_a_unit_away_is_outside(value: float, digits: int, units: float) -> None:
    printed = figure(f"{value:.{digits}f}", "float", digits)
    unit = last_digit(printed)
    assert unit is not None
    assert compare(printed, float(printed.printed) + units * unit).agreement == "outside"

"""Printed against measured: digits, tolerances, platforms, intervals, NaN, and values of every magnitude and type."""

from __future__ import annotations

import math
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lesson_claims.figures import FIGURE_KINDS, Figure, make_figure
from lesson_claims.printed import Comparison, Plain, compare, compare_trained


def figure(printed: str, kind: str = "float", tolerance: str = "") -> Figure:
    return make_figure(
        claim="course.day1.x", figure="x", printed=printed, kind=kind, where="day 1", tolerance=tolerance, place="f:2"
    )


def agreement(printed: str, kind: str, measured: Plain, within: tuple[float, float] | None = None) -> str:
    return str(compare(figure(printed, kind), measured, within).agreement)


@pytest.mark.parametrize(
    ("printed", "measured", "expected"),
    [
        ("0.5933", 0.59333333, "reproduced"),
        ("0.5933", 0.59343, "within"),
        ("0.5933", 0.5936, "outside"),
        ("1.438e-02", 0.014384, "reproduced"),
        ("6.320e-28", 6.3204e-28, "reproduced"),
        ("6.320e-28", 6.3211e-28, "within"),
        ("6.320e-28", 6.35e-28, "outside"),
        ("6.320e-28", 1.0, "outside"),
        ("6.320e-28", 1e308, "outside"),
        ("6.320e-28", 10**400, "outside"),
        ("82817975", 82817974.5221, "reproduced"),
        ("1,608", 1608, "reproduced"),
        ("0.0", -0.04, "reproduced"),
        ("−3.2e-4", -0.000324, "reproduced"),
        ("87%", 0.8712, "reproduced"),
        ("87%", 87.12, "outside"),
        ("1.2k", 1234.0, "reproduced"),
        ("1.2k", 1390.0, "outside"),
        ("0.444", math.nan, "outside"),
        ("0.444", math.inf, "outside"),
        ("1", True, "outside"),
    ],
)
def test_a_float_is_compared_at_its_printed_digits(printed: str, measured: float, expected: str) -> None:
    assert agreement(printed, "float", measured) == expected


@pytest.mark.parametrize(
    ("printed", "measured", "expected"),
    [
        ("8000", 8000, "reproduced"),
        ("8,000", 8000, "reproduced"),
        ("8000", 8000.0, "reproduced"),
        ("8000", 8001, "outside"),
        ("8000", 8000.2, "outside"),
        ("0.02", 0.02, "reproduced"),
        ("0.02", 0.0204, "outside"),
        ("True", True, "reproduced"),
        ("True", 1, "outside"),
        ("1", True, "outside"),
        ("007", "007", "reproduced"),
        ("007", 7, "outside"),
        ("8,000", "8000", "outside"),
        ("some words", 10**400, "outside"),
        ("8000", 10**400, "outside"),
        ("1e350", math.inf, "outside"),
    ],
)
def test_an_exact_figure_is_equal_or_outside(printed: str, measured: Plain, expected: str) -> None:
    assert agreement(printed, "exact", measured) == expected


def test_a_stated_number_is_judged_by_the_interval_of_its_check() -> None:
    assert agreement("4000 (roughly)", "stated", 4064, (3600, 4400)) == "within"
    assert agreement("4000 (roughly)", "stated", 4064, (4010, 4400)) == "outside"
    assert agreement("4000 (roughly)", "stated", 4064) == "outside"
    assert agreement("50000", "stated", 50000) == "reproduced"
    assert agreement("0.10", "stated", 0.1024) == "reproduced"
    assert agreement("20 (about)", "stated", math.inf) == "outside"


@pytest.mark.parametrize("within", [(0, math.inf), (-math.inf, 8), (math.nan, 8), (9, 8)])
def test_an_interval_that_says_nothing_is_refused(within: tuple[float, float]) -> None:
    with pytest.raises(ValueError, match="it takes two finite ends"):
        compare(figure("8", "stated"), 8.0, within)


@pytest.mark.parametrize("kind", ["exact", "float", "trained", "clock"])
def test_only_a_stated_figure_has_an_interval(kind: str) -> None:
    with pytest.raises(ValueError, match="only a stated figure has within"):
        compare(figure("1", kind), 1, (0, 2))


@pytest.mark.parametrize("measured", [0.01, 8, 1e9, math.inf])
def test_what_a_clock_measures_is_not_judged(measured: float) -> None:
    assert agreement("8", "clock", measured) == "not judged"


def trained(
    printed: str, measured: Plain, platforms: Mapping[str, Plain] | None = None, tolerance: str = ""
) -> Comparison:
    return compare_trained(figure(printed, "trained", tolerance), measured, platforms or {})


@pytest.mark.parametrize(
    ("printed", "measured", "expected"),
    [
        ("0.9245", 0.9245, "reproduced"),
        ("0.9245", 0.9054, "within"),
        ("0.9245", 0.9445, "within"),
        ("0.9245", 0.9035, "outside"),
        ("0.4245", 0.9245, "outside"),
        ("92%", 0.9247, "reproduced"),
        ("92%", 0.896, "within"),
        ("92%", 0.894, "outside"),
        ("0.9245", math.nan, "outside"),
        ("0.9245", math.inf, "outside"),
    ],
)
def test_a_trained_share_lies_within_two_hundredths_of_the_page_s_seed(
    printed: str, measured: float, expected: str
) -> None:
    assert trained(printed, measured).agreement == expected
    assert compare(figure(printed, "trained"), measured) == trained(printed, measured)


def test_other_figures_declare_their_tolerance_and_the_printed_digit_has_half_a_unit_of_slack() -> None:
    assert trained("4.29", 4.2, tolerance="0.1").agreement == "within"
    assert trained("4.29", 4.1, tolerance="0.1").agreement == "outside"
    assert trained("4.29", 4.186, tolerance="0.1").agreement == "within"
    assert trained("4.29", 4.184, tolerance="0.1").agreement == "outside"
    assert trained("3.4 ± 0.2", 3.6).agreement == "within"
    assert trained("3.4 ± 0.2", 3.7).agreement == "outside"


def test_the_nearest_platform_counts_and_the_spread_widens_the_tolerance() -> None:
    platforms = {"AVX2": 0.90, "AVX-512": 0.94}
    assert trained("0.8700", 0.90, platforms).agreement == "within"
    assert trained("0.8590", 0.90, platforms).agreement == "outside"
    assert trained("0.9400", 0.94, platforms).agreement == "reproduced"
    assert trained("0.9400", 0.90, platforms).agreement == "within"
    assert trained("0.8700", 0.90, platforms).tolerance == pytest.approx(0.04)


def test_a_figure_that_one_seed_moves_far_depends_on_the_machine() -> None:
    platforms = {"AVX2": 0.6067, "AVX-512": 0.8967}
    comparison = trained("0.5933", 0.8967, platforms)
    assert comparison.agreement == "depends on the machine"
    assert "0.6067 to 0.8967 on the 2 platforms tried (AVX2, AVX-512)" in comparison.words
    assert trained("0.8967", 0.8967, platforms).agreement == "depends on the machine"
    assert trained("0.2000", 0.8967, platforms).agreement == "outside", "plainly wrong on every machine"
    assert trained("4.3", 4.2, {"a": 4.2, "b": 4.4}, tolerance="0.1").agreement == "within"
    assert trained("4.3", 4.2, {"a": 4.2, "b": 4.5}, tolerance="0.1").agreement == "depends on the machine"
    assert trained("0.9", 0.9, {"a": 0.9, "b": math.nan}).agreement == "depends on the machine"


def test_what_is_not_reproduced_names_the_platforms() -> None:
    comparison = trained("0.4245", 0.9245, {"AVX2": 0.9245, "AVX-512": 0.93})
    assert comparison.words == (
        "x is printed as 0.4245 and not reproduced on the 2 platforms tried (AVX2, AVX-512): the page's seed gives "
        "0.9245 to 0.93"
    )
    assert "on the platform tried (this run's): the page's seed gives 0.9245" in trained("0.4245", 0.9245).words


def test_a_run_of_its_own_kind_is_a_finding_about_the_run_and_does_not_turn_the_figure() -> None:
    platforms = {"AVX2": 0.92, "AVX-512": 0.93}
    broken = trained("0.9245", 0.5, platforms)
    assert broken.agreement == "within"
    assert broken.unlike_record == (
        "x: the page's seed gives 0.5 here, and 0.92 to 0.93 on the 2 platforms tried (AVX2, AVX-512)"
    )
    assert trained("0.5", 0.5, {"a": 0.92, "b": 0.93}).agreement == "depends on the machine"
    assert trained("0.9245", math.nan, platforms).unlike_record
    assert not trained("0.9245", 0.91, platforms).unlike_record
    assert not trained("0.9245", 0.5).unlike_record, "nothing is on record"


def test_a_trained_text_is_equal_or_outside() -> None:
    for printed in ("abcab", "12345123451234512345"):
        assert trained(printed, printed, {"AVX2": "cab"}, tolerance="0").agreement == "reproduced"
        assert trained(printed, "cab", {"AVX2": "cab"}, tolerance="0").agreement == "outside"


NUMBERS = st.one_of(st.floats(), st.integers(), st.just(10**5000), st.booleans())
PRINTED = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.integers(-(10**30), 10**30).map("{:,}".format),
    st.sampled_from(["6.320e-28", "87%", "1.2k", "1e399", "1e-399", "0.0", "3.4 ± 0.2"]),
)


@given(PRINTED, st.sampled_from(FIGURE_KINDS), st.one_of(NUMBERS, st.text(max_size=5)))
def test_every_value_has_an_agreement(printed: str, kind: str, measured: Plain) -> None:
    if "±" in printed and kind == "exact":
        return
    comparison = compare(figure(printed, kind, "0.02" if kind == "trained" else ""), measured)
    assert comparison.agreement in {"reproduced", "within", "outside", "depends on the machine", "not judged"}
    if isinstance(measured, float) and not math.isfinite(measured) and kind != "clock":
        assert comparison.agreement == "outside"


@given(PRINTED, NUMBERS, st.dictionaries(st.sampled_from("abc"), st.one_of(NUMBERS, st.text(max_size=3))))
def test_every_trained_value_has_an_agreement_and_words_where_it_is_wrong(
    printed: str, measured: Plain, platforms: dict[str, Plain]
) -> None:
    comparison = trained(printed, measured, platforms, tolerance="0.02")
    if not isinstance(measured, bool):
        assert bool(comparison.words) == (comparison.agreement in {"outside", "depends on the machine"})


@given(st.floats(allow_nan=False, allow_infinity=False), st.integers(0, 17))
def test_what_is_printed_from_a_number_is_reproduced_by_it(value: float, digits: int) -> None:
    assert agreement(f"{value:.{digits}f}", "float", value) == "reproduced"
    assert agreement(f"{value:.{digits}e}", "float", value) == "reproduced"
    assert agreement(f"{value:,.{digits}f}", "float", value) == "reproduced"
    assert agreement(repr(value), "exact", value) == "reproduced"


@given(st.floats(-1e3, 1e3), st.integers(1, 6), st.floats(1.51, 1e3))
def test_more_than_a_unit_away_is_outside(value: float, digits: int, units: float) -> None:
    printed = figure(f"{value:.{digits}f}")
    assert printed.number is not None
    measured = float(printed.printed) + units * float(printed.number.unit)
    assert compare(printed, measured).agreement == "outside"


@given(st.floats(0, 1), st.floats(0, 1), st.lists(st.floats(0, 1), max_size=3))
def test_a_figure_is_outside_exactly_beyond_what_its_platforms_allow(
    printed: float, measured: float, others: list[float]
) -> None:
    comparison = trained(f"{printed:.4f}", measured, dict(zip("abc", others, strict=False)))
    known = others or [measured]
    spread = max(known) - min(known)
    allowed = spread + 0.02 if spread > 0.05 else max(0.02, spread)
    nearest = min(abs(float(f"{printed:.4f}") - value) for value in known)
    if nearest > allowed + 0.0001 and abs(printed - measured) > 0.0202:
        assert comparison.agreement == "outside"
    if nearest <= allowed:
        assert comparison.agreement != "outside"

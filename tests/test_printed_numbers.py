"""The forms in which pages print numbers: what each stands for, and what is refused or left a text."""

from __future__ import annotations

import contextlib
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lesson_claims.results.printed_numbers import SUFFIXES, is_almost_number, read_number


@pytest.mark.parametrize(
    ("text", "value", "unit"),
    [
        ("8000", "8000", "1"),
        ("1,608", "1608", "1"),
        ("1 234 567", "1234567", "1"),
        ("1\u2009608", "1608", "1"),
        ("1\u202f608.5", "1608.5", "0.1"),
        ("1'608", "1608", "1"),
        ("10_000", "10000", "1"),
        (".5933", "0.5933", "0.0001"),
        ("0.10", "0.10", "0.01"),
        ("5.", "5", "1"),
        ("+3", "3", "1"),
        ("-0.735", "-0.735", "0.001"),
        ("\u22123.2e-4", "-0.00032", "0.00001"),
        ("\u20133", "-3", "1"),
        ("1.2e3", "1200", "100"),
        ("1.2E+03", "1200", "100"),
        ("6.320e-28", "6.320e-28", "1e-31"),
        ("3×10⁻⁴", "0.0003", "0.0001"),
        ("3 x 10^-4", "0.0003", "0.0001"),
        ("3·10^{-4}", "0.0003", "0.0001"),
        ("2*10**5", "200000", "100000"),
        ("10^-4", "0.0001", "0.0001"),
        ("10⁻⁴", "0.0001", "0.0001"),
        ("1.2k", "1200", "100"),
        ("1.2M", "1200000", "100000"),
        ("7B", "7000000000", "1000000000"),
        ("2 million", "2000000", "1000000"),
        ("87%", "0.87", "0.01"),
        ("87.5 %", "0.875", "0.001"),
        ("87 percent", "0.87", "0.01"),
    ],
)
def test_a_number_has_a_value_and_a_last_digit(text: str, value: str, unit: str) -> None:
    number = read_number(text)
    assert number is not None
    assert (number.value, number.unit) == (Decimal(value), Decimal(unit))
    assert not number.approximate
    assert number.plus_minus is None


@pytest.mark.parametrize(
    "text",
    ["~4000", "≈ 4000", "about 4000", "4000 (about)", "4000 (roughly)", "4,000 roughly", "About 4k", "ca. 4000"],
)
def test_a_number_may_be_said_to_be_approximate(text: str) -> None:
    number = read_number(text)
    assert number is not None
    assert number.value == 4000
    assert number.approximate


@pytest.mark.parametrize(
    ("text", "value", "plus_minus"),
    [
        ("3.4 ± 0.2", "3.4", "0.2"),
        ("3.4+/-.2", "3.4", "0.2"),
        ("about 3.4 ± 0.2", "3.4", "0.2"),
        ("87 ± 2 %", "0.87", "0.02"),
        ("87% ± 2%", "0.87", "0.02"),
        ("1.2k ± 0.1k", "1200", "100"),
        ("3.4e-3 ± 2e-4", "0.0034", "0.0002"),
    ],
)
def test_what_the_page_allows_on_either_side(text: str, value: str, plus_minus: str) -> None:
    number = read_number(text)
    assert number is not None
    assert (number.value, number.plus_minus) == (Decimal(value), Decimal(plus_minus))


@pytest.mark.parametrize(
    "text",
    [
        *("True", "nan", "inf", "", "about", "e5", ".", "1e", "0x10", "--3", "١٢", "007", "1e3f", "<0.1", "~about 3"),
        *("8 s", "5 K", "1/3", "2.13.0", "10-20", "(2, 6, 3)", "an apple", "1\x00"),
        *("0,944", "12,34", "1,2345", "1,234 567", "1.608,5", "2, 6, 3", "½", "2^10", "3.4 ± -0.2", "3 ± 4 ± 5"),
        *("87% ± 2k", "9" * 500),
    ],
)
def test_other_texts_are_no_numbers(text: str) -> None:
    assert read_number(text) is None


@pytest.mark.parametrize("text", ["0,944", "12,34", "1.608,5", "2, 6, 3", "½", "2^10", "3 ± 4 ± 5", "2¹⁰"])
def test_some_look_like_a_number_that_was_meant(text: str) -> None:
    assert is_almost_number(text)


@pytest.mark.parametrize("text", ["True", "007", "2.13.0", "10-20", "1/3", "(2, 6, 3)", "a, b", "%", "~", ",", "12"])
def test_others_do_not(text: str) -> None:
    assert not is_almost_number(text)


@pytest.mark.parametrize("text", ["1e999999", "1e-999999", "1e400", "1e" + "9" * 5000, "-" + "9" * 401, "10^500"])
def test_a_number_beyond_all_measured_ones_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is beyond 1e400"):
        read_number(text)


@pytest.mark.parametrize(
    ("text", "is_share"),
    [("0", True), ("1.0000", True), (".5", True), ("87%", True), ("150%", True), ("1.01", False), ("-0.1", False)],
)
def test_what_may_be_a_share(text: str, is_share: bool) -> None:
    number = read_number(text)
    assert number is not None
    assert number.is_share is is_share


@given(st.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**30), max_value=10**30, places=9))
def test_what_python_writes_is_read_exactly(value: Decimal) -> None:
    for text in (f"{value:f}", f"{value:e}", f"{value:,f}"):
        number = read_number(text)
        assert number is not None
        assert number.value == value
        assert value % number.unit == 0 if abs(value) < number.unit * 10**28 else True


@given(st.floats(allow_nan=False, allow_infinity=False), st.integers(0, 17))
def test_floats_of_any_magnitude_are_read(value: float, digits: int) -> None:
    for text in (repr(value), f"{value:.{digits}e}", f"{value:.{digits}g}"):
        number = read_number(text)
        assert number is not None
        assert float(number.value) == float(text)


@given(st.integers(0, 999), st.sampled_from(sorted(SUFFIXES)))
def test_a_suffix_is_a_power_of_ten(value: int, suffix: str) -> None:
    number = read_number(f"{value}{' ' if len(suffix) > 1 else ''}{suffix}")
    assert number is not None
    assert number.value == value * number.unit
    assert number.unit == Decimal(10) ** SUFFIXES[suffix]


@given(st.text(alphabet="0123456789,.'’ \u2009+-−eExk%M×·^*{}10⁰⁴⁻±~≈½about()\x00", max_size=24))
def test_no_text_is_a_crash(text: str) -> None:
    is_almost_number(text)
    with contextlib.suppress(ValueError):
        number = read_number(text)
        assert number is None or number.value.is_finite()

"""Digits that are deserved: the noise of a computation, and what it says of the printed digits."""

from __future__ import annotations

import math
from decimal import Decimal

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from lesson_claims.digits import digits_deserved, digits_over_seeds, jittered, supported_unit
from lesson_claims.figures import Figure, make_figure
from lesson_claims.printed import compare


def figure(printed: str, kind: str = "float") -> Figure:
    return make_figure(claim="course.a", figure="x", printed=printed, kind=kind, where="page", place="f:2")


@pytest.mark.parametrize(
    ("printed", "measured", "noise", "expected"),
    [
        ("0.333", 1 / 3, [0.33333, 0.33334], "supported"),
        ("0.333", 1 / 3, [1 / 3], "supported"),
        ("0.333", 1 / 3, [0.33323, 0.33343], "limited by rounding"),
        ("0.333", 0.33349999, [0.33349998, 0.33350001], "limited by rounding"),
        ("0.334", 0.33350001, [0.33349998, 0.33350002], "limited by rounding"),
        ("0.333", 1 / 3, [0.335, 0.332], "more than the method gives"),
        ("0.333", 1 / 3, [0.333, math.nan], "more than the method gives"),
        ("0.333", math.inf, [0.333], "more than the method gives"),
        ("1200", 1200.0, [1150.0, 1250.0], "more than the method gives"),
        ("1.2k", 1200.0, [1199.0, 1201.0], "supported"),
        ("6.320e-28", 6.32e-28, [6.3200001e-28], "supported"),
        ("6.320e-28", 6.32e-28, [1.0], "more than the method gives"),
        ("1e300", 1e300, [-1e308, 1e308], "more than the method gives"),
        ("0.333", 1 / 3, [], None),
    ],
)
def test_what_printed_digits_deserve(printed: str, measured: float, noise: list[float], expected: str | None) -> None:
    assert digits_deserved(figure(printed), measured, noise) == expected


@pytest.mark.filterwarnings("error")
def test_noise_may_be_an_array_or_tensors_with_gradients() -> None:
    noise = [0.33333, 0.33334]
    assert digits_deserved(figure("0.333"), 1 / 3, np.array(noise)) == "supported"  # type: ignore[arg-type]
    assert digits_deserved(figure("0.333"), 1 / 3, list(torch.tensor(noise, requires_grad=True))) == "supported"


def test_a_text_has_no_digits() -> None:
    assert digits_deserved(figure("abc", "exact"), 1.0, [1.0]) is None
    assert digits_over_seeds(figure("abc", "trained"), [1.0, 2.0]) is None


@given(st.floats(-1e6, 1e6), st.integers(0, 6), st.lists(st.floats(-1e-5, 1e-5), min_size=1, max_size=8))
def test_supported_digits_are_those_of_every_moved_value(value: float, places: int, moves: list[float]) -> None:
    printed, moved = figure(f"{value:.{places}f}"), [value + move for move in moves]
    said = digits_deserved(printed, value, moved)
    if said == "supported":
        assert all(compare(printed, each).agreement == "reproduced" for each in moved)
    if said != "more than the method gives":
        assert all(compare(printed, each).agreement != "outside" for each in moved)


@given(st.floats(), st.lists(st.floats(), max_size=5))
def test_every_value_and_noise_has_an_answer(value: float, noise: list[float]) -> None:
    assert (digits_deserved(figure("0.333"), value, noise) is None) == (not noise)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([0.90, 0.96], "0.1"),
        ([0.9300, 0.9301], "0.0001"),
        ([0.93, 0.93], None),
        ([8000.0, 9000.0], "1000"),
        ([0.0, 0.1 * 2**0.5], "0.1"),
        ([1.7e308, -1.7e308], "1e309"),
    ],
)
def test_the_seeds_support_digits_down_to_their_standard_deviation(values: list[float], expected: str | None) -> None:
    assert supported_unit(values) == (None if expected is None else Decimal(expected))


def test_digits_beyond_the_seeds_are_too_many() -> None:
    values = [0.92, 0.95, 0.91, 0.97]
    assert digits_over_seeds(figure("0.9245", "trained"), values) == "more than the method gives"
    assert digits_over_seeds(figure("0.9", "trained"), values) == "supported"
    assert digits_over_seeds(figure("0.9245", "trained"), [0.9245] * 3) == "supported"
    assert digits_over_seeds(figure("0.9245", "trained"), [0.9245]) is None
    assert digits_over_seeds(figure("0.9245", "trained"), [0.9245, math.nan]) == "more than the method gives"


@given(st.lists(st.floats(), max_size=5))
def test_any_seeds_have_an_answer(values: list[float]) -> None:
    assert (digits_over_seeds(figure("0.9245", "trained"), values) is None) == (len(values) < 2)


def in_ulps(moved: float, value: float) -> float:
    return abs(moved - value) / float(np.spacing(abs(value)))


def test_inputs_are_moved_by_a_few_units_in_the_last_place() -> None:
    found = jittered(lambda x: x, 0.3, times=200, ulps=4)
    distances = [in_ulps(each, 0.3) for each in found]
    assert len(found) == 200
    assert all(type(each) is float for each in found)
    assert set(distances) == {0, 1, 2, 3, 4}
    assert min(found) < 0.3 < max(found)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_arrays_and_tensors_keep_their_type_and_are_moved_in_their_own_precision(dtype: str) -> None:
    array = np.array([[1.5, -0.001], [3e4, 7.0]], dtype=dtype)
    tensor = torch.from_numpy(array)
    for moved_array, moved_tensor in jittered(lambda a, t: (a, t.numpy()), array, tensor, ulps=2):
        for moved in (moved_array, moved_tensor):
            assert moved.dtype == array.dtype
            assert (np.abs(moved - array) <= 2 * np.spacing(np.abs(array))).all()
    assert any((moved != array).any() for moved in jittered(lambda a: a, array))
    assert any((moved != tensor).any() for moved in jittered(lambda t: t, tensor))


def test_bfloat16_and_parameters_are_moved() -> None:
    tensor = torch.tensor([1.0, 3.0], dtype=torch.bfloat16, requires_grad=True)
    moved = jittered(lambda t: t, tensor)
    assert all(each.dtype == torch.bfloat16 and each.requires_grad for each in moved)
    assert any((each != tensor).any() for each in moved)
    layer = nn.LSTM(2, 3)
    before = {name: value.clone() for name, value in layer.state_dict().items()}
    copies = jittered(lambda module: module, layer)
    assert all(torch.equal(value, before[name]) for name, value in layer.state_dict().items()), "the original stays"
    assert all(any((value != before[name]).any() for name, value in each.state_dict().items()) for each in copies)
    assert all(parameter.requires_grad for parameter in copies[0].parameters())


def test_what_is_no_float_or_may_be_exact_is_passed_on() -> None:
    array, tensor = np.arange(3), torch.arange(3)
    given = ({"a": 1, "b": [0.0, math.inf]}, ("text", True), array, tensor, None, np.float32(0.0))
    for moved in jittered(lambda *items: items, *given):
        assert moved[:2] == given[:2]
        assert moved[2] is array
        assert moved[3] is tensor
        assert moved[4] is None
        assert type(moved[5]) is np.float32


@given(st.floats(allow_nan=True))
def test_a_moved_float_is_finite_where_it_was(value: float) -> None:
    for moved in jittered(lambda x: x, value, times=5):
        assert math.isfinite(moved) == math.isfinite(value)


def test_the_moves_are_the_same_each_time() -> None:
    x = np.random.default_rng(1).normal(size=5)
    assert jittered(np.sum, x) == jittered(np.sum, x)


def test_cancellation_is_seen_and_a_well_conditioned_sum_is_not_blamed() -> None:
    x = np.float32([1.0, 1e-4, -1.0])
    difference = float(np.sum(x))
    assert digits_deserved(figure(f"{difference:.4e}"), difference, jittered(np.sum, x)) == "more than the method gives"
    y = np.float32([1.0, 1e-4, 1.0])
    total = float(np.sum(y))
    assert digits_deserved(figure(f"{total:.4f}"), total, jittered(np.sum, y)) == "supported"

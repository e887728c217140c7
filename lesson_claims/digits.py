"""How many printed digits a number deserves: what rounding does to it, seen by moving its inputs.

A computation in floating-point numbers rounds at each step, and another machine rounds otherwise, because it sums in
another order. Of most computations the rounding errors are together no more than a small move of the inputs would make
(Higham, Accuracy and Stability of Numerical Algorithms, 2002, chapter 1, on backward errors). So the inputs are moved.
For a figure of a training run the seeds answer the same question.
"""

from __future__ import annotations

import copy
import math
import statistics
import sys
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from lesson_claims.figures import Figure
from lesson_claims.results.printed_numbers import exact
from lesson_claims.results.vocabulary import Digits

Result = TypeVar("Result")

DEVIATIONS = 3
"""The band of a noise, in standard deviations around the measured value."""

STABLE = 10
"""Digits are supported where the band is smaller than one part of this many of the last digit: another machine's
rounding may well be a few times what a few moved inputs show."""


def digits_deserved(figure: Figure, measured: float, noise: Sequence[Any]) -> Digits | None:
    """Say whether a figure's printed digits are what its computation gives.

    The band of the noise is three root mean squares of its distance from the measured value, or the largest distance if
    that is more.

    Args:
        figure: with a number.
        measured: its value.
        noise: numbers (also as scalars of NumPy and torch) that the same computation gives with inputs moved by a few
            units in the last place, or on other platforms.

    Returns:
        "more than the method gives" if the band is wider than the last printed digit's unit, so that another machine's
        value may lie outside of what the comparison allows. "limited by rounding" if the band is wider than a tenth of
        that unit, or a value at which the last digit changes lies in it. Else "supported". None for a text, and without
        noise.
    """
    if figure.number is None or len(noise) == 0:
        return None
    # Of a tensor that has a gradient, float() warns.
    centre = exact(measured)
    moved = [exact(float(value.item() if hasattr(value, "item") else value)) for value in noise]
    distances = [abs(value - centre) for value in moved if value is not None and centre is not None]
    if centre is None or len(distances) < len(moved):
        return Digits.TOO_MANY
    largest = max(distances)
    # Of shares of the largest, because the square of a distance may be too large for a float.
    shares = [float(distance / largest) for distance in distances] if largest else [0.0]
    root_mean_square = math.sqrt(statistics.fmean(share * share for share in shares))
    band = largest * Fraction(max(1.0, DEVIATIONS * root_mean_square))
    unit = Fraction(figure.number.unit)
    if band > unit:
        return Digits.TOO_MANY
    # The last digit changes halfway between two multiples of its unit.
    to_the_change = abs(centre / unit % 1 - Fraction(1, 2)) * unit
    return Digits.LIMITED if band * STABLE > unit or to_the_change <= band else Digits.SUPPORTED


def supported_unit(values: Sequence[float]) -> Decimal | None:
    """Return the worth of the last digit that a number deserves if it comes out as differently as these values.

    Args:
        values: at least two, finite: of one figure over seeds.

    Returns:
        the least power of ten that is no smaller than their standard deviation: 0.1 for accuracies that scatter by .03.
        None if all are equal, so that every digit is supported.
    """
    # Of quarters, because the deviation of large floats may be too large for one.
    deviation = statistics.stdev(value / 4 for value in values)
    # Rounded, so that a deviation of 0.1 is not taken for a little more.
    return Decimal(f"1E{math.ceil(round(math.log10(deviation) + math.log10(4), 9))}") if deviation else None


def digits_over_seeds(figure: Figure, values: Sequence[float]) -> Digits | None:
    """Say whether a trained figure's printed digits are more than its seeds support.

    Args:
        figure: with a number.
        values: over seeds.

    Returns:
        "more than the method gives" if the last printed digit is worth less than `supported_unit`, or a value is
        infinite or NaN; else "supported". None for a text, or with fewer than two values.
    """
    if figure.number is None or len(values) < 2:
        return None
    if not all(map(math.isfinite, values)):
        return Digits.TOO_MANY
    supported = supported_unit(values)
    return Digits.TOO_MANY if supported is not None and figure.number.unit < supported else Digits.SUPPORTED


def jittered(function: Callable[..., Result], *inputs: Any, times: int = 16, ulps: int = 8) -> list[Result]:
    """Call a function again and again with inputs moved by their last bits.

        measure("loss", loss(model, x), noise=jittered(loss, model, x))

    Every floating-point number in the inputs is moved by up to `ulps` units in its last place, up or down; 0 stays 0,
    because it is often exact. The moves are the same in each session.

    Args:
        function: takes the inputs; must not change them, and must give the same result for the same inputs.
        inputs: floats, arrays, torch tensors and modules (their parameters and buffers), and lists, tuples and
            dictionaries of these; anything else, such as whole numbers, is passed on as it is.
        times: how often, ≥ 1.
        ulps: largest move in units in the last place, ≥ 1.

    Returns:
        what the function returned each time.
    """
    generator = np.random.default_rng(0)
    return [function(*(_moved(item, generator, ulps) for item in inputs)) for _ in range(times)]


def _moved(item: Any, generator: np.random.Generator, ulps: int) -> Any:
    """Return a copy with all floating-point numbers moved."""
    if isinstance(item, (float, np.floating)):
        return type(item)(_moved_array(np.asarray(item), generator, ulps))
    if isinstance(item, np.ndarray):
        return _moved_array(item, generator, ulps) if item.dtype.kind == "f" else item
    if isinstance(item, Mapping):
        return {name: _moved(value, generator, ulps) for name, value in item.items()}
    if type(item) in (list, tuple):
        return type(item)(_moved(value, generator, ulps) for value in item)
    torch = sys.modules.get("torch")  # who has a tensor has imported it
    if torch is None:
        return item
    if isinstance(item, torch.Tensor):
        return _moved_tensor(item, generator, ulps)
    if isinstance(item, torch.nn.Module):
        module = copy.deepcopy(item)
        with torch.no_grad():
            for tensor in (*module.parameters(), *module.buffers()):
                tensor.copy_(_moved_tensor(tensor, generator, ulps))
        return module
    return item


def _moved_array(array: NDArray[Any], generator: np.random.Generator, ulps: int) -> NDArray[Any]:
    moves = generator.integers(-ulps, ulps, size=array.shape, endpoint=True)
    # What is finite may not be moved beyond the largest number.
    with np.errstate(over="ignore", invalid="ignore"):
        moved = array + moves.astype(array.dtype) * np.spacing(np.abs(array))
    return np.where((array == 0) | ~np.isfinite(moved), array, moved).astype(array.dtype)


def _moved_tensor(tensor: Any, generator: np.random.Generator, ulps: int) -> Any:
    """Move a tensor of any floating type, bfloat16 among them, on any device."""
    torch = sys.modules["torch"]
    if not tensor.is_floating_point():
        return tensor
    values = tensor.detach()
    moves = torch.from_numpy(np.asarray(generator.integers(-ulps, ulps, size=tuple(values.shape), endpoint=True)))
    up = torch.nextafter(values.abs(), torch.full_like(values, math.inf))
    moved = values + moves.to(values) * (up - values.abs())
    moved = torch.where((values == 0) | ~moved.isfinite(), values, moved)
    return moved.requires_grad_(tensor.requires_grad)

"""Deterministic facts: one counter-example refutes, no statistics (error rate 0)."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from lesson_claims.deciders.sign_test import number
from lesson_claims.decisions import Decision, Verdict


def that(condition: bool, sentence: str) -> Decision:
    """Decide one fact: holds when `condition` is true, refuted when false; `sentence` says what was found."""
    return _fact(_boolean(condition, sentence), sentence, "fact")


def every(results: Iterable[bool | tuple[Hashable, bool]], *, what: str) -> Decision:
    """Decide a bound or a no-op: true at every step and for every input.

    `results` yields booleans, or pairs (case, boolean) whose case names the counter-example. Assumes
    nothing; it says nothing about cases that were not tried. Raises ValueError when there are none: such a
    check could not fail.
    """
    tried, failed = 0, []
    for result in results:
        case, ok = result if isinstance(result, tuple) else (tried, result)
        if not _boolean(ok, f"{what}, case {case}"):
            failed.append(case)
        tried += 1
    if not tried:
        raise ValueError(f"no case was tried for {what!r}: a check that cannot fail shows nothing")
    found = f"all of {tried} cases"
    if failed:
        example = f"case {failed[0]}" if isinstance(failed[0], int) else failed[0]
        found = f"fails in {len(failed)} of {tried} cases, for example {example}"
    return _fact(not failed, f"{what}: {found}.", "every case")


def close(measured: npt.ArrayLike, expected: npt.ArrayLike, *, rtol: float, atol: float = 0.0, what: str) -> Decision:
    """Decide |measured − expected| ≤ atol + rtol·|expected|, elementwise, for numbers of the same shape.

    Raises ValueError for NaN, negative tolerances, nothing to compare, and shapes that differ (no
    broadcasting).
    """
    got, wanted = _pair(measured, expected, what)
    if not (rtol >= 0 and atol >= 0):
        raise ValueError(f"tolerances for {what!r} must not be negative: rtol {rtol}, atol {atol}")
    if got.dtype.kind not in "biufc" or wanted.dtype.kind not in "biufc":
        raise ValueError(f"{what!r} compares {got.dtype} with {wanted.dtype}: only numbers can be close")
    # Equal infinities have no difference to speak of; unlike ones differ by more than any tolerance.
    equal = got == wanted
    with np.errstate(invalid="ignore"):
        error = np.where(equal, 0.0, np.abs(got.astype(np.result_type(got, np.float64)) - wanted))
        allowed = atol + rtol * np.abs(wanted)
    far = ~equal & ~((error <= allowed) & np.isfinite(error))
    largest = float(error.max())
    if far.any():
        index, place = _first(far)
        finding = (
            f"differs in {far.sum()} of {far.size} values by up to {number(largest)}, first{place}: "
            f"{got[index]!s} against {wanted[index]!s}"
        )
    else:
        finding = f"equal within {number(largest)} in {_values(far.size)} (rtol {rtol:g}, atol {atol:g} allowed)"
    return _fact(not far.any(), f"{what}: {finding}.", "closeness", estimate=largest)


def same(measured: Any, expected: Any, *, what: str) -> Decision:
    """Decide exact equality of arrays or numbers of one shape, or of strings, tuples or other objects.

    Raises ValueError for NaN, nothing to compare, and arrays whose shapes differ (compare shapes as
    tuples).
    """
    if not (_is_numeric(measured) and _is_numeric(expected)):
        return _same_objects(measured, expected, what)
    got, wanted = _pair(measured, expected, what)
    unequal = got != wanted
    if not unequal.any():
        return _fact(True, f"{what}: {_values(unequal.size)} equal exactly.", "equality")
    index, place = _first(unequal)
    largest, size = None, ""
    if got.dtype.kind in "biuf" and wanted.dtype.kind in "biuf":
        with np.errstate(invalid="ignore"):
            largest = float(np.abs(got[unequal].astype(np.float64) - wanted[unequal].astype(np.float64)).max())
        size = f" by up to {number(largest)}"
    finding = (
        f"differs in {unequal.sum()} of {unequal.size} values{size}, first{place}: "
        f"{got[index]!s} against {wanted[index]!s}"
    )
    return _fact(False, f"{what}: {finding}.", "equality", estimate=largest)


def _same_objects(measured: Any, expected: Any, what: str) -> Decision:
    """Compare strings, tuples and other objects; the sentence names the first place where sequences part."""
    if bool(measured == expected):
        return _fact(True, f"{what}: {_short(measured)}, as expected.", "equality")
    place = ""
    if isinstance(measured, str | tuple | list) and isinstance(expected, type(measured)):
        pairs = zip(measured, expected, strict=False)
        parted = next((i for i, (m, e) in enumerate(pairs) if m != e), min(len(measured), len(expected)))
        place = f", first at {parted}"
    return _fact(False, f"{what}: {_short(measured)} instead of {_short(expected)}{place}.", "equality")


def _fact(holds: bool, sentence: str, rule: str, estimate: float | None = None) -> Decision:
    return Decision(Verdict.HOLDS if holds else Verdict.REFUTED, sentence, rule, estimate, level=0.0)


def _boolean(value: object, what: str) -> bool:
    """Return `value` if it is a boolean: a number or an array taken for true would pass wrongly."""
    if not isinstance(value, bool | np.bool_):
        raise TypeError(f"{what}: expected True or False, got {type(value).__name__} {_short(value)}")
    return bool(value)


def _is_numeric(value: object) -> bool:
    return isinstance(value, np.ndarray | np.generic | bool | int | float | complex)


def _pair(measured: npt.ArrayLike, expected: npt.ArrayLike, what: str) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Return both as arrays of one shape, at least one value, none of them NaN."""
    got, wanted = np.asarray(measured), np.asarray(expected)
    if got.shape != wanted.shape:
        raise ValueError(f"{what!r} compares shape {got.shape} with shape {wanted.shape}: nothing is broadcast")
    if got.size == 0:
        raise ValueError(f"{what!r} compares nothing, shape {got.shape}: a check that cannot fail shows nothing")
    for array, name in ((got, "measured"), (wanted, "expected")):
        if array.dtype.kind in "fc" and np.isnan(array).any():
            raise ValueError(f"{what!r}: the {name} value{_first(np.isnan(array))[1]} is NaN, which equals nothing")
    return got, wanted


def _first(marked: npt.NDArray[np.bool_]) -> tuple[tuple[int, ...], str]:
    """Return the index of the first marked element, and the words for it (none for a scalar)."""
    index = tuple(int(i) for i in np.argwhere(marked)[0])
    return index, f" at {list(index)}" if index else ""


def _values(count: int) -> str:
    return "1 value" if count == 1 else f"{count} values"


def _short(value: object) -> str:
    """Write a value for a sentence, cut where it would drown the rest."""
    text = repr(value)
    return text if len(text) <= 120 else text[:117] + "..."

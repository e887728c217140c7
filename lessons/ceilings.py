"""The best accuracy that any rule can reach on the memory task from less than the whole row, exactly.

A rule that sees a view v of a row is right at most as often as one that names the likelier label for every v, so that
the ceiling is ½·Σ max(P(v | 0), P(v | 1)). In both views here the order of what is seen says nothing, and nine digits
are alike: it is enough to sum over how often the most frequent digit occurs, the next, and so on.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from math import factorial, prod

import numpy as np
from numpy.typing import NDArray

DIGITS = 9


def best_from_counts(length: int) -> Fraction:
    """Return the ceiling for rules that see how often each digit occurs, and no order.

    Args:
        length: positions per row, at least 2.

    Returns:
        an exact share of correct answers, 1/2..1.
    """
    total = Fraction(0)
    for counts, vectors in _patterns(length):
        # Of all rows with these counts, a share count/length starts with a given digit.
        rows = Fraction(vectors * _orders(counts), length)
        total += max(
            rows * counts.count(1) / (DIGITS * 8 ** (length - 1)),
            rows * counts.count(2) * 2 / (DIGITS * (length - 1) * 8 ** (length - 2)),
        )
    return total / 2


def best_without_first(length: int) -> Fraction:
    """Return the ceiling for rules that see every position but the first.

    The row's first digit is missing from the rest of a row labelled 0, and occurs once in that of a row labelled 1.

    Args:
        length: positions per row with the first, at least 2.

    Returns:
        an exact share of correct answers, 1/2..1.
    """
    seen = length - 1
    total = Fraction(0)
    for counts, vectors in _patterns(seen):
        rows = vectors * _orders(counts)
        total += max(
            Fraction(rows * counts.count(0), DIGITS * 8**seen),
            Fraction(rows * counts.count(1), DIGITS * seen * 8 ** (seen - 1)),
        )
    return total / 2


def best_guess_from_counts(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Name the likelier label of each row from its digit counts alone, as `best_from_counts` assumes.

    Args:
        counts: shape (rows, 9), each row with the same sum ≥ 2.

    Returns:
        int64 of shape (rows,), 0 or 1.
    """
    length = counts.sum(axis=1)
    once, twice = (counts == 1).sum(axis=1), (counts == 2).sum(axis=1)
    return np.asarray(16 * twice > (length - 1) * once, dtype=np.int64)


def _patterns(total: int) -> Iterator[tuple[tuple[int, ...], int]]:
    """Yield the digit counts that sum to `total`, in falling order, and how many digits' assignments share them."""
    for parts in _partitions(total, total, DIGITS):
        counts = parts + (0,) * (DIGITS - len(parts))
        alike = prod(factorial(times) for times in Counter(counts).values())
        yield counts, factorial(DIGITS) // alike


def _partitions(total: int, largest: int, parts: int) -> Iterator[tuple[int, ...]]:
    if total == 0:
        yield ()
    elif parts > 0:
        for part in range(min(largest, total), 0, -1):
            for others in _partitions(total - part, part, parts - 1):
                yield (part, *others)


def _orders(counts: tuple[int, ...]) -> int:
    """Return how many sequences have these counts."""
    return factorial(sum(counts)) // prod(map(factorial, counts))

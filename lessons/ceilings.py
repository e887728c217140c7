"""The best accuracy that any rule can reach on the memory task from less than the whole row, exactly.

A rule that sees a view v of a row is right at most as often as one that names the likelier label for every v, so that
the ceiling is ½·Σ max(P(v | 0), P(v | 1)). In both views here the order of what is seen says nothing, and nine digits
are alike: it is enough to sum over how often the most frequent digit occurs, the next, and so on.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from math import comb, factorial, prod

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


def best_without_first(length: int, kept: int = 0) -> Fraction:
    """Return the ceiling for rules that forget the first digit after `kept` further positions.

    While they keep it they notice whether it returns; after that they see the later digits and no longer know what to
    look for. `kept` = 0 is a rule that never sees position 0, `kept` = length − 1 one that sees the whole row.

    The first digit is missing from the rest of a row labelled 0. In the rest of a row labelled 1 it occurs once; if it
    has not been noticed, it is one of the digits that occur once behind the kept positions and not among them.

    Args:
        length: positions per row with the first, at least 2.
        kept: 0..length − 1.

    Returns:
        an exact share of correct answers, 1/2..1.
    """
    rest = length - 1
    # How many rests leave so many of the kept and of the forgotten positions to the digits that are still to come, and
    # so far have so many digits that are missing, and that occur once, behind the kept positions alone.
    rests = Counter({(kept, rest - kept, 0, 0): 1})
    for _ in range(DIGITS):
        longer: Counter[tuple[int, int, int, int]] = Counter()
        for (before, behind, missing, once), ways in rests.items():
            for a, b in product(range(before + 1), range(behind + 1)):
                state = (before - a, behind - b, missing + (a == b == 0), once + (a == 0 and b == 1))
                longer[state] += ways * comb(before, a) * comb(behind, b)
        rests = longer
    unnoticed = sum(
        ways * max(Fraction(missing, DIGITS * 8**rest), Fraction(once, DIGITS * rest * 8 ** (rest - 1)))
        for (before, behind, missing, once), ways in rests.items()
        if before == behind == 0
    )
    return (Fraction(kept, rest) + unnoticed) / 2


def best_guess_without_first(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Name the likelier label of each row from the digits behind position 0, as `best_without_first` assumes.

    Args:
        counts: of these digits, shape (rows, 9), each row with the same sum ≥ 1.

    Returns:
        int64 of shape (rows,), 0 or 1.
    """
    missing, once = (counts == 0).sum(axis=1), (counts == 1).sum(axis=1)
    return np.asarray(8 * once > counts.sum(axis=1) * missing, dtype=np.int64)


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

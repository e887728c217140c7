"""The enumerated ceilings against the definition, row by row, on tasks small enough to write out."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable
from fractions import Fraction
from itertools import product

import pytest

from lessons.ceilings import best_from_counts, best_guess_from_counts, best_guess_without_first, best_without_first
from lessons.counts import digit_counts
from lessons.memory_task import memory_task

Row = tuple[int, ...]


def by_definition(length: int, view: Callable[[Row], Hashable]) -> Fraction:
    """Sum over all rows of both labels, each with its probability."""
    likelihood: dict[Hashable, list[Fraction]] = defaultdict(lambda: [Fraction(0), Fraction(0)])
    for row in product(range(1, 10), repeat=length):
        returns = row[1:].count(row[0])
        if returns == 0:
            likelihood[view(row)][0] += Fraction(1, 9 * 8 ** (length - 1))
        elif returns == 1:
            likelihood[view(row)][1] += Fraction(1, 9 * (length - 1) * 8 ** (length - 2))
    assert [sum(weights) for weights in zip(*likelihood.values(), strict=True)] == [1, 1]
    return sum((max(pair) for pair in likelihood.values()), Fraction(0)) / 2


@pytest.mark.parametrize("length", [2, 3, 4, 5])
def test_counts_ceiling_is_the_sum_over_all_rows(length: int) -> None:
    assert best_from_counts(length) == by_definition(length, lambda row: tuple(sorted(Counter(row).items())))


@pytest.mark.parametrize("length", [2, 3, 4, 5])
def test_hidden_first_ceiling_is_the_sum_over_all_rows(length: int) -> None:
    for kept in range(length):
        assert best_without_first(length, kept) == by_definition(
            length,
            lambda row, kept=kept: (row[1:], row[0] in row[1 : 1 + kept]),  # type: ignore[misc]
        )


def test_a_rule_that_keeps_the_first_digit_is_always_right() -> None:
    assert best_without_first(8, kept=7) == 1


@pytest.mark.parametrize("length", [3, 8, 16])
def test_the_best_guess_reaches_the_ceiling(length: int) -> None:
    rows, labels = memory_task(100_000, length, seed=3)
    from_counts = (best_guess_from_counts(digit_counts(rows)) == labels.numpy()).mean()
    assert abs(from_counts - float(best_from_counts(length))) < 0.006  # four standard deviations
    from_the_rest = (best_guess_without_first(digit_counts(rows[:, 1:])) == labels.numpy()).mean()
    assert abs(from_the_rest - float(best_without_first(length))) < 0.006

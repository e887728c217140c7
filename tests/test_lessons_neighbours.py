from __future__ import annotations

from itertools import product

import pytest
import torch

from lessons.neighbours import LENGTH, ONE_WAY_CEILING, Neighbours, Tagger, neighbour_task
from lessons.training import Training


def test_the_answers_follow_the_rule() -> None:
    digits, answers = neighbour_task(50, seed=1)
    for row, row_answers in zip(digits.tolist(), answers.tolist(), strict=True):
        assert row_answers == [int(right > left) for left, right in zip(row, row[2:], strict=False)]
    assert set(digits.unique().tolist()) == set(range(1, 10))


def test_the_one_way_ceiling_is_the_sum_over_both_neighbours() -> None:
    right = 0
    for left in range(1, 10):
        larger = sum(other > left for other in range(1, 10))
        right += max(larger, 9 - larger)
    assert pytest.approx(right / 81) == ONE_WAY_CEILING


@pytest.mark.parametrize("bidirectional", [False, True])
def test_only_a_two_way_tagger_sees_the_right_neighbour(bidirectional: bool) -> None:
    torch.manual_seed(0)
    model = Tagger(bidirectional=bidirectional)
    digits, _ = neighbour_task(3, seed=0)
    for answer, changed in product(range(LENGTH - 2), range(LENGTH)):
        other = digits.clone()
        other[:, changed] = other[:, changed] % 9 + 1
        moved = not torch.equal(model(other)[:, answer], model(digits)[:, answer])
        assert moved == (bidirectional or changed <= answer + 1)


def test_a_run_is_a_pure_function_of_its_seed() -> None:
    short = Neighbours(bidirectional=True, rows=40, training=Training(epochs=1, reseed=False))
    assert short.run(3, torch.device("cpu")) == short.run(3, torch.device("cpu"))

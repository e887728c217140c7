from __future__ import annotations

import math
from dataclasses import replace

import torch

from lessons.divergence import CLIPPED_TOTAL, START_GAIN, UNCLIPPED_TOTAL, LinearRecurrence, running_totals

CPU = torch.device("cpu")


def test_totals_are_a_quarter_of_the_sum() -> None:
    numbers, totals = running_totals(3, 7, seed=1)
    assert numbers.shape == (3, 7)
    assert numbers.abs().max() <= 1
    assert torch.allclose(totals, numbers.sum(dim=1) / 4)


def test_the_recurrence_is_linear_and_contracts_at_first() -> None:
    model = LinearRecurrence(4)
    one, later = torch.tensor([[1.0, 0.0]]), torch.tensor([[0.0, 1.0]])
    assert torch.allclose(model(3 * one), 3 * model(one))
    assert torch.allclose(model(one), START_GAIN * model(later))


def test_a_run_stops_at_its_first_number_that_is_not_finite() -> None:
    run = replace(UNCLIPPED_TOTAL, learning_rate=1e30, steps=10).run(0, CPU)
    assert run["diverged"]
    assert run["steps"] == len(run["losses"]) < 10
    assert all(math.isfinite(loss) for loss in run["losses"])


def test_a_run_that_goes_well_makes_all_its_steps() -> None:
    run = replace(CLIPPED_TOTAL, steps=10).run(0, CPU)
    assert not run["diverged"]
    assert run["steps"] == len(run["losses"]) == 10
    assert (run["first loss"], run["lowest loss"]) == (run["losses"][0], min(run["losses"]))
    assert replace(CLIPPED_TOTAL, clip=None) == UNCLIPPED_TOTAL

from __future__ import annotations

import math
from dataclasses import replace

import pytest
import torch

from lessons.divergence import (
    CLIPPED_TOTAL,
    LOOSELY_CLIPPED_TOTAL,
    START_GAIN,
    TIGHTLY_CLIPPED_TOTAL,
    UNCLIPPED_TOTAL,
    LinearRecurrence,
    running_totals,
)

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


SHORT = {"steps": 30, "bad_batch": 20, "batch_size": 8}


def test_a_run_stops_at_its_first_number_that_is_not_finite() -> None:
    run = replace(UNCLIPPED_TOTAL, learning_rate=1e30, **SHORT).run(0, CPU)
    assert run["diverged"]
    assert run["steps"] == len(run["losses"]) < 10
    assert all(math.isfinite(loss) for loss in run["losses"])


def test_a_run_that_goes_well_makes_all_its_steps() -> None:
    run = replace(CLIPPED_TOTAL, **SHORT).run(0, CPU)
    losses = run["losses"]
    assert not run["diverged"]
    assert run["steps"] == len(losses) == 30
    assert run["first loss"] == pytest.approx(sum(losses[:10]) / 10)
    assert run["loss before the bad batch"] == pytest.approx(sum(losses[10:20]) / 10)
    assert run["last loss"] == pytest.approx(sum(losses[20:]) / 10)


def test_one_batch_comes_in_other_units() -> None:
    losses = replace(CLIPPED_TOTAL, **SHORT, learning_rate=1e-9).run(0, CPU)["losses"]
    others = losses[:20] + losses[21:]
    assert losses[20] > 1000 * max(others)


def test_runs_differ_in_the_limit_alone() -> None:
    for limited in (CLIPPED_TOTAL, LOOSELY_CLIPPED_TOTAL, TIGHTLY_CLIPPED_TOTAL):
        assert replace(limited, clip=None) == UNCLIPPED_TOTAL
    assert (TIGHTLY_CLIPPED_TOTAL.clip, CLIPPED_TOTAL.clip, LOOSELY_CLIPPED_TOTAL.clip) == (0.01, 1.0, 1000.0)

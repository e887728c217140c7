from __future__ import annotations

import math
from dataclasses import replace

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from lessons.memory_task import MemoryTask
from lessons.recipes import CLIPPING
from lessons.turned_steps import ADAM_TURNED, SGD_TURNED, angle

CPU = torch.device("cpu")
SHORT = MemoryTask(training_rows=256, validation_rows=1)


@given(st.floats(1e-6, 180.0), st.floats(0.1, 10.0))
def test_angles_are_exact_near_nothing_as_well(degrees: float, length: float) -> None:
    radians = math.radians(degrees)
    turned = length * torch.tensor([math.cos(radians), math.sin(radians)], dtype=torch.float64)
    assert angle(torch.tensor([3.0, 0.0]), turned) == pytest.approx(degrees, rel=1e-6)


def test_plain_sgd_is_shortened_and_not_turned() -> None:
    run = replace(SGD_TURNED, data=SHORT).run(0, CPU)
    assert run["clipped steps"] > 0
    assert run["largest turn"] < 0.1
    assert run["largest ratio"] < 1


def test_adam_is_turned() -> None:
    tight = replace(ADAM_TURNED.training, clip=0.01)
    assert replace(ADAM_TURNED, data=SHORT, training=tight).run(0, CPU)["largest turn"] > 0.1


def test_the_page_s_recipe_is_used() -> None:
    assert ADAM_TURNED.training == CLIPPING["with clipping"].training

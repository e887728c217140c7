from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from lessons.clipping import gradient_vector, handed_over, parameter_vector, sgd
from lessons.memory_task import MemoryTask
from lessons.recipes import CLIPPING

CPU = torch.device("cpu")
SHORT = MemoryTask(training_rows=128, validation_rows=1)


def test_vectors_concatenate_in_double_precision() -> None:
    model = torch.nn.Linear(2, 3)
    model(torch.ones(1, 2)).sum().backward()
    assert parameter_vector(model).dtype == gradient_vector(model).dtype == torch.float64
    assert parameter_vector(model).shape == gradient_vector(model).shape == (9,)
    assert gradient_vector(model).tolist() == [1.0] * 9


def test_a_probe_sees_every_step() -> None:
    run = replace(sgd(None), data=SHORT).run(0, CPU)
    assert [len(run[name]) for name in ("norms before", "norms after", "changes")] == [4, 4, 4]
    assert run["norms after"] == pytest.approx(run["norms before"], rel=1e-5)
    rate = sgd(None).training.learning_rate
    assert run["changes"] == pytest.approx([rate * norm for norm in run["norms before"]], rel=1e-3)


def test_probes_of_the_page_differ_in_clipping_alone() -> None:
    assert replace(CLIPPING["with clipping"].training, clip=None) == CLIPPING["without clipping"].training
    assert CLIPPING["with clipping"].training.clip == 1.0


@settings(max_examples=10, deadline=None)
@given(clip=st.floats(1e-3, 10.0), seed=st.integers(0, 1000))
def test_what_is_handed_over_is_the_gradient_up_to_the_limit(clip: float, seed: int) -> None:
    norm, gradient = handed_over("rnn", clip, seed, CPU)
    assert gradient.norm().item() == pytest.approx(min(norm, clip), rel=1e-4)

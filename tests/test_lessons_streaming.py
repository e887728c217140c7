"""A stream is read one element at a time, and what is kept shows in the memory of the process."""

from __future__ import annotations

from itertools import islice

import torch
from torch import nn

from lessons.streaming import memory_along_stream, noise, stream

CPU = torch.device("cpu")


def test_the_same_seed_gives_the_same_noise_and_no_end() -> None:
    first, second = (list(islice(noise(3, 5, CPU), 100)) for _ in range(2))
    assert all(torch.equal(a, b) for a, b in zip(first, second, strict=True))
    assert not torch.equal(first[0], first[1])


def test_an_element_is_asked_for_when_its_output_is() -> None:
    asked = []

    def elements() -> object:
        for element in islice(noise(1, 0, CPU), 10):
            asked.append(element)
            yield element

    outputs = stream(nn.LSTMCell(1, 2), elements())  # type: ignore[arg-type]
    for read in range(1, 4):
        next(outputs)
        assert len(asked) == read


def test_one_number_kept_of_each_element_shows_in_the_memory_of_the_process() -> None:
    early, late = memory_along_stream(4, (2_000, 62_000), CPU, keep_sums=True)
    assert late - early > 2**20

"""The attention probe against cases whose gradients are known."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from lessons.attention import AttentionProbe, gradient_by_position, transformer_block


class Mean(nn.Module):
    """Every output is the mean of all inputs."""

    def forward(self, inputs: Tensor) -> Tensor:
        return inputs.mean(dim=1, keepdim=True).expand_as(inputs)


def test_a_mean_gives_each_position_its_share() -> None:
    direction = torch.tensor([0.6, 0.8])
    gradient = gradient_by_position(Mean(), torch.randn(3, 8, 2), direction)
    torch.testing.assert_close(gradient, torch.full((8,), 1 / 8))


def test_the_last_position_alone_reaches_itself() -> None:
    gradient = gradient_by_position(nn.Identity(), torch.randn(3, 8, 2), torch.tensor([3.0, 4.0]))
    assert gradient.tolist() == [0.0] * 7 + [5.0]


def test_the_probe_depends_on_its_seed_alone() -> None:
    probe = AttentionProbe(lengths=(3, 6), batch=2)
    outcome = probe.run(1, torch.device("cpu"))
    assert outcome == probe.run(1, torch.device("cpu"))
    assert outcome != probe.run(2, torch.device("cpu"))
    assert all(len(series) == 2 and min(series) > 0 for series in outcome.values())


def test_the_probe_differentiates_in_the_first_input_and_in_the_last_but_one() -> None:
    probe = AttentionProbe(lengths=(6,), batch=2)
    outcome = probe.run(1, torch.device("cpu"))
    torch.manual_seed(1)
    block = transformer_block(probe.width, probe.heads)
    direction = nn.functional.normalize(torch.randn(probe.width), dim=0)
    by_position = gradient_by_position(block, torch.randn(2, 6, probe.width), direction)
    assert outcome["gradients"] == [by_position[0].item()]
    assert outcome["gradients of a neighbour"] == [by_position[4].item()]

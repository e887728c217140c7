"""One block of attention on the recall task: what it reads, and that it learns a short one."""

from __future__ import annotations

import torch

from lessons.attention_recall import AttentionRecall
from lessons.recall import recall_task

CPU = torch.device("cpu")


def test_the_last_position_is_read_and_the_order_of_the_others_is_not() -> None:
    torch.manual_seed(0)
    model = AttentionRecall(10).build()
    tokens, _ = recall_task(8, 10, seed=0)
    with torch.no_grad():
        logits = model(tokens)
        torch.testing.assert_close(model(torch.cat([tokens[:, :-1].flip(1), tokens[:, -1:]], dim=1)), logits)
        assert not torch.allclose(model(tokens[:, 1:]), logits)


def test_one_token_is_recalled_over_five_steps() -> None:
    recall = AttentionRecall(5, training_rows=500, validation_rows=100)
    assert recall.run(0, CPU)["accuracy"] == 1.0

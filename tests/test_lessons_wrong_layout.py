from __future__ import annotations

import torch

from lessons.classifiers import RecurrentClassifier, RecurrentClassifierConfig
from lessons.wrong_layout import LayoutForgottenConfig


def test_the_layer_reads_the_columns_of_a_batch_as_sequences() -> None:
    torch.manual_seed(0)
    wrong = LayoutForgottenConfig("lstm").build()
    torch.manual_seed(0)
    right = RecurrentClassifierConfig("lstm").build()
    assert isinstance(right, RecurrentClassifier)
    tokens = torch.randint(1, 10, (6, 8))
    columns, _ = right.recurrent(right.embedding(tokens.T))  # (8, 6, hidden): a sequence for each column
    torch.testing.assert_close(wrong(tokens), right.head(columns[-1]))

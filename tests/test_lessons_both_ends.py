from __future__ import annotations

import torch

from lessons.both_ends import BothEndsConfig
from lessons.classifiers import RecurrentClassifier, RecurrentClassifierConfig


def test_it_reads_the_final_states_of_both_directions() -> None:
    torch.manual_seed(0)
    model = BothEndsConfig("lstm").build()
    assert isinstance(model, RecurrentClassifier)
    tokens = torch.randint(1, 10, (5, 8))
    _, (final, _) = model.recurrent(model.embedding(tokens))
    torch.testing.assert_close(model(tokens), model.head(torch.cat([final[0], final[1]], dim=1)))


def test_it_starts_from_the_weights_of_the_pages_classifier() -> None:
    torch.manual_seed(0)
    ours = BothEndsConfig("lstm").build().state_dict()
    torch.manual_seed(0)
    pages = RecurrentClassifierConfig("lstm", bidirectional=True).build().state_dict()
    assert all(torch.equal(ours[name], pages[name]) for name in pages)

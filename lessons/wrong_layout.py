"""The page's classifier with batch_first forgotten: the layer takes the rows of a batch for steps in time.

A batch of three rows of length 4, and the four "sequences" that the layer reads, one per column:

    1 5 2 7        1 3 6
    3 3 8 4   →    5 3 9
    6 9 1 1        2 8 1
                   7 4 1

What reaches the head for a row is then the state of the last "sequence" at that row: it has read the last digits of
this row and of those above it in the batch.
"""

from __future__ import annotations

from dataclasses import dataclass

from torch import nn

from lessons.classifiers import RecurrentClassifier, RecurrentClassifierConfig
from lessons.memory_task import MemoryTask
from lessons.recipes import Classification


@dataclass(frozen=True)
class LayoutForgottenConfig(RecurrentClassifierConfig):
    """The classifier of both lessons, with the same initial weights, whose layer was not asked for batch_first."""

    def build(self) -> nn.Module:
        """Construct the model on the CPU with weights from the global generator."""
        return LayoutForgotten(self)


class LayoutForgotten(RecurrentClassifier):
    """The model that `LayoutForgottenConfig` configures. Tokens (batch, length) to logits (batch, classes)."""

    def __init__(self, config: RecurrentClassifierConfig) -> None:
        super().__init__(config)
        self.recurrent.batch_first = False


BATCH_FIRST_FORGOTTEN = Classification(MemoryTask(), LayoutForgottenConfig("lstm"))
"""week07 day 1: the page's LSTM classifier, trained as the page trains it, in the wrong layout."""

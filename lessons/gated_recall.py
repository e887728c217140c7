"""The three cells asked for one bit after twenty steps and more, for the advice of week07 day 7 on gated cells."""

from __future__ import annotations

from lessons.recall import RecallTask
from lessons.recipes import CLIPPED, GRU, LSTM, PLAIN_RNN, Classification

STEPS_FROM_TWENTY = (20, 30, 50)

RECALL_FROM_TWENTY = {
    (name, steps): Classification(RecallTask(steps), model, CLIPPED)
    for name, model in (("plain RNN", PLAIN_RNN), ("GRU", GRU), ("LSTM", LSTM))
    for steps in STEPS_FROM_TWENTY
}
"""The week's classifier, trained as in its table of lengths, on a task whose answer is one token far back."""

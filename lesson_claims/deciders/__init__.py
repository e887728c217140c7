"""Deciders: one pure function per kind of claim, from evidence over seeds to a `Decision`.

Each says in its docstring what it assumes and decides; docs/statistics.md states and measures how often
each errs.
"""

from lesson_claims.deciders.deterministic import close, every, same, that
from lesson_claims.deciders.growth import grows
from lesson_claims.deciders.ordering import beats, equivalent
from lesson_claims.deciders.prediction import prediction_interval
from lesson_claims.deciders.proportions import better_than_shuffled, share
from lesson_claims.deciders.sign_test import in_most_seeds, median_interval

__all__ = [
    "beats",
    "better_than_shuffled",
    "close",
    "equivalent",
    "every",
    "grows",
    "in_most_seeds",
    "median_interval",
    "prediction_interval",
    "same",
    "share",
    "that",
]

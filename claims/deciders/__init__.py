"""Deciders: one pure function per kind of claim, from evidence over seeds to a `Decision`.

Each says in its docstring what it assumes and decides; docs/statistics.md states and measures how often
each errs.
"""

from claims.deciders.draws import plausible_draw, prediction_interval
from claims.deciders.facts import close, every, same, that
from claims.deciders.growth import grows
from claims.deciders.majority import LEVEL, median_interval
from claims.deciders.ordering import beats, equivalent
from claims.deciders.proportions import better_than_shuffled, share

__all__ = [
    "LEVEL",
    "beats",
    "better_than_shuffled",
    "close",
    "equivalent",
    "every",
    "grows",
    "median_interval",
    "plausible_draw",
    "prediction_interval",
    "same",
    "share",
    "that",
]

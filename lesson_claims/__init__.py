"""The engine that checks what a page says: every claim and every printed figure, over many seeds.

What the author of a lesson uses is imported from here:

    from lesson_claims import Decide, EvidenceOf, Measure, Recipe, beats, claim, refuted

The pytest plugin is `lesson_claims.plugin`, the command line `lesson-claims`.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lesson_claims.deciders import (
        beats,
        better_than_shuffled,
        close,
        equivalent,
        every,
        grows,
        in_most_seeds,
        median_interval,
        prediction_interval,
        same,
        share,
        that,
    )
    from lesson_claims.decisions import ClaimRefuted, Decision, Verdict
    from lesson_claims.digits import jittered
    from lesson_claims.marks import claim, depends_on_seed, refuted
    from lesson_claims.record import Decide, Measure
    from lesson_claims.runs.evidence import Evidence, EvidenceOf, Sample
    from lesson_claims.runs.numerics import run_numerics
    from lesson_claims.runs.recipe import Outcome, Recipe, SharesFirstSteps, only_differ

_HOMES = {
    "lesson_claims.decisions": ("ClaimRefuted", "Decision", "Verdict"),
    "lesson_claims.deciders": (
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
    ),
    "lesson_claims.digits": ("jittered",),
    "lesson_claims.marks": ("claim", "depends_on_seed", "refuted"),
    "lesson_claims.record": ("Decide", "Measure"),
    "lesson_claims.runs.evidence": ("Evidence", "EvidenceOf", "Sample"),
    "lesson_claims.runs.numerics": ("run_numerics",),
    "lesson_claims.runs.recipe": ("Outcome", "Recipe", "SharesFirstSteps", "only_differ"),
}
_HOME = {name: module for module, names in _HOMES.items() for name in names}

__all__ = [  # noqa: RUF022  in the order of the documentation
    "claim",
    "refuted",
    "depends_on_seed",
    "Measure",
    "Decide",
    "EvidenceOf",
    "Evidence",
    "Sample",
    "Recipe",
    "SharesFirstSteps",
    "Outcome",
    "only_differ",
    "run_numerics",
    "jittered",
    "that",
    "every",
    "same",
    "close",
    "beats",
    "equivalent",
    "share",
    "grows",
    "in_most_seeds",
    "better_than_shuffled",
    "prediction_interval",
    "median_interval",
    "Decision",
    "Verdict",
    "ClaimRefuted",
]


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used: the command line needs none of them, and the deciders need scipy."""
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)

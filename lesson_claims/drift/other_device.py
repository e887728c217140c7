"""A run compared with a baseline of another kind of device: what can be judged is judged, and the rest is named.

An exact figure and a verdict are what they are on any device, a printed tolerance says what a number may differ by, and
a distribution over seeds hardly depends on the device. A float figure without a printed tolerance is left over: other
kernels compute it in another order, or with fewer digits, by how much nobody has said.
"""

import math
from collections.abc import Sequence
from dataclasses import replace

from lesson_claims.drift.compare import Drift
from lesson_claims.results.history import History
from lesson_claims.results.numbers import is_float
from lesson_claims.results.vocabulary import DriftState, Kind

SAYS = (
    "devices differ: the baseline was measured on {baseline}, this run on {run}. Exact figures, verdicts and float"
    " figures with a printed tolerance are judged as on one device, figures over seeds by their distribution;"
    " float figures without a printed tolerance are named and not judged"
)


def nearest_kind(kind: str, kinds: Sequence[str]) -> str:
    """Return the device kind to compare `kind` with: itself, or one of the same sort of device (`cpu`), or any."""
    alike = [other for other in kinds if other.split("-")[0] == kind.split("-")[0]]
    return kind if kind in kinds or not kinds else (alike or list(kinds))[0]


def leave_unjudged(drift: Drift, history: History) -> Drift:
    """Return `drift` with float figures that moved and have no printed tolerance named, and not red."""
    figures = history.figures
    last = figures[(figures["run"] == len(history.runs) - 1) & (figures["figure"] != "")]
    loose = {
        (claim, figure)
        for claim, figure, measured, tolerance in zip(
            last["claim"], last["figure"], last["measured"], last["tolerance"], strict=True
        )
        if is_float(measured) and math.isfinite(float(measured)) and not math.isfinite(tolerance)
    }
    judgements = [
        replace(each, state=DriftState.WITHIN, new=False, sentence=f"{each.sentence}; not judged, devices differ")
        if each.state is DriftState.DRIFTED and each.kind != Kind.EXACT
        and (each.claim, each.figure) in loose and (each.claim, each.figure) not in drift.alarms
        else each
        for each in drift.judgements
    ]  # fmt: skip
    return replace(drift, judgements=judgements)

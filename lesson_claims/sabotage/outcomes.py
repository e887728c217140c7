"""What became of a trial: did the verdict of a claim turn, and by which of its checks?"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from lesson_claims.registry import Claim
from lesson_claims.results.vocabulary import ControlOutcome
from lesson_claims.sabotage.trials import Trial
from lesson_claims.traceability import check_id


@dataclass(frozen=True)
class Decided:
    """What one parametrised check decided in a trial.

    Attributes:
        node: its id.
        claim: of which claim it is.
        expected: what is on record for it: "holds", "refuted", "depends" or "open".
        verdict: "holds", "refuted", "inconclusive", "error" or "not run".
        reason: what went wrong, if it did.
    """

    node: str
    claim: str
    expected: str
    verdict: str
    reason: str = ""


@dataclass(frozen=True)
class Found:
    """What became of a claim in a trial: the outcome, the checks that turned, and what went wrong, if it did."""

    outcome: ControlOutcome
    by: tuple[str, ...] = ()
    reason: str = ""


@dataclass(frozen=True)
class Result:
    """What became of a trial.

    Attributes:
        trial: which.
        own: what became of its claim.
        also: what became of the claims that have to notice too, by id.
        seconds: how long it took.
    """

    trial: Trial
    own: Found
    also: dict[str, Found]
    seconds: float

    @property
    def outcome(self) -> ControlOutcome:
        """Of the whole control: caught if every claim that has to notice did, or else what the first did not."""
        outcomes = (self.own.outcome, *(each.outcome for each in self.also.values()))
        return next((each for each in outcomes if each != ControlOutcome.CAUGHT), ControlOutcome.CAUGHT)

    @property
    def reason(self) -> str:
        """What went wrong, if something did."""
        return next((each.reason for each in (self.own, *self.also.values()) if each.reason), "")


def found(claim: Claim, decided: Iterable[Decided], failure: str = "") -> Found:
    """Return what became of a claim.

    It turned if one of its checks decided otherwise than is on record. Whatever else went wrong then, the check was
    able to notice. Of a refuted claim, a check that is marked as refuting must hold; of one that depends, a marked one
    must be decided, or another be refuted.

    Args:
        claim: whose checks these are.
        decided: what they decided; those of other claims are left out.
        failure: why they could not be run, if they could not.
    """
    own = [each for each in decided if each.claim == claim.id]
    turned = tuple(dict.fromkeys(check_id(each.node) for each in own if _TURNED[claim.expect](each)))
    if turned:
        return Found(ControlOutcome.CAUGHT, turned)
    broken = next((each for each in own if each.verdict in ("error", "not run")), None)
    if failure or broken is not None or not own:
        reason = f"{broken.node}: {broken.reason}" if broken is not None else failure or "none of its checks was run"
        return Found(ControlOutcome.ERROR, (), reason)
    asked = [each for each in own if claim.expect != "refuted" or each.expected == "refuted"]
    if claim.expect != "depends" and any(each.verdict == "inconclusive" for each in asked):
        return Found(ControlOutcome.INCONCLUSIVE)
    return Found(ControlOutcome.MISSED)


_TURNED: dict[str, Callable[[Decided], bool]] = {
    "holds": lambda each: each.verdict == "refuted",
    "refuted": lambda each: each.expected == "refuted" and each.verdict == "holds",
    "depends": lambda each: each.verdict in (("holds", "refuted") if each.expected == "depends" else ("refuted",)),
}
"""Whether a check turned, by what is on record for its claim."""


def with_claims_as_they_are(results: Sequence[Result]) -> list[Result]:
    """Return the results of controls alone; where a claim does not come out as it is, nothing was shown by them."""
    otherwise = {
        each.trial.claim.id: each.own
        for each in results
        if each.trial.control is None and each.own.outcome != ControlOutcome.MISSED
    }
    kept = []
    for each in results:
        if each.trial.control is None:
            continue
        as_it_is = otherwise.get(each.trial.claim.id)
        if as_it_is is not None:
            reason = as_it_is.reason or "its printed figures do not come out here without the sabotage either"
            each = Result(each.trial, Found(ControlOutcome.ERROR, (), reason), each.also, each.seconds)
        kept.append(each)
    return kept

"""What is to be tried: each control with the checks that have to notice it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from lesson_claims.controls import Control
from lesson_claims.registry import Claim, Registry
from lesson_claims.results.vocabulary import Kind
from lesson_claims.traceability import Check


@dataclass(frozen=True)
class Trial:
    """A control of a claim, or the claim as it is.

    Attributes:
        claim: whose control it is.
        control: what is sabotaged; None for nothing.
        checks: ids of the checks to run: those of the claim, and of the claims that have to notice too.
    """

    claim: Claim
    control: Control | None
    checks: tuple[str, ...]

    @property
    def place(self) -> str:
        """How messages name it."""
        return f"{self.claim.id}, control {self.control.breaks!r}" if self.control else f"{self.claim.id} as it is"


def selected(registry: Registry, checks: Iterable[Check], patterns: Sequence[str], *, quick: bool) -> list[Claim]:
    """Return the claims that need controls, in the order of the pages.

    A claim that is open has no verdict that could turn.

    Args:
        registry: what the pages say.
        checks: of all claims.
        patterns: ids, patterns or words, as `Registry.matching` takes them; none for all claims.
        quick: leave out claims with a check that asks for evidence over seeds.
    """
    wanted = {identity for pattern in patterns for identity in registry.matching(pattern)}
    slow = _slow(checks) if quick else set()
    return [
        claim
        for claim in registry.claims.values()
        if claim.expect != "open" and (not patterns or claim.id in wanted) and claim.id not in slow
    ]


def trials(registry: Registry, checks: Sequence[Check], claims: Iterable[Claim], *, quick: bool) -> Iterator[Trial]:
    """Yield the trials of claims; with `quick`, none in which a claim that has to notice too is slow."""
    by_claim: dict[str, list[str]] = {}
    for check in checks:
        by_claim.setdefault(check.claim, []).append(check.id)
    slow = _slow(checks) if quick else set()
    for claim in claims:
        own = by_claim.get(claim.id, [])
        if claim.controls and rests_on_runs(registry, checks, claim):
            yield Trial(claim, None, tuple(own))
        for control in claim.controls:
            if not slow & set(control.also):
                others = [check for other in control.also for check in by_claim.get(other, [])]
                yield Trial(claim, control, tuple(dict.fromkeys([*own, *others])))


def rests_on_runs(registry: Registry, checks: Iterable[Check], claim: Claim) -> bool:
    """Say whether nothing decides a claim but printed figures, some of them of a run.

    These are compared with no other platform's in a trial, so whether they come out here is asked without a sabotage
    first.
    """
    kinds = {figure.kind for figure in registry.figures.get(claim.id, {}).values()}
    return Kind.TRAINED in kinds and not any(check.decides for check in checks if check.claim == claim.id)


def _slow(checks: Iterable[Check]) -> set[str]:
    return {check.claim for check in checks if check.evidence}

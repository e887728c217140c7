"""What a decider concludes: a verdict, the sentence that states it, and the numbers behind it."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from enum import StrEnum

LEVEL = 0.05
"""The error rate of a test that stands alone."""


class Verdict(StrEnum):
    """What the evidence says about a claim."""

    HOLDS = "holds"
    REFUTED = "refuted"
    INCONCLUSIVE = "inconclusive"


class ClaimRefuted(AssertionError):  # noqa: N818  it says what happened; nothing went wrong in the suite
    """The evidence refutes what the page says; never raised for anything else."""


@dataclass(frozen=True, slots=True)
class Levels:
    """What the p-value of a test must reach.

    Attributes:
        holds: for "holds", in (0, 0.5).
        refuted: for "refuted", in (0, 0.5).
        every_look: whether the seeds are looked at more than once, so that e-values decide.
    """

    holds: float = LEVEL
    refuted: float = LEVEL
    every_look: bool = False

    def shared_by(self, tests: int) -> Levels:
        """Return the levels of one of so many tests of a claim: any of them may refute it, all are needed to hold."""
        return replace(self, refuted=self.refuted / max(tests, 1))


@dataclass(frozen=True, slots=True)
class Tested:
    """How strongly a statistical test speaks for either verdict.

    Attributes:
        p_holds: exact p-value against "the claim is false", in [0, 1], for data whose amount was fixed beforehand.
        p_refuted: the same against "the claim is true".
        e_holds: e-value against "the claim is false", in [0, inf], which may be looked at after every seed.
        e_refuted: the same against "the claim is true".
        wins: how many of the seeds agree with the claim; None where nothing is counted by seed.
    """

    p_holds: float
    p_refuted: float
    e_holds: float
    e_refuted: float
    wins: int | None = None

    def joined(self, earlier: Tested) -> Tested:
        """Return what both looks show together: an e-value keeps the height that it once had (Ville 1939)."""
        return replace(
            self,
            e_holds=max(self.e_holds, earlier.e_holds),
            e_refuted=max(self.e_refuted, earlier.e_refuted),
        )


@dataclass(frozen=True, slots=True)
class Decision:
    """One verdict with its evidence, in plain Python values whatever it was made from.

    `sentence` states the finding with its numbers, for a reader of the page. `rule` names the decider's
    method. `estimate` lies between `low` and `high`, all in the unit of the sentence. `p` is the p-value
    behind the verdict (of the likelier direction while it is inconclusive), in [0, 1]; `level` what it had
    to reach, 0 for a deterministic fact. `seeds` counts the independent runs used. `tested` is what a
    statistical test found, from which `at` takes verdict, p and level. Absent numbers are None.

    Raises ValueError where a number is NaN, a probability lies outside [0, 1], a count is negative or the
    sentence is empty.
    """

    verdict: Verdict
    sentence: str
    rule: str
    estimate: float | None = None
    low: float | None = None
    high: float | None = None
    p: float | None = None
    level: float | None = None
    seeds: int = 0
    tested: Tested | None = None

    def __post_init__(self) -> None:
        plain: dict[str, object] = {
            "verdict": Verdict(self.verdict),
            "sentence": str(self.sentence),
            "rule": str(self.rule),
            "seeds": int(self.seeds),
        }
        for name in ("estimate", "low", "high", "p", "level"):
            value = getattr(self, name)
            plain[name] = None if value is None else float(value)
        # NumPy scalars look like numbers until a test worker tries to send them to another process.
        for name, value in plain.items():
            object.__setattr__(self, name, value)
            if isinstance(value, float) and math.isnan(value):
                raise ValueError(f"the {name} of a decision ({self.rule}) is NaN: look for it in the data decided on")
        if not self.sentence.strip():
            raise ValueError(f"a decision ({self.rule}) has no sentence: say what was found")
        for name in ("p", "level"):
            value = getattr(self, name)
            if value is not None and not 0 <= value <= 1:
                raise ValueError(f"the {name} of a decision ({self.rule}) is {value}, outside [0, 1]")
        if self.seeds < 0:
            raise ValueError(f"a decision ({self.rule}) counts {self.seeds} seeds")

    @classmethod
    def of_test(
        cls,
        tested: Tested,
        sentence: str,
        rule: str,
        estimate: float,
        interval: tuple[float, float] | None,
        seeds: int = 0,
    ) -> Decision:
        """Return what a test decides that stands alone, at the level of 0.05 in either direction."""
        low, high = interval or (None, None)
        return cls(Verdict.INCONCLUSIVE, sentence, rule, estimate, low, high, seeds=seeds, tested=tested).at(Levels())

    def at(self, levels: Levels) -> Decision:
        """Return the decision at other levels; a fact, and what no test stands behind, stays as it is."""
        if self.tested is None:
            return self
        found = self.tested
        if levels.every_look:
            p_holds, p_refuted = (1 / max(e, 1.0) for e in (found.e_holds, found.e_refuted))
        else:
            p_holds, p_refuted = found.p_holds, found.p_refuted
        if p_holds <= levels.holds:
            return replace(self, verdict=Verdict.HOLDS, p=p_holds, level=levels.holds)
        if p_refuted <= levels.refuted:
            return replace(self, verdict=Verdict.REFUTED, p=p_refuted, level=levels.refuted)
        likelier = (p_holds, levels.holds) if p_holds <= p_refuted else (p_refuted, levels.refuted)
        return replace(self, verdict=Verdict.INCONCLUSIVE, p=likelier[0], level=likelier[1])

"""What a decider concludes: a verdict, the sentence that states it, and the numbers behind it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum


class Verdict(StrEnum):
    """What the evidence says about a claim."""

    HOLDS = "holds"
    REFUTED = "refuted"
    INCONCLUSIVE = "inconclusive"


class ClaimRefuted(AssertionError):  # noqa: N818  it says what happened; nothing went wrong in the suite
    """The evidence refutes what the page says; never raised for anything else."""


@dataclass(frozen=True, slots=True)
class Decision:
    """One verdict with its evidence, in plain Python values whatever it was made from.

    `sentence` states the finding with its numbers, for a reader of the page. `rule` names the decider's
    method. `estimate` lies between `low` and `high`, all in the unit of the sentence. `p` is the p-value
    behind the verdict (of the likelier direction while it is inconclusive), in [0, 1]; `level` the error
    rate that was allowed, 0 for a deterministic fact. `seeds` counts the independent runs used, `needed`
    those that would decide the claim if the observed shares persist. Absent numbers are None.

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
    needed: int | None = None

    def __post_init__(self) -> None:
        plain: dict[str, object] = {
            "verdict": Verdict(self.verdict),
            "sentence": str(self.sentence),
            "rule": str(self.rule),
            "seeds": int(self.seeds),
            "needed": None if self.needed is None else int(self.needed),
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
        if self.seeds < 0 or (self.needed is not None and self.needed < 0):
            raise ValueError(f"a decision ({self.rule}) counts {self.seeds} seeds and needs {self.needed}")

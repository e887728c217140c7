"""What is said of one claim or figure tonight."""

from dataclasses import dataclass
from enum import StrEnum


class State(StrEnum):
    """Where a number stands against its baseline; the states exclude one another."""

    REPRODUCED = "reproduced"
    WITHIN = "within tolerance"
    NUMERICS = "numerics changed"
    DRIFTED = "drifted"
    NO_BASELINE = "no baseline yet"
    NOT_MEASURED = "not measured"


@dataclass(frozen=True)
class Finding:
    """One claim (no figure) or one figure.

    Attributes:
        new: it turned tonight, so tonight is red; an older change stays quiet until it is accepted.
        sentence: what happened, with numbers; empty where nothing did.
        since: the name of the first run on the new side of a change, or empty.
        cause: what else changed between the last run before it and the first run after it, or empty.
    """

    claim: str
    figure: str
    kind: str
    state: State
    new: bool = False
    sentence: str = ""
    since: str = ""
    cause: str = ""

    @property
    def name(self) -> str:
        """Claim and figure as `trend` takes them."""
        return f"{self.claim}/{self.figure}" if self.figure else self.claim

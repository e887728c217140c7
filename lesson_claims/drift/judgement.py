"""What drift says of one claim or figure of a run."""

from dataclasses import dataclass, replace
from typing import Any

import pandas as pd

from lesson_claims.results.vocabulary import DriftState

CAME_BACK = "came back"
"""How the sentence about a change that is gone again begins."""


@dataclass(frozen=True)
class Judgement:
    """How one claim (no figure) or one figure stands against its baseline; a row of drift.csv.

    Attributes:
        new: it changed in this run and nobody knows of it yet; an older change stays quiet until it is accepted.
        sentence: what happened, with numbers; empty where nothing did.
        since: the name of the first run on the new side of a change, or empty.
        when: when that run started, ISO 8601 UTC, or empty.
        cause: what else changed between the last run before it and the first run after it, or empty.
    """

    claim: str
    figure: str
    kind: str
    state: DriftState
    new: bool = False
    sentence: str = ""
    since: str = ""
    when: str = ""
    cause: str = ""

    @property
    def name(self) -> str:
        """Claim and figure as `lesson-claims trend` takes them."""
        return f"{self.claim}/{self.figure}" if self.figure else self.claim

    def dated(self, run: "pd.Series[Any]") -> "Judgement":
        """Return the judgement with `run`, a row of `History.runs`, as the first run on the new side of the change."""
        return replace(self, since=run["name"], when=run["started"].isoformat(timespec="seconds"))

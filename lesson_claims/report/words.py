"""What the words of a report mean, in one place for the page and its Markdown."""

from collections.abc import Mapping
from typing import Any

from lesson_claims.results.vocabulary import Agreement, ClaimVerdict, Remark

VERDICTS = {
    ClaimVerdict.HOLDS: "The evidence supports what the page says.",
    ClaimVerdict.REFUTED: "The page says more than the evidence bears; a correction follows.",
    ClaimVerdict.INCONCLUSIVE: "The seeds of this run do not decide it; the evidence says in how many it came out.",
    ClaimVerdict.ERROR: "The check itself failed, so nothing is known about the claim.",
    ClaimVerdict.NOT_RUN: "Left out of this run, or lost.",
}
COUNTED = {
    ClaimVerdict.HOLDS: "hold",
    ClaimVerdict.REFUTED: "refuted",
    ClaimVerdict.INCONCLUSIVE: "inconclusive",
    ClaimVerdict.ERROR: "in error",
    ClaimVerdict.NOT_RUN: "not run",
}
AGREEMENTS = {
    Agreement.REPRODUCED: "Equal to the printed figure at its printed digits.",
    Agreement.WITHIN: "Not equal there, but inside the tolerance; of a training run, at the page's own seed.",
    Agreement.OUTSIDE: "Neither: the printed figure could not be reproduced.",
    Agreement.DEPENDS: "At one seed it moves so far between machines that no digit can be judged.",
    Agreement.NOT_JUDGED: "Measured by a clock, which tells of the machine; compared with nothing.",
    Agreement.NOT_PRINTED: "Measured here; the page prints no such figure.",
    Agreement.NOT_MEASURED: "The page prints it, and this run did not measure it.",
}
AGREEMENTS_COUNTED = {
    Agreement.REPRODUCED: "reproduced to the last digit",
    Agreement.WITHIN: "within tolerance",
    Agreement.OUTSIDE: "outside tolerance",
    Agreement.DEPENDS: "dependent on the machine",
    Agreement.NOT_JUDGED: "of a clock, not judged",
    Agreement.NOT_PRINTED: "more measured, which no page prints",
    Agreement.NOT_MEASURED: "printed, but not measured",
}
SIGNS = {
    Agreement.REPRODUCED: "=",
    Agreement.WITHIN: "≈",
    Agreement.OUTSIDE: "≠",
    Agreement.DEPENDS: "±",
    Agreement.NOT_JUDGED: "–",
    Agreement.NOT_PRINTED: "·",
    Agreement.NOT_MEASURED: "?",
}
EMOJI = {
    ClaimVerdict.HOLDS: "✅",
    ClaimVerdict.REFUTED: "🔶",
    ClaimVerdict.INCONCLUSIVE: "🔺",
    ClaimVerdict.ERROR: "🟥",
    ClaimVerdict.NOT_RUN: "⚪",
}


def place(part: str, where: str) -> str:
    """Write where something stands: the part of the lesson and the place in it, either of which may be empty."""
    text = ", ".join(filter(None, (part, where)))
    return text[:1].upper() + text[1:]


def labelled(row: Mapping[str, Any], *, ours: bool) -> list[tuple[str, str]]:
    """Return the texts of a row of errata.csv, each under its label; empty ones are left out.

    `ours` says that the page does not make the claim.
    """
    says = "Not on the page, in our words" if ours else "The page says, in our words"
    two = bool(row["evidence_for_truth"])
    told = (
        ("The page prints" if row["figure"] else says, row["says"]),
        ("What could be added" if row["remark"] == Remark.ADDITION else "What is so", row["truth"]),
        ("Evidence against what the page says" if two else "Evidence", row["evidence"]),
        ("Evidence for what is so", row["evidence_for_truth"]),
        ("Suggestion", row["suggestion"]),
    )
    return [(label, text) for label, text in told if text]

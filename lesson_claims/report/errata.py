"""errata.md: what to change on the pages and what to add to them, for their author."""

from collections.abc import Mapping, Sequence
from typing import Any

from lesson_claims.report.markdown import line, paragraph
from lesson_claims.report.words import labelled, place
from lesson_claims.results.tables import Run
from lesson_claims.results.vocabulary import Remark


def errata(run: Run) -> str:
    """Return the errata and the additions of a run as Markdown, each under its heading and in the page's order."""
    rows = run.errata.to_dict("records")
    claims = {row["claim"]: row for row in run.claims.to_dict("records")}
    additions = [row for row in rows if row["remark"] == Remark.ADDITION]
    parts = [
        "# Errata and additions\n",
        "## Errata\n",
        "What a page says and what is so.\n",
        *_listed([row for row in rows if row["remark"] != Remark.ADDITION], claims),
        "## Additions\n",
        "No error of a page: what could be said as well.\n",
        *_listed(additions, claims),
    ]
    return "\n".join(parts)


def _listed(rows: Sequence[Mapping[str, Any]], claims: Mapping[str, Mapping[str, Any]]) -> list[str]:
    if not rows:
        return ["None.\n"]
    parts = []
    for number, row in enumerate(rows, start=1):
        heading = " · ".join(line(text) for text in (place(row["part"], row["where"]), row["figure"]) if text)
        parts.append(f"### {number}. {heading or line(row['claim'])}\n")
        claim = claims[row["claim"]]
        told = labelled({**row, "says": row["says"] or claim["statement"]}, ours=claim["ours"])
        parts += [f"**{title}.** {paragraph(text)}\n" for title, text in told]
        parts.append(f"Claim {line(row['claim'])}\n")
    return parts

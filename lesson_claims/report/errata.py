"""errata.md: what to change on the pages, for their author."""

from lesson_claims.report.markdown import line, paragraph
from lesson_claims.report.words import place
from lesson_claims.results.tables import Run


def errata(run: Run) -> str:
    """Return the errata of a run as Markdown, in the page's order."""
    parts = ["# Errata\n"]
    rows = run.errata.to_dict("records")
    statements = dict(zip(run.claims["claim"], run.claims["statement"], strict=True))
    if not rows:
        parts.append("None.\n")
    for number, row in enumerate(rows, start=1):
        heading = " · ".join(line(text) for text in (place(row["part"], row["where"]), row["figure"]) if text)
        parts.append(f"## {number}. {heading or line(row['claim'])}\n")
        says = row["says"] or statements[row["claim"]]
        told = (
            ("The page says", says),
            ("What is so", row["truth"]),
            ("Evidence", row["evidence"]),
            ("Suggestion", row["suggestion"]),
        )
        parts += [f"**{title}.** {paragraph(text)}\n" for title, text in told if text]
        parts.append(f"Claim {line(row['claim'])}\n")
    return "\n".join(parts)

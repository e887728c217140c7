"""The run in a page of Markdown for a CI job, and in a few lines for the terminal."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from reports import words
from reports.comparison import Comparison, day
from reports.markdown import line
from reports.numbers import duration
from reports.tables import VERDICTS, Run

LISTED = 30
DRIFTED = 3
"""Numbers that drifted and are named in the summary."""
SLOWEST = 5


def summary(run: Run, comparison: Comparison | None = None) -> str:
    """Return a page of Markdown: tally, what changed, also in its history, what is refuted, what was slow."""
    counts = Counter(run.claims["verdict"])
    rows = run.claims.to_dict("records")
    parts = [f"# {counts['holds']} of {len(rows)} claims hold\n"]
    if not run.info["complete"]:
        parts.append("> [!CAUTION]\n> **This run is incomplete.** Do not quote its totals.\n")
    parts.append("| " + " | ".join(f"{words.EMOJI[name]} {words.COUNTED[name]}" for name in VERDICTS) + " |")
    parts.append("|" + " ---: |" * len(VERDICTS))
    parts.append("| " + " | ".join(str(counts[name]) for name in VERDICTS) + " |\n")
    parts.append(_figures(run) + "\n")
    if run.info["problems"]:
        parts += ["## Problems of the run\n", *(f"- {line(str(text))}" for text in run.info["problems"]), ""]
    parts += ["## What changed\n"]
    changed = [row for row in rows if row["changed"]]
    parts += _list(changed, lambda row: f"expected {row['expected']}, now **{row['verdict']}**", "Nothing.")
    if comparison:
        parts += [_history(comparison), ""]
    if since := run.info["since"]:
        changes = [f"- {line(str(text))}" for text in since.get("changes", [])] or ["Nothing."]
        parts += [f"## Since the run of {line(str(since.get('started', '')))}\n", *changes, ""]
    for verdict in ("error", "refuted", "inconclusive"):
        chosen = [row for row in rows if row["verdict"] == verdict]
        if chosen:
            parts += [f"## {words.EMOJI[verdict]} {verdict.capitalize()}\n"]
            parts += _list(chosen, lambda row: line(row["statement"]), "")
    timed = sorted((row for row in rows if row["seconds"]), key=lambda row: -row["seconds"])[:SLOWEST]
    if timed:
        parts += ["## Slowest\n", *(f"- {duration(row['seconds'])} {line(row['claim'])}" for row in timed), ""]
    return "\n".join(parts)


def terminal_lines(run: Run) -> list[str]:
    """Return what the terminal ends with: tally, figures, changes. Where the report is, its writer knows."""
    counts = Counter(run.claims["verdict"])
    tally = ", ".join(f"{counts[name]} {words.COUNTED[name]}" for name in VERDICTS if counts[name])
    lines = [] if run.info["complete"] else ["INCOMPLETE RUN: do not quote its totals"]
    lines += [f"claims: {tally or 'none'}", _figures(run)]
    changed = [row for row in run.claims.to_dict("records") if row["changed"]]
    if not changed:
        lines.append("changed: nothing")
    for row in changed[:LISTED]:
        claim = "".join(letter if letter.isprintable() else "?" for letter in row["claim"])
        lines.append(f"changed: {claim:.80} expected {row['expected']}, now {row['verdict']}")
    for text in run.info["since"].get("changes", [])[:LISTED]:
        lines.append(
            f"since the run before: {''.join(letter if letter.isprintable() else '?' for letter in str(text)):.120}"
        )
    if len(changed) > LISTED:
        lines.append(f"changed: and {len(changed) - LISTED} more")
    return lines


def _history(comparison: Comparison) -> str:
    """Return the comparison with the history in a line; drift.md has the rest."""
    drifted = comparison.new + comparison.open
    names = [
        line(": ".join(filter(None, (each["claim"], each["figure"]))) + f" since {day(each['since'])}")
        for each in drifted[:DRIFTED]
    ]
    more = f" and {len(drifted) - DRIFTED} more" if len(drifted) > DRIFTED else ""
    told = f" {', '.join(names)}{more}." if names else ""
    return f"**History.** {comparison.headline}{told}"


def _figures(run: Run) -> str:
    counts = Counter(run.measurements["agreement"])
    printed = sum(counts[name] for name in ("reproduced", "within", "outside", "not measured"))
    parts = [f"{counts[name]} {words.AGREEMENTS_COUNTED[name]}" for name in ("within", "outside", "not measured")]
    return f"printed figures: {counts['reproduced']} of {printed} reproduced to the last digit, " + ", ".join(parts)


def _list(rows: Sequence[dict[str, Any]], tell: Any, otherwise: str) -> list[str]:
    lines = [f"- {line(row['claim'])}: {tell(row)}" for row in rows[:LISTED]] or [otherwise]
    if len(rows) > LISTED:
        lines.append(f"- and {len(rows) - LISTED} more")
    return [*lines, ""]

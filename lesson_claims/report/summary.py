"""The run in a page of Markdown for a CI job, and in a few lines for the terminal."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from lesson_claims.report import words
from lesson_claims.report.markdown import line
from lesson_claims.report.statements import beside, heading, is_of_the_page, sentence, statements
from lesson_claims.results.drift_tables import DriftTables, day
from lesson_claims.results.numbers import duration
from lesson_claims.results.tables import Run
from lesson_claims.results.vocabulary import Agreement, ClaimVerdict, Standing

LISTED = 30
DRIFTED = 3
"""Numbers that drifted and are named in the summary."""
SLOWEST = 5


def summary(run: Run, drift: DriftTables | None = None) -> str:
    """Return a page of Markdown: tally, what changed, also in its history, what is refuted, what was slow."""
    rows = run.claims.to_dict("records")
    counts = Counter(row["verdict"] for row in rows if is_of_the_page(row))
    found = statements(run)
    parts = [f"# {heading(run)}\n"]
    if not run.info["complete"]:
        parts.append("> [!CAUTION]\n> **This run is incomplete.** Do not quote its totals.\n")
    if told := sentence(run):
        parts.append(f"{told}\n")
    parts.append("| " + " | ".join(f"{words.EMOJI[name]} {words.COUNTED[name]}" for name in ClaimVerdict) + " |")
    parts.append("|" + " ---: |" * len(ClaimVerdict))
    parts.append("| " + " | ".join(str(counts[name]) for name in ClaimVerdict) + " |\n")
    parts += [f"{text}\n" for text in (beside(run), _figures(run)) if text]
    if run.info["problems"]:
        parts += ["## Problems of the run\n", *(f"- {line(str(text))}" for text in run.info["problems"]), ""]
    parts += ["## What changed\n"]
    changed = [row for row in rows if row["changed"]]
    parts += _list(changed, lambda row: f"expected {row['expected']}, now **{row['verdict']}**", "Nothing.")
    if drift:
        parts += [_history(drift), ""]
    if previous := run.info["previous"]:
        changes = [f"- {line(text)}" for text in previous["changes"]] or ["Nothing."]
        parts += [f"## Since the run of {line(previous['started'])}\n", *changes, ""]
    for verdict in (ClaimVerdict.ERROR, ClaimVerdict.REFUTED, ClaimVerdict.INCONCLUSIVE):
        chosen = [row for row in rows if row["verdict"] == verdict]
        if chosen:
            parts += [f"## {words.EMOJI[verdict]} {verdict.capitalize()}\n"]
            parts += _list(chosen, lambda row: line(row["statement"]), "")
    undecided = [each for each in found if each.standing is Standing.CANNOT]
    if undecided:
        parts += ["## Can't be decided here\n", "What the pages say, in our words, and why.\n"]
        parts += [f"- {line(each.statement)} {line(each.reason)}" for each in undecided] + [""]
    timed = sorted((row for row in rows if row["seconds"]), key=lambda row: -row["seconds"])[:SLOWEST]
    if timed:
        parts += ["## Slowest\n", *(f"- {duration(row['seconds'])} {line(row['claim'])}" for row in timed), ""]
    return "\n".join(parts)


def terminal_lines(run: Run) -> list[str]:
    """Return what the terminal ends with: tally, figures, changes. Where the report is, its writer knows."""
    counts = Counter(row["verdict"] for row in run.claims.to_dict("records") if is_of_the_page(row))
    tally = ", ".join(f"{counts[name]} {words.COUNTED[name]}" for name in ClaimVerdict if counts[name])
    lines = [] if run.info["complete"] else ["INCOMPLETE RUN: do not quote its totals"]
    lines += [f"claims: {tally or 'none'}", *filter(None, (beside(run),)), _figures(run)]
    changed = [row for row in run.claims.to_dict("records") if row["changed"]]
    if not changed:
        lines.append("changed: nothing")
    for row in changed[:LISTED]:
        lines.append(f"changed: {_printable(row['claim']):.80} expected {row['expected']}, now {row['verdict']}")
    for text in (run.info["previous"] or {"changes": []})["changes"][:LISTED]:
        lines.append(f"since the run before: {_printable(text):.120}")
    if len(changed) > LISTED:
        lines.append(f"changed: and {len(changed) - LISTED} more")
    return lines


def _printable(text: str) -> str:
    return "".join(letter if letter.isprintable() else "?" for letter in text)


def _history(drift: DriftTables) -> str:
    """Return how the run compares with its history, in a line; drift.md has the rest."""
    drifted = drift.new + drift.open
    names = [
        line(": ".join(filter(None, (each["claim"], each["figure"]))) + f" since {day(each['when'])}")
        for each in drifted[:DRIFTED]
    ]
    more = f" and {len(drifted) - DRIFTED} more" if len(drifted) > DRIFTED else ""
    told = f" {', '.join(names)}{more}." if names else ""
    return f"**History.** {drift.headline}{told}"


def _figures(run: Run) -> str:
    counts = Counter(run.measurements["agreement"])
    reproduced = counts[Agreement.REPRODUCED]
    printed = sum(counts[name] for name in Agreement) - counts[Agreement.NOT_PRINTED]
    always, seldom = (Agreement.WITHIN, Agreement.OUTSIDE), (Agreement.DEPENDS, Agreement.NOT_JUDGED)
    unlike = [*always, *(name for name in seldom if counts[name]), Agreement.NOT_MEASURED]
    parts = [f"{counts[name]} {words.AGREEMENTS_COUNTED[name]}" for name in unlike]
    return f"printed figures: {reproduced} of {printed} reproduced to the last digit, " + ", ".join(parts)


def _list(rows: Sequence[dict[str, Any]], tell: Any, otherwise: str) -> list[str]:
    named = ((line(row["claim"]) + " (ours)" * row["ours"], tell(row)) for row in rows[:LISTED])
    lines = [f"- {name}: {told}" for name, told in named] or [otherwise]
    if len(rows) > LISTED:
        lines.append(f"- and {len(rows) - LISTED} more")
    return [*lines, ""]

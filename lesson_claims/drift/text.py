"""What was found, in words: for a terminal, and as Markdown for a job summary or an issue."""

from collections import Counter

from lesson_claims.drift.compare import Drift
from lesson_claims.drift.judgement import Judgement
from lesson_claims.results.vocabulary import DriftState


def headline(drift: Drift) -> str:
    """Return the result in one line."""
    if not drift.compared:
        return "nothing to compare with yet: the history has no other run of this kind of device"
    red = len(drift.new)
    known = f"; {len(drift.open)} older changes are not accepted yet" if drift.open else ""
    runs = f"{drift.compared} earlier run{'' if drift.compared == 1 else 's'}"
    return (f"drift: {red} new" if red else "no new drift") + f", against {runs}{known}"


def terminal(drift: Drift) -> str:
    """Return what was found as plain text."""
    lines = [f"{drift.run}: {headline(drift)}"]
    for title, judgements in _sections(drift):
        lines += ["", title, *(f"  {each.name}: {_sentence(each, drift)}" for each in judgements)]
    for title, texts in _lists(drift):
        lines += ["", title, *(f"  {text}" for text in texts)]
    return "\n".join([*lines, "", _tally(drift), ""])


def markdown(drift: Drift) -> str:
    """Return what was found as Markdown, every text of the run escaped."""
    lines = ["# Drift of the lessons' numbers", "", f"`{drift.run}` ({drift.started}): {headline(drift)}."]
    for title, judgements in _sections(drift):
        lines += ["", f"## {title}", "", "| claim | figure | what happened | what else changed | first run |",
                  "| --- | --- | --- | --- | --- |"]  # fmt: skip
        for judgement in judgements:
            cells = (judgement.claim, judgement.figure, ": ".join(filter(None, (judgement.state, judgement.sentence))),
                     judgement.cause, judgement.since)  # fmt: skip
            lines.append("| " + " | ".join(_escaped(cell) for cell in cells) + " |")
    for title, texts in _lists(drift):
        lines += ["", f"## {title}", "", *(f"- {_escaped(text)}" for text in texts)]
    return "\n".join([*lines, "", _tally(drift), ""])


def _sections(drift: Drift) -> list[tuple[str, list[Judgement]]]:
    named = [each for each in drift.judgements if each.sentence and each not in [*drift.new, *drift.open]]
    numerics = [judgement for judgement in named if judgement.state in (DriftState.NUMERICS, DriftState.WITHIN)]
    other = [judgement for judgement in named if judgement not in numerics]
    sections = [
        ("New tonight", drift.new),
        ("Changed earlier, not accepted yet", drift.open),
        ("Moved, but not beyond what is allowed", numerics),
        ("Also", other),
    ]
    return [(title, judgements) for title, judgements in sections if judgements]


def _lists(drift: Drift) -> list[tuple[str, list[str]]]:
    lists = [("Environment since the run before", drift.environment), ("Notes", drift.notes)]
    return [(title, texts) for title, texts in lists if texts]


def _sentence(judgement: Judgement, drift: Drift) -> str:
    since = f"since {judgement.since}" if judgement.since not in ("", drift.run) else ""
    # What moved within its tolerance needs no cause, and on another machine it would be said of every figure.
    cause = "" if judgement.state is DriftState.WITHIN else judgement.cause
    return "; ".join(filter(None, (judgement.state, judgement.sentence, since, cause)))


def _tally(drift: Drift) -> str:
    counts = Counter(judgement.state for judgement in drift.judgements)
    return ", ".join(f"{counts[state]} {state}" for state in DriftState)


def _escaped(text: str) -> str:
    flat = " ".join(text.split())
    for sign in "\\`*_[]|~#":
        flat = flat.replace(sign, f"\\{sign}")
    return flat.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("@", "&#64;")

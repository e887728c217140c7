"""What was found, in words: for a terminal, and as Markdown for a job summary or an issue."""

from collections import Counter
from collections.abc import Sequence

from lesson_claims.drift.compare import Drift
from lesson_claims.drift.judgement import CAME_BACK, Judgement
from lesson_claims.drift.missing import APPEARED
from lesson_claims.results.numbers import count
from lesson_claims.results.vocabulary import DriftState

NAMED = 10
"""Changes within what is allowed that are named; drift.csv has them all."""


def headline(drift: Drift) -> str:
    """Return the result in one line."""
    failed = "did not measure or keep what it should; " if drift.failures else ""
    if not drift.compared:
        return f"{failed}nothing to compare with yet: the history has no other night of this kind of device"
    red = len(drift.new)
    known = f"; {len(drift.open)} older change{_is(drift.open)} not accepted yet" if drift.open else ""
    runs = count(drift.compared, "earlier run")
    return failed + (f"drift: {red} new" if red else "no new drift") + f", against {runs}{known}"


def terminal(drift: Drift) -> str:
    """Return what was found as plain text."""
    lines = [f"{drift.run}: {headline(drift)}"]
    for title, texts in _failures(drift):
        lines += ["", title, *(f"  {text}" for text in texts)]
    for title, judgements, more in _sections(drift):
        lines += ["", title, *(f"  {each.name}: {_sentence(each, drift)}" for each in judgements)]
        lines += [f"  {more}"] if more else []
    for title, texts in _lists(drift):
        lines += ["", title, *(f"  {text}" for text in texts)]
    return "\n".join([*lines, "", _tally(drift), ""])


def markdown(drift: Drift) -> str:
    """Return what was found as Markdown, every text of the run escaped."""
    lines = ["# Drift of the lessons' numbers", "", f"`{drift.run}` ({drift.started}): {headline(drift)}."]
    for title, texts in _failures(drift):
        lines += ["", f"## {title}", "", *(f"- {escaped(text)}" for text in texts)]
    for title, judgements, more in _sections(drift):
        lines += ["", f"## {title}", "", "| claim | figure | what happened | what else changed | first run |",
                  "| --- | --- | --- | --- | --- |"]  # fmt: skip
        for judgement in judgements:
            cells = (judgement.claim, judgement.figure, ": ".join(filter(None, (judgement.state, judgement.sentence))),
                     judgement.cause, judgement.since)  # fmt: skip
            lines.append("| " + " | ".join(escaped(cell) for cell in cells) + " |")
        lines += ["", more] if more else []
    for title, texts in _lists(drift):
        lines += ["", f"## {title}", "", *(f"- {escaped(text)}" for text in texts)]
    return "\n".join([*lines, "", _tally(drift), ""])


def _failures(drift: Drift) -> list[tuple[str, Sequence[str]]]:
    return [("Not measured or not kept", drift.failures)] if drift.failures else []


def _sections(drift: Drift) -> list[tuple[str, list[Judgement], str]]:
    """Return titles, what is listed below each, and how many more there are."""
    looked_after = {id(each) for each in [*drift.new, *drift.open]}
    named = [each for each in drift.judgements if _is_named(each, drift) and id(each) not in looked_after]
    numerics = [each for each in named if each.state in (DriftState.NUMERICS, DriftState.WITHIN)
                and not each.sentence.startswith(CAME_BACK)]  # fmt: skip
    other = [judgement for judgement in named if judgement not in numerics]
    sections = [("New tonight", drift.new, ""), ("Changed earlier, not accepted yet", drift.open, "")]
    for title, judgements in (("Moved, but not beyond what is allowed", numerics), ("Also", other)):
        more = len(judgements) - NAMED
        sections.append((title, judgements[:NAMED], f"and {more} more, in drift.csv" if more > 0 else ""))
    return [section for section in sections if section[1]]


def _is_named(judgement: Judgement, drift: Drift) -> bool:
    """Say whether a reader should see it: not each figure without a baseline, nor each of a claim that appeared."""
    for words in (APPEARED, CAME_BACK):
        if judgement.sentence.startswith(words):
            claims = {each.claim for each in drift.judgements if not each.figure and each.sentence.startswith(words)}
            return not judgement.figure or judgement.claim not in claims
    return bool(judgement.sentence) and judgement.state is not DriftState.NO_BASELINE


def _lists(drift: Drift) -> list[tuple[str, Sequence[str]]]:
    lists: list[tuple[str, Sequence[str]]] = [
        ("Environment since the run before", drift.environment),
        ("Seeds of an earlier night again", drift.again),
        ("Notes", drift.notes),
    ]
    return [(title, texts) for title, texts in lists if texts]


def _sentence(judgement: Judgement, drift: Drift) -> str:
    since = f"since {judgement.since}" if judgement.since not in ("", drift.run) else ""
    # What moved within its tolerance needs no cause, and on another machine it would be said of every figure.
    cause = "" if judgement.state is DriftState.WITHIN else judgement.cause
    return "; ".join(filter(None, (judgement.state, judgement.sentence, since, cause)))


def _tally(drift: Drift) -> str:
    counts = Counter(judgement.state for judgement in drift.judgements)
    return ", ".join(f"{counts[state]} {state}" for state in DriftState if counts[state])


def _is(judgements: Sequence[Judgement]) -> str:
    return " is" if len(judgements) == 1 else "s are"


def escaped(text: str) -> str:
    """Return a text of a run as Markdown that shows it as it is, in one line."""
    flat = " ".join(text.split())
    for sign in "\\`*_[]|~#":
        flat = flat.replace(sign, f"\\{sign}")
    return flat.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("@", "&#64;")

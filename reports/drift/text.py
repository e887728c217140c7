"""What was found, in words: for a terminal, and as Markdown for a job summary or an issue."""

from collections import Counter

from reports.drift.compare import Drift
from reports.drift.finding import Finding, State


def headline(drift: Drift) -> str:
    """Return the result in one line."""
    if not drift.compared:
        return "nothing to compare with yet: the history has no other run of this kind of device"
    red = len(drift.new)
    known = f"; {len(drift.open)} older changes are not accepted yet" if drift.open else ""
    return (f"drift: {red} new" if red else "no new drift") + f", against {drift.compared} earlier runs{known}"


def terminal(drift: Drift) -> str:
    """Return what was found as plain text."""
    lines = [f"{drift.run}: {headline(drift)}"]
    for title, findings in _sections(drift):
        lines += ["", title, *(f"  {finding.name}: {_sentence(finding)}" for finding in findings)]
    for title, texts in _lists(drift):
        lines += ["", title, *(f"  {text}" for text in texts)]
    return "\n".join([*lines, "", _tally(drift), ""])


def markdown(drift: Drift) -> str:
    """Return what was found as Markdown, every text of the run escaped."""
    lines = ["# Drift of the lessons' numbers", "", f"`{drift.run}` ({drift.started}): {headline(drift)}."]
    for title, findings in _sections(drift):
        lines += ["", f"## {title}", "", "| claim | figure | what happened | what else changed | first run |",
                  "| --- | --- | --- | --- | --- |"]  # fmt: skip
        for finding in findings:
            cells = (finding.claim, finding.figure, f"{finding.state}: {finding.sentence}".removesuffix(": "),
                     finding.cause, finding.since)  # fmt: skip
            lines.append("| " + " | ".join(_escaped(cell) for cell in cells) + " |")
    for title, texts in _lists(drift):
        lines += ["", f"## {title}", "", *(f"- {_escaped(text)}" for text in texts)]
    return "\n".join([*lines, "", _tally(drift), ""])


def _sections(drift: Drift) -> list[tuple[str, list[Finding]]]:
    named = [finding for finding in drift.findings if finding.sentence and finding not in [*drift.new, *drift.open]]
    numerics = [finding for finding in named if finding.state in (State.NUMERICS, State.WITHIN)]
    other = [finding for finding in named if finding not in numerics]
    sections = [
        ("New tonight", drift.new),
        ("Changed earlier, not accepted yet", drift.open),
        ("Moved, but not beyond what is allowed", numerics),
        ("Also", other),
    ]
    return [(title, findings) for title, findings in sections if findings]


def _lists(drift: Drift) -> list[tuple[str, list[str]]]:
    lists = [("Environment since the run before", drift.environment), ("Notes", drift.notes)]
    return [(title, texts) for title, texts in lists if texts]


def _sentence(finding: Finding) -> str:
    since = f"since {finding.since}" if finding.since and not finding.new else ""
    return "; ".join(filter(None, (finding.state, finding.sentence, since, finding.cause)))


def _tally(drift: Drift) -> str:
    counts = Counter(finding.state for finding in drift.findings)
    return ", ".join(f"{counts[state]} {state}" for state in State)


def _escaped(text: str) -> str:
    flat = " ".join(text.split())
    for sign in "\\`*_[]|~#":
        flat = flat.replace(sign, f"\\{sign}")
    return flat.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("@", "&#64;")

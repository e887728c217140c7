"""Every statement of the pages and where it stands after a run: what the report's first sentence counts."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from lesson_claims.results.columns import STATEMENTS
from lesson_claims.results.csv_files import csv_text, frame
from lesson_claims.results.tables import Run
from lesson_claims.results.vocabulary import TOO_FEW_SEEDS, ClaimVerdict, Expectation, Standing

WORDS = {
    Standing.HOLDS: ("holds", "hold"),
    Standing.REFUTED: ("is refuted", "are refuted"),
    Standing.DEPENDS: ("depends on the seed or the machine", "depend on the seed or the machine"),
    Standing.UNDECIDED: ("is not decided yet", "are not decided yet"),
    Standing.ERROR: ("is in error", "are in error"),
    Standing.NOT_RUN: ("was not run", "were not run"),
    Standing.CANNOT: ("can't be decided here", "can't be decided here"),
}
"""What is said of one statement, and of more."""

LEFT_OUT = (Standing.NOT_RUN, Standing.CANNOT)
"""Standings of what a run has not looked at."""


@dataclass(frozen=True)
class Statement:
    """A statement of the page: a claim, or a sentence that nothing here can decide.

    Attributes:
        lesson: id of the lesson.
        part: name of the part, or "".
        where: where in the part it stands.
        statement: what the page says, in our words.
        standing: where it stands after the run.
        claim: id of the claim; empty for a sentence that can't be decided.
        correction: of a refuted claim, what is true instead, if the run bears it out.
        reason: why it can't be decided, if it can't.
    """

    lesson: str
    part: str
    where: str
    statement: str
    standing: Standing
    claim: str = ""
    correction: str = ""
    reason: str = ""


def statements(run: Run) -> list[Statement]:
    """Return the statements of the pages in their order; those of a part that can't be decided follow its claims.

    Corrected claims and claims of ours are none of them.
    """
    claims = run.claims.to_dict("records")
    corrections = {
        row["instead_of"]: row for row in claims if row["instead_of"] and row["verdict"] == ClaimVerdict.HOLDS
    }
    too_few = set(run.decisions.loc[run.decisions["rule"] == TOO_FEW_SEEDS, "claim"])
    places: dict[tuple[str, str], list[Statement]] = {}
    for row in claims:
        if not is_of_the_page(row):
            continue
        standing = _standing(row, too_few=row["claim"] in too_few)
        correction = corrections.get(row["claim"]) if standing is Standing.REFUTED else None
        places.setdefault((row["lesson"], row["part"]), []).append(
            Statement(
                row["lesson"],
                row["part"],
                row["where"],
                row["statement"] or row["claim"],
                standing,
                claim=row["claim"],
                correction=correction["statement"] if correction else "",
            )
        )
    for item in run.info["undecided"]:
        places.setdefault((item["lesson"], item["part"]), []).append(
            Statement(item["lesson"], item["part"], item["where"], item["says"], Standing.CANNOT, reason=item["reason"])
        )
    return [each for group in places.values() for each in group]


def is_of_the_page(row: Mapping[str, Any]) -> bool:
    """Say whether a row of claims.csv is a statement of the page: no corrected claim, and none of ours."""
    return not (row["instead_of"] or row["ours"])


def heading(run: Run) -> str:
    """Say in a few words how many statements hold, of those that the run looked at."""
    counts = Counter(each.standing for each in statements(run))
    left_out = counts[Standing.NOT_RUN]
    if not left_out:
        return f"{counts[Standing.HOLDS]} of {counts.total()} statements hold"
    looked_at = counts.total() - sum(counts[name] for name in LEFT_OUT)
    not_run = f"{left_out} {WORDS[Standing.NOT_RUN][left_out > 1]}"
    return f"{counts[Standing.HOLDS]} of {looked_at} statements hold; {not_run}"


def sentence(run: Run) -> str:
    """Say in a sentence how many statements the pages make and where they stand; empty where there is none."""
    found = statements(run)
    if not found:
        return ""
    by_standing = {name: [each for each in found if each.standing is name] for name in Standing}
    told = {name: _told(name, group) for name, group in by_standing.items() if group}
    seen = [words for name, words in told.items() if name not in LEFT_OUT]
    unseen = [words for name, words in told.items() if name in LEFT_OUT]
    pages = "page" if len({each.lesson for each in found}) == 1 else "pages"
    total = f"{len(found)} statement{'' if len(found) == 1 else 's'} of the {pages}"
    if not by_standing[Standing.NOT_RUN]:
        return f"Of {total}, {_listed([*seen, *unseen])}."
    looked_at = len(found) - sum(len(by_standing[name]) for name in LEFT_OUT)
    of_these = f": {_listed(seen)}" if seen else ""
    return f"Of {total}, this run looked at {looked_at}{of_these}; {_listed(unseen)}."


def beside(run: Run) -> str:
    """Say how many corrected claims and claims of ours there are beside the statements, and their verdicts."""
    rows = run.claims.to_dict("records")
    told = [
        _verdicts(noun, [_standing(row, too_few=False) for row in chosen])
        for noun, chosen in (
            ("corrected claim", [row for row in rows if row["instead_of"]]),
            ("claim of ours", [row for row in rows if row["ours"] and not row["instead_of"]]),
        )
        if chosen
    ]
    return f"Beside them: {_listed(told)}." if told else ""


def table(run: Run) -> str:
    """Return the text of statements.csv."""
    return csv_text(STATEMENTS, frame(STATEMENTS, [asdict(each) for each in statements(run)], "statements"))


def _standing(row: Mapping[str, Any], *, too_few: bool) -> Standing:
    if row["verdict"] == ClaimVerdict.INCONCLUSIVE:
        # With too few seeds nothing was shown, not even that it depends on them.
        return Standing.DEPENDS if row["expected"] == Expectation.DEPENDS and not too_few else Standing.UNDECIDED
    return Standing(row["verdict"])


def _told(standing: Standing, group: Sequence[Statement]) -> str:
    """Say how many statements have a standing; of the refuted ones also how many have a correction."""
    one, many = WORDS[standing]
    told = f"{len(group)} {one if len(group) == 1 else many}"
    if standing is not Standing.REFUTED:
        return told
    corrected = sum(bool(each.correction) for each in group)
    if corrected == len(group):
        return f"{told}, {'with' if corrected == 1 else 'each with'} its correction"
    return f"{told}, {f'{corrected} of them with a' if corrected else 'with no'} correction that holds"


def _verdicts(noun: str, standings: Sequence[Standing]) -> str:
    """Say how many claims of a sort there are, and how many have each standing."""
    counts = Counter(standings)
    told = [f"{counts[name]} {WORDS[name][counts[name] > 1]}" for name in Standing if counts[name]]
    plural = noun if len(standings) == 1 else noun.replace("claim", "claims")
    return f"{len(standings)} {plural} ({', '.join(told)})"


def _listed(items: Iterable[str]) -> str:
    *most, last = items
    joint = ", and " if any("," in item for item in most) else " and "
    return joint.join(filter(None, (", ".join(most), last)))

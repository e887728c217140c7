"""Errata and additions: what a page says, what is true or missing, the evidence, and a sentence for the page.

All numbers are one run's. An erratum is an error of the page, or a number that hangs on the seed or the machine; an
addition stands with a claim that holds, or with a printed number that comes out.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from lesson_claims.registry import CORRECTED, Claim, Registry
from lesson_claims.results.vocabulary import Agreement, Remark

PLACE = re.compile(r"\{([^{}:]+)(?::([^{}]*))?\}")
FORMAT = re.compile(r"[,+]?(\.\d+)?[efg%d]?")

LOTTERY = 0.02
"""Half the width from which a trained figure's interval says that the printed digits are luck."""


UNDECIDED = "(So far: this run does not decide it.)"
"""What an erratum adds to a truth that rests on a corrected claim which does not hold in this run."""


class UnknownNumber(LookupError):  # noqa: N818
    """A suggested sentence names a number that the run has not measured."""


def fill(text: str, numbers: Mapping[str, Any]) -> str:
    """Put measured numbers in the place of their names in braces.

    The format after the colon is one of a few for numbers: nothing from a file is evaluated.

    Raises:
        UnknownNumber: if a name is none of the run's, or the format is not allowed.
    """

    def number(match: re.Match[str]) -> str:
        name, form = match.group(1), match.group(2) or ""
        if name not in numbers:
            raise UnknownNumber(f"{{{name}}} was not measured")
        if not FORMAT.fullmatch(form):
            raise UnknownNumber(f"{{{name}:{form}}} has no format for a number, such as .3f or .1%")
        value = numbers[name]
        return format(value, form) if form else str(value)

    filled = PLACE.sub(number, text)
    if "{" in filled or "}" in filled:
        raise UnknownNumber(f"a brace is left over in {filled!r}")
    return filled


def errata(
    registry: Registry,
    verdicts: Mapping[str, str],
    measurements: Sequence[Mapping[str, Any]],
    sentences: Mapping[str, str],
) -> list[dict[str, Any]]:
    """Return the errata and additions of a run, in the order of the pages.

    Args:
        registry: what the pages say.
        verdicts: verdict of each claim.
        measurements: rows of the run, those of trained figures with their samples.
        sentences: for each claim, what its deciding checks found; of one with an addition, what shows that addition.
    """
    rows: list[dict[str, Any]] = []
    by_claim: dict[str, list[Mapping[str, Any]]] = {}
    for row in measurements:
        by_claim.setdefault(row["claim"], []).append(row)
    for claim in registry.claims.values():
        if claim.is_corrected:
            continue
        own = by_claim.get(claim.id, []) + by_claim.get(claim.id + CORRECTED, [])
        verdict = verdicts.get(claim.id)
        if claim.truth and _truth_applies(claim, verdict):
            rows.append(_claim_erratum(claim, own, sentences, verdicts))
        elif verdict == "refuted" and not claim.ours:
            rows.append(
                {
                    "claim": claim.id,
                    "remark": Remark.ERRATUM,
                    "part": claim.part,
                    "where": claim.where,
                    "says": claim.says,
                    "truth": "This run refutes it; nobody has written down yet what is true instead.",
                    "evidence": sentences.get(claim.id, ""),
                    "suggestion": "",
                }
            )
        rows.extend(_lottery_tickets(registry, claim, by_claim.get(claim.id, [])))
    return rows


def _truth_applies(claim: Claim, verdict: str | None) -> bool:
    """Say whether a run bears out what we say is true: a correction, or an addition to a claim that holds."""
    if claim.expect == "depends":
        return verdict in ("inconclusive", "refuted")
    return verdict == claim.expect


def _claim_erratum(
    claim: Claim, own: Iterable[Mapping[str, Any]], sentences: Mapping[str, str], verdicts: Mapping[str, str]
) -> dict[str, Any]:
    numbers: dict[str, Any] = {}
    for row in own:
        if row["agreement"] != "not measured":
            numbers[row["figure"]] = row["measured"]
            sample = [value for _, value in row.get("sample", []) if not isinstance(value, str)]
            if sample:
                numbers |= {f"median {row['figure']}": float(np.median(sample))}
                numbers |= {f"lowest {row['figure']}": min(sample), f"highest {row['figure']}": max(sample)}
    corrected = verdicts.get(claim.id + CORRECTED, "holds") == "holds"
    try:
        suggestion = fill(claim.suggest, numbers)
    except UnknownNumber:
        suggestion = ""  # a run of few seeds, or of a part of the claims, has not measured all that is quoted
    return {
        "claim": claim.id,
        "remark": Remark.ADDITION if claim.expect == "holds" else Remark.ERRATUM,
        "part": claim.part,
        "where": claim.where,
        "says": claim.says,
        "truth": claim.truth if corrected else f"{claim.truth} {UNDECIDED}",
        "evidence": sentences.get(claim.id, ""),
        "evidence_for_truth": sentences.get(claim.id + CORRECTED, "") if corrected else "",
        "suggestion": suggestion,
    }


def _lottery_tickets(registry: Registry, claim: Claim, rows: Iterable[Mapping[str, Any]]) -> Iterable[dict[str, Any]]:
    """Yield a row for each printed number of a training run that does not come out, or that is luck.

    A number that comes out at the page's own seed is no error, however few other seeds give it: that is an addition.
    """
    for row in rows:
        figure = registry.figures.get(claim.id, {}).get(row["figure"])
        values = [value for _, value in row.get("sample", []) if not isinstance(value, str)]
        if figure is None or figure.number is None or figure.kind != "trained" or len(values) < 2 or row["low"] is None:
            continue
        low, high = min(values), max(values)
        middle = float(np.median(values))
        truth = _what_is_so(row, middle)
        if not truth:
            continue
        below = sum(value < float(figure.number.value) for value in values)
        # Two digits of the range tell its ends and its middle apart.
        decimals = max(0, 1 - math.floor(math.log10(high - low))) if high > low else 2
        typical, least, most = (f"{value:.{decimals}f}" for value in (middle, low, high))
        yield {
            "claim": claim.id,
            "remark": (
                Remark.ERRATUM if row["agreement"] in (Agreement.OUTSIDE, Agreement.DEPENDS) else Remark.ADDITION
            ),
            "part": claim.part,
            "figure": row["figure"],
            "where": figure.where,
            "says": f"{row['figure']}: {figure.printed}",
            "truth": truth,
            "evidence": (
                f"{len(values)} seeds give {low:.4g} to {high:.4g}, median {middle:.4g}; {below} of them lie below the "
                f"printed number; a further run is expected between {row['low']:.4g} and {row['high']:.4g}."
            ),
            "suggestion": f"about {typical} ({least} to {most} over {len(values)} seeds)",
        }


def _what_is_so(row: Mapping[str, Any], middle: float) -> str:
    """Return what is true of a printed number of a training run, instead of its digits; empty if they may stand."""
    low, high, count = row.get("page_low"), row.get("page_high"), row.get("platforms") or 1
    platforms = "on the one platform tried" if count == 1 else f"on the {count} platforms tried"
    if low is not None and row["agreement"] == Agreement.OUTSIDE:
        given = f"{low:.4g}" if low == high else f"{low:.4g} to {high:.4g}"
        return f"The page's own seed does not give it: it gives {given} {platforms}."
    if low is not None and row["agreement"] == Agreement.DEPENDS:
        return (
            f"The page's own seed gives {low:.4g} to {high:.4g} {platforms}, so give a range and not one run's number."
        )
    if row["high"] - row["low"] > 2 * LOTTERY:
        return f"Another seed gives another number: about {middle:.3g} is typical."
    return ""

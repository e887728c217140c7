"""The verdicts of a run, corrected for multiple tests: decisions, claims and errata.

What a test says by itself is kept beside the corrected verdict, in decisions.csv, and errata that wait stand in
`run.json` as `withheld`. So parts of a run, each of which was corrected by itself, can be merged as their tests alone
decided, and corrected once more over all of them.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd

from lesson_claims.results import multiplicity
from lesson_claims.results.errors import ReportError
from lesson_claims.results.tables import Run
from lesson_claims.results.vocabulary import ClaimVerdict

WORST_FIRST = (ClaimVerdict.ERROR, ClaimVerdict.REFUTED, ClaimVerdict.INCONCLUSIVE, ClaimVerdict.HOLDS)
"""Of several verdicts, the first of these that is among them is that of all together."""

DECIDED = (ClaimVerdict.HOLDS, ClaimVerdict.REFUTED)

_Correction = Callable[[Sequence[Mapping[str, Any]]], list[dict[str, Any]]]


def correct(run: Run) -> Run:
    """Return an uncorrected run with the verdicts that do not survive the correction made inconclusive.

    Raises ReportError where a p-value is NaN or outside [0, 1].
    """
    try:
        return _decided_by(multiplicity.corrected, run)
    except ValueError as error:
        raise ReportError(f"decisions.csv, column 'p': {error}; run the suite again") from error


def uncorrect(run: Run) -> Run:
    """Return a corrected run as each of its tests decided by itself."""
    return _decided_by(multiplicity.uncorrected, run)


def evidence(decisions: Sequence[Mapping[str, Any]], verdict: str) -> str:
    """Return the sentences of a claim's decisions, first those that made its verdict."""
    return " ".join(row["sentence"] for row in sorted(decisions, key=lambda row: row["verdict"] != verdict))


def changed(verdict: str, expected: str) -> bool:
    """Say whether a claim was decided otherwise than expected."""
    return verdict in DECIDED and expected in DECIDED and verdict != expected


def _decided_by(correction: _Correction, run: Run) -> Run:
    before = run.decisions.to_dict("records")
    after = correction(before)
    touched = {row["claim"] for row, old in zip(after, before, strict=True) if row != old}
    by_claim: dict[str, list[dict[str, Any]]] = {}
    for row in after:
        by_claim.setdefault(row["claim"], []).append(row)
    claims = [
        _claim(row, by_claim[row["claim"]]) if row["claim"] in touched else row for row in run.claims.to_dict("records")
    ]
    verdicts = {row["claim"]: row["verdict"] for row in claims}
    counts = Counter(verdicts.values())
    errata, withheld = _errata(run, touched, verdicts, by_claim)
    return replace(
        run,
        decisions=_frame(run.decisions, after),
        claims=_frame(run.claims, claims),
        errata=errata,
        info={**run.info, "counts": {name.value: counts[name] for name in ClaimVerdict}, "withheld": withheld},
    )


def _claim(row: dict[str, Any], decisions: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    verdict = row["verdict"]
    if verdict == ClaimVerdict.ERROR:
        return row  # its evidence is what went wrong
    if verdict != ClaimVerdict.NOT_RUN:
        made = {decision["verdict"] for decision in decisions}
        verdict = next(name.value for name in WORST_FIRST if name in made)
    return {**row, "verdict": verdict, "changed": changed(verdict, row["expected"]),
            "evidence": evidence(decisions, verdict)}  # fmt: skip


def _errata(
    run: Run, touched: set[str], verdicts: Mapping[str, str], by_claim: Mapping[str, Sequence[Mapping[str, Any]]]
) -> tuple[pd.DataFrame, list[dict[str, Any]]]:
    """Return the errata of claims that are decided, and the withheld ones, of claims that are inconclusive.

    An erratum about a figure rests on no verdict and always stands.
    """
    place = {claim: number for number, claim in enumerate(verdicts)}
    instead = {row["instead_of"]: row["claim"] for row in run.claims.to_dict("records") if row["instead_of"]}
    rows = [*run.errata.to_dict("records"), *_kept(run)]
    rows.sort(key=lambda row: (place[row["claim"]], row["figure"] != ""))
    standing: list[dict[str, Any]] = []
    withheld: list[dict[str, Any]] = []
    for row in rows:
        stands = row["figure"] or verdicts[row["claim"]] != ClaimVerdict.INCONCLUSIVE
        about = (row["claim"], instead.get(row["claim"], ""))
        if not row["figure"] and touched.intersection(about):
            first = (_first(by_claim.get(claim, ()), verdicts.get(claim, "")) for claim in about)
            row = {**row, "evidence": " ".join(filter(None, first))}
        (standing if stands else withheld).append(row)
    return pd.DataFrame(standing, columns=run.errata.columns, dtype=object), withheld


def _kept(run: Run) -> list[dict[str, Any]]:
    rows = run.info["withheld"]
    if not all(isinstance(row, Mapping) for row in rows):
        raise ReportError("run.json: 'withheld' must be a list of errata; run the suite again")
    kept: list[dict[str, Any]] = Run.from_rows({"complete": True}, errata=rows).errata.to_dict("records")
    if unknown := [row["claim"] for row in kept if row["claim"] not in set(run.claims["claim"])]:
        raise ReportError(f"run.json: 'withheld' is about {unknown[0]!r:.80}, which has no row in claims.csv")
    return kept


def _first(decisions: Sequence[Mapping[str, Any]], verdict: str) -> str:
    """Return the sentence of the first decision that made a verdict."""
    return next((row["sentence"] for row in decisions if row["verdict"] == verdict), "")


def _frame(like: pd.DataFrame, rows: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """Build a table with the columns, types and index of another one."""
    columns = {
        name: pd.Series([row[name] for row in rows], dtype=like[name].dtype, index=like.index) for name in like.columns
    }
    return pd.DataFrame(columns, columns=like.columns)

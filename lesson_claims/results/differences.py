"""The differences between two runs: verdicts, figures, and the machine and versions that may explain them."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from lesson_claims.results.tables import Run
from lesson_claims.results.vocabulary import Agreement, ClaimVerdict

EXPLAINS = ("torch", "numpy", "scikit-learn", "python", "processor", "cpu capability", "blas", "device", "threads")
"""Parts of the environment that may move a number."""


def differences(before: Run, after: Run) -> dict[str, Any]:
    """Return what `run.json` keeps under "previous": which run came before, and a line per difference, in page order.

    A claim that one of the two runs left out makes no difference; a claim that one of them does not know is named.
    The same goes for the printed figures.
    """
    lines = []
    for name in EXPLAINS:
        old, new = (str(run.info["environment"].get(name, "unknown")) for run in (before, after))
        if old != new:
            lines.append(f"{name}: {old} → {new}")
    verdicts = [_states(run, "claims", "verdict") for run in (before, after)]
    lines += _moves(verdicts[0], verdicts[1], ClaimVerdict.NOT_RUN)
    skipped = {claim for states in verdicts for claim, verdict in states.items() if verdict == ClaimVerdict.NOT_RUN}
    figures = [_states(run, "measurements", "agreement", without=skipped) for run in (before, after)]
    lines += _moves(figures[0], figures[1], Agreement.NOT_MEASURED)
    return {"started": before.info["started"], "commit": before.info["commit"], "changes": lines}


def _states(run: Run, table: str, column: str, without: Collection[str] = ()) -> dict[str, str]:
    rows = [row for row in run.tables()[table].to_dict("records") if row["claim"] not in without]
    return {": ".join(filter(None, (row["claim"], row.get("figure", "")))): row[column] for row in rows}


def _moves(before: dict[str, str], after: dict[str, str], silent: str) -> list[str]:
    lines = []
    for key in [*after, *(key for key in before if key not in after)]:
        old, new = before.get(key), after.get(key)
        if old == new or silent in (old, new):
            continue
        lines.append(f"{key}: {old or 'not there'} → {new or 'gone'}")
    return lines

"""Changes since the run before, both ways."""

from __future__ import annotations

from typing import Any

from lesson_claims.results.differences import differences
from lesson_claims.results.tables import Run


def run(verdicts: dict[str, str], figures: dict[str, str], **environment: Any) -> Run:
    return Run.from_rows(
        info={"complete": True, "started": "2026-01-01T00:00:00+00:00", "environment": environment},
        claims=[{"claim": claim, "lesson": "week07", "verdict": verdict} for claim, verdict in verdicts.items()],
        measurements=[
            {"claim": "a", "figure": figure, "kind": "float", "agreement": agreement}
            for figure, agreement in figures.items()
        ],
    )


def test_nothing_changed() -> None:
    same = run({"a": "holds"}, {"x": "reproduced"}, torch="2.13.0")
    assert differences(same, same)["changes"] == []


def test_changes_are_named_both_ways_and_the_environment_first() -> None:
    before = run({"a": "holds", "b": "holds", "c": "not run"}, {"x": "reproduced", "y": "within"}, torch="2.12.0")
    after = run({"a": "refuted", "c": "holds", "d": "holds"}, {"x": "outside", "z": "within"}, torch="2.13.0")
    assert differences(before, after)["changes"] == [
        "torch: 2.12.0 → 2.13.0",
        "a: holds → refuted",
        "d: not there → holds",
        "b: holds → gone",
        "a: x: reproduced → outside",
        "a: z: not there → within",
        "a: y: within → gone",
    ]

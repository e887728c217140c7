"""What the report says of controls: those that were caught, as long as what was tried is what is there."""

from __future__ import annotations

import pytest
from plugin_project import Project

from lesson_claims.project import read_project
from lesson_claims.registry import load_registry
from lesson_claims.results.columns import CONTROLS
from lesson_claims.sabotage.results import key_of
from lesson_claims.traceability import read_checks

pytest_plugins = ["pytester"]

CONTROL = "[[claim.control]]\nbreaks = '{breaks}'\nin = 'lessons/sizes.py'\nreplace = '3'\nwith = '4'\n"


@pytest.fixture
def tried(project: Project) -> Project:
    """Return the small project, in which one claim has two controls, of which one was caught and the other not."""
    project.write("lessons/sizes.py", "ROWS = 3\n")
    controls = CONTROL.format(breaks="more rows") + CONTROL.format(breaks="other rows")
    project.replace("claims/course_day1.toml", 'expect = "holds"\n', 'expect = "holds"\n' + controls)
    known = read_project(project.pytester.path)
    registry = load_registry(known)
    checks = read_checks(known.root, known.claims, registry)
    claim = registry.claims["course.day1.sizes"]
    lines = [",".join(column.name for column in CONTROLS)]
    for control, outcome in zip(claim.controls, ("caught", "missed"), strict=True):
        key = key_of(known, registry, checks, claim, control)
        lines.append(f"{claim.id},{control.breaks},{outcome},,,1.0,2026-03-01T02:30Z,{key}")
    project.write("reports/controls.csv", "\n".join(lines) + "\n")
    return project


def test_claims_csv_counts_the_controls_that_were_caught(tried: Project) -> None:
    assert tried.run("-n", "0").ret == 0
    assert [row["controls"] for row in tried.rows("claims")] == ["1", "0", "0"]
    assert tried.info["controls"] == {
        "course.day1.sizes": [
            {"breaks": "more rows", "outcome": "caught", "when": "2026-03-01T02:30Z"},
            {"breaks": "other rows", "outcome": "missed", "when": "2026-03-01T02:30Z"},
        ]
    }
    assert "1 of 2 controls caught" in (tried.report / "index.html").read_text(encoding="utf-8")


def test_what_was_tried_with_other_code_counts_no_more(tried: Project) -> None:
    tried.write("lessons/sizes.py", "ROWS = 3  # as before\n")
    assert tried.run("-n", "0").ret == 0
    assert tried.claim("sizes")["controls"] == "0"
    known = {"outcome": "", "when": ""}
    assert tried.info["controls"]["course.day1.sizes"] == [
        {"breaks": "more rows"} | known,
        {"breaks": "other rows"} | known,
    ]


def test_a_table_of_results_that_cannot_be_read_is_a_problem_of_the_run(tried: Project) -> None:
    tried.write("reports/controls.csv", "claim\n")
    assert tried.run("-n", "0").ret == 0
    assert "column 'breaks' is missing" in tried.info["problems"][0]
    assert tried.info["controls"] == {}

"""Runs of schema 1 are still read: what stood in texts stands in columns, and a history still knows the run."""

import json
import shutil

import pytest
from reports_fixtures import assert_the_same_when_written

from lesson_claims.report.build import build
from lesson_claims.report.merge import merge
from lesson_claims.results import history
from lesson_claims.results.columns import TABLES
from lesson_claims.results.drift_tables import changes_in_words, read_drift_tables
from lesson_claims.results.errors import ReportError
from lesson_claims.results.tables import read_run

NAME = "20260301T023000.000000Z-bc6b6ed99f64"
"""The name that the program of schema 1 gave to the run below."""

INFO = {
    "schema": 1, "complete": True, "started": "2026-03-01T02:30:00+00:00", "seconds": 3.5, "seeds": 5,
    "commit": "abc", "environment": {"torch": "2.13.0", "device": "cpu", "platform": "Linux-x86_64"},
    "lessons": {
        "course": {"title": "A course", "parts": ["Day 1 — the recurrence", "Day 2 — why it forgets"]},
        "toy": {"title": "A toy", "parts": []},
    },
    "source": {"claims/test_a.py::test_a": "claims/test_a.py#L3"},
    "since": {"started": "2026-02-28T02:30:00+00:00", "commit": None, "changes": ["a: holds → refuted"]},
    "withheld": [{"claim": "course.day2.fades", "figure": "", "where": "Day 2, the table", "says": "It fades.",
                  "truth": "Slowly.", "evidence": "", "suggestion": ""}],
    "repository": "https://example.org/o/r",
}  # fmt: skip
CLAIMS = """\
claim,lesson,where,statement,kind,verdict,expected,changed,seeds,evidence,controls,checks,seconds
course.day1.sizes,course,"Day 1, the cell, by hand",The sizes are these.,exact,refuted,refuted,False,,No.,,1,0.25
course.day1.sizes.corrected,course,"Day 1, the cell, by hand",They are others.,exact,holds,holds,False,,Yes.,,1,0.5
course.day2.fades,course,Day 2,It fades.,trained,inconclusive,holds,False,5,Open.,,1,0.125
toy.data,toy,"The data, first look",It is balanced.,float,holds,holds,False,,Yes.,,1,1e-05
toy.end.corrected,toy,Day 1,An id that only looks like a correction.,float,holds,holds,False,,Yes.,,1,2.0
"""
MEASUREMENTS = """\
claim,figure,kind,printed,measured,tolerance,agreement,seeds,low,high,unit,device,check,seconds
course.day1.sizes,parameters,exact,19266,19266,,reproduced,,,,,cpu,claims/test_a.py::test_a[one],0.25
course.day2.fades,accuracy,trained,0.9,0.91,,within,5,0.8,1.0,,cpu,claims/test_b.py::test_b,0.125
"""
SAMPLES = """\
claim,figure,seed,value
course.day2.fades,accuracy,0,0.91
course.day2.fades,accuracy,1,0.875
"""
ERRATA = """\
claim,figure,where,says,truth,evidence,suggestion
course.day1.sizes,,"Day 1, the cell, by hand",The sizes are these.,They are others.,No.,Say so.
"""
DRIFT = """\
claim,figure,kind,state,new,sentence,since,cause
course.day2.fades,accuracy,trained,drifted,False,mean 0.9 → 0.8,20260228T023000.000000Z-0123456789ab,commit a → b
course.day1.sizes,,exact,reproduced,False,,,
"""
NOTES = [
    ("", ("", "", False)),
    ("torch 1 → 2; numpy 3 → 4", ("torch 1 → 2; numpy 3 → 4", "", False)),
    ("accepted: x", ("", "x", False)),
    ("drifted", ("", "", True)),
    ("accepted: x; accepted: y", ("", "x; y", False)),
    ("torch 2 → 3; accepted: drifted; but right; drifted", ("torch 2 → 3", "drifted; but right", True)),
]


@pytest.fixture
def old(tmp_path):
    """Write a report directory as the program of schema 1 wrote it."""
    folder = tmp_path / "old"
    folder.mkdir()
    texts = {"claims": CLAIMS, "measurements": MEASUREMENTS, "samples": SAMPLES, "errata": ERRATA}
    for name, text in texts.items():
        (folder / f"{name}.csv").write_text(text, encoding="utf-8")
    (folder / "run.json").write_text(json.dumps(INFO), encoding="utf-8")
    return folder


def with_drift(folder):
    rows = [f"course.day2.fades,accuracy,night {n},2026-02-{n + 1:02d}T00:00:00+00:00,0.5,,,,,{note}\n"
            for n, (note, _) in enumerate(NOTES)]  # fmt: skip
    header = "claim,figure,run,when,value,low,high,baseline_low,baseline_high,note\n"
    (folder / "trends.csv").write_text(header + "".join(rows), encoding="utf-8")
    (folder / "drift.csv").write_text(DRIFT, encoding="utf-8")
    info = {"schema": 1, "run": NAME, "compared": 6, "baseline": "2026-02-01T00:00:00+00:00", "environment": []}
    (folder / "drift.json").write_text(json.dumps(info), encoding="utf-8")
    return folder


def test_texts_become_columns(old):
    run = read_run(old)
    assert run.claims["part"].tolist() == ["Day 1", "Day 1", "Day 2", "", ""]
    assert run.claims["where"].tolist()[1:] == ["the cell, by hand", "", "The data, first look", "Day 1"]
    assert run.claims["instead_of"].tolist() == ["", "course.day1.sizes", "", "", ""]
    assert run.errata.loc[0, ["part", "where"]].tolist() == ["Day 1", "the cell, by hand"]
    assert run.info["lessons"]["course"]["parts"] == [
        {"name": "Day 1", "title": "the recurrence"}, {"name": "Day 2", "title": "why it forgets"},
    ]  # fmt: skip
    assert run.info["previous"] == INFO["since"]
    assert run.info["source"]["claims/test_a.py::test_a[one]"] == "claims/test_a.py#L3"
    assert (run.info["schema"], run.info["partial"]) == (3, False)
    assert not {"since", "withheld"} & {*run.info, *run.claims.columns}
    assert run.claims["controls"].tolist() == [None] * 5, "the old column of this name was something else"
    for name, columns in TABLES.items():
        assert list(run.tables()[name].columns) == [column.name for column in columns]
    assert run.claims["wins"].tolist() == [None] * 5


def test_what_is_written_is_of_today_and_the_same_run(old, tmp_path):
    assert_the_same_when_written(read_run(old), tmp_path / "new")


def test_a_history_still_knows_it_by_its_name(old, tmp_path):
    assert read_run(old).name == NAME
    assert history.append(tmp_path / "history", old) == NAME


def test_its_drift_is_read_and_shown(old):
    tables = read_drift_tables(with_drift(old), read_run(old))
    columns = tables.trends[["environment", "accepted", "drifted"]].itertuples(index=False, name=None)
    for (note, expected), found in zip(NOTES, columns, strict=True):
        assert found == expected
        assert changes_in_words(*found) == note.replace("; accepted: y", "; y")
    assert [row["when"] for row in tables.open] == ["2026-02-28T02:30:00+00:00"]
    build(old)
    page = (old / "index.html").read_text(encoding="utf-8")
    assert "drifted since 2026-02-28" in page
    assert "2026-02-06: torch 2 → 3; accepted: drifted; but right; drifted" in page
    assert "Day 1 — the recurrence" in page
    assert "Day 1, the cell, by hand" in (old / "errata.md").read_text(encoding="utf-8")


def test_parts_of_it_can_be_merged(old, tmp_path):
    runs = []
    for number in (0, 1):
        part = shutil.copytree(old, tmp_path / str(number))
        lines = CLAIMS.splitlines()
        for line in (3, 4) if number else (1, 2, 5):
            for words in ("refuted,refuted", "holds,holds", "inconclusive,holds"):
                lines[line] = lines[line].replace(words, f"not run,{words.partition(',')[2]}")
        (part / "claims.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
        runs.append((str(number), read_run(part)))
    merged = merge(runs)
    assert merged.claims["part"].tolist() == ["Day 1", "Day 1", "Day 2", "", ""]
    assert merged.old_name == ""


@pytest.mark.parametrize(
    ("change", "said"),
    [({"lessons": {"course": {"title": "A", "parts": [7]}}}, "`$.lessons[...].parts[0]`"), ({"since": 1}, "`$.since`")],
)
def test_what_is_damaged_is_one_line(old, change, said):
    (old / "run.json").write_text(json.dumps({**INFO, **change}))
    with pytest.raises(ReportError) as caught:
        read_run(old)
    assert said in str(caught.value)
    assert str(old / "run.json") in str(caught.value)
    assert "\n" not in str(caught.value)


def test_todays_columns_are_unknown_to_it(old):
    (old / "claims.csv").write_text(CLAIMS.replace(",controls,", ",part,"), encoding="utf-8")
    with pytest.raises(ReportError, match="unknown column 'part'"):
        read_run(old)

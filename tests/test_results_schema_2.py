"""Runs of schema 2 are still read: what has no meaning today is left out, and a history still knows the run."""

import json

import pytest
from reports_fixtures import assert_the_same_when_written

from lesson_claims.report.build import build
from lesson_claims.results import history
from lesson_claims.results.columns import TABLES
from lesson_claims.results.drift_tables import read_drift_tables
from lesson_claims.results.errors import ReportError
from lesson_claims.results.tables import read_run

NAME = "20260301T023000.000000Z-fc01b48982b8"
"""The name that the program of schema 2 gave to the run below."""

INFO = {
    "schema": 2, "complete": True, "started": "2026-03-01T02:30:00+00:00", "seconds": 3.5, "seeds": 5,
    "options": {"seeds": 5, "first_seed": 0}, "commit": "abc", "see": {"toy.fades": ["toy.data"]},
    "environment": {"torch": "2.13.0", "device": "cpu", "platform": "Linux-x86_64"},
    "lessons": {"toy": {"title": "A toy", "parts": []}},
    "withheld": [{"claim": "toy.fades", "figure": "", "where": "", "says": "It fades.", "truth": "Slowly.",
                  "evidence": "", "suggestion": ""}],
    "previous": {"started": "2026-02-28T02:30:00+00:00", "commit": None, "changes": ["toy.fades: holds → refuted"]},
    "repository": "https://example.org/o/r",
}  # fmt: skip
CLAIMS = """\
claim,lesson,part,where,statement,instead_of,kind,verdict,expected,changed,seeds,evidence,checks,seconds
toy.data,toy,,first,It is balanced.,,float,holds,holds,False,,Yes.,1,0.25
toy.fades,toy,,then,It fades.,,trained,inconclusive,holds,False,5,Open.,1,0.125
"""
MEASUREMENTS = """\
claim,figure,kind,printed,measured,tolerance,agreement,seeds,low,high,unit,device,check,seconds
toy.data,share,float,0.5,0.5,0.1,reproduced,,,,,cpu,claims/test_a.py::test_a,0.25
toy.fades,accuracy,trained,0.9,0.91,,within,5,0.8,1.0,,cpu,claims/test_b.py::test_b,0.125
"""
SAMPLES = """\
claim,figure,seed,value
toy.fades,accuracy,0,0.91
toy.fades,accuracy,1,0.875
"""
DECISIONS = """\
claim,check,rule,verdict,sentence,estimate,low,high,p,level,seeds,needed,alone,alone_sentence
toy.data,claims/test_a.py::test_a,fact,holds,Yes.,,,,,0.0,0,,holds,Yes.
toy.fades,claims/test_b.py::test_b,paired sign test,inconclusive,Open.,0.1,,,0.03,0.002,5,9,holds,It fades.
"""


@pytest.fixture
def old(tmp_path):
    """Write a report directory as the program of schema 2 wrote it."""
    folder = tmp_path / "old"
    folder.mkdir()
    texts = {"claims": CLAIMS, "measurements": MEASUREMENTS, "samples": SAMPLES, "decisions": DECISIONS}
    for name, text in texts.items():
        (folder / f"{name}.csv").write_text(text, encoding="utf-8")
    (folder / "run.json").write_text(json.dumps(INFO), encoding="utf-8")
    return folder


def test_what_was_corrected_over_the_run_is_left_out(old):
    run = read_run(old)
    assert (run.info["schema"], run.info["partial"]) == (3, False)
    assert "withheld" not in run.info
    for name, columns in TABLES.items():
        assert list(run.tables()[name].columns) == [column.name for column in columns]
    assert run.decisions["p"].tolist() == [None, 0.03]
    assert run.claims["wins"].tolist() == run.decisions["wins"].tolist() == [None, None]
    kept = run.measurements[["type", "page_low", "page_high", "platforms", "digits"]]
    assert kept.to_numpy().tolist() == [["", None, None, None, ""]] * 2
    assert run.info["see"] == INFO["see"]
    assert run.info["previous"] == INFO["previous"]


def test_a_selection_of_claims_was_a_part_of_them(old):
    (old / "run.json").write_text(json.dumps({**INFO, "selected": "--claim toy.data"}), encoding="utf-8")
    assert read_run(old).info["partial"] is True


def test_what_is_written_is_of_today_and_the_same_run(old, tmp_path):
    assert_the_same_when_written(read_run(old), tmp_path / "new")


def test_a_history_still_knows_it_by_its_name(old, tmp_path):
    assert read_run(old).name == NAME
    assert history.append(tmp_path / "history", old) == NAME


def test_its_drift_is_read_and_shown(old):
    header = "claim,figure,kind,state,new,sentence,since,when,cause\n"
    row = f"toy.fades,accuracy,trained,drifted,False,0.9 → 0.8,{NAME},2026-02-28T02:30:00+00:00,commit a → b\n"
    (old / "drift.csv").write_text(header + row, encoding="utf-8")
    trends = "claim,figure,run,when,value,low,high,baseline_low,baseline_high,environment,accepted,drifted\n"
    (old / "trends.csv").write_text(trends, encoding="utf-8")
    info = {"schema": 2, "run": NAME, "compared": 6, "baseline": "2026-02-01T00:00:00+00:00", "environment": []}
    (old / "drift.json").write_text(json.dumps(info), encoding="utf-8")
    assert [row["claim"] for row in read_drift_tables(old, read_run(old)).open] == ["toy.fades"]
    build(old)
    assert "drifted since 2026-02-28" in (old / "index.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("change", "said"),
    [({"withheld": 1}, "`$.withheld`"), ({"previous": {}}, "`$.previous`"), ({"seeds": "auto"}, "`$.seeds`")],
)
def test_what_is_damaged_is_one_line(old, change, said):
    (old / "run.json").write_text(json.dumps({**INFO, **change}), encoding="utf-8")
    with pytest.raises(ReportError) as caught:
        read_run(old)
    assert said in str(caught.value)
    assert str(old / "run.json") in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(("table", "column"), [("claims", "wins"), ("measurements", "type"), ("decisions", "wins")])
def test_todays_columns_are_unknown_to_it(old, table, column):
    file = old / f"{table}.csv"
    lines = file.read_text(encoding="utf-8").splitlines()
    file.write_text("\n".join([f"{lines[0]},{column}", *(f"{line}," for line in lines[1:])]), encoding="utf-8")
    with pytest.raises(ReportError, match=f"unknown column '{column}'"):
        read_run(old)

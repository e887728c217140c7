"""Reading and writing the tables of a run: nothing is lost, and what is damaged is named in one line."""

import json
import math
import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lesson_claims.command_line import main
from lesson_claims.report.build import PAGES, write_report
from lesson_claims.results import tables
from lesson_claims.results.columns import OPTIONAL_TABLES, TABLES
from lesson_claims.results.errors import ReportError
from lesson_claims.results.tables import Run, read_run, write_tables

CLAIM = {"claim": "week07.day1.a", "lesson": "week07", "verdict": "holds", "kind": "exact"}


def run_with(**rows):
    return Run.from_rows(info={"complete": True}, **({"claims": [CLAIM]} | rows))


def equal(left: Run, right: Run) -> bool:
    def cells(run):
        return {
            name: [[repr(value) for value in row] for row in frame.itertuples(index=False)]
            for name, frame in run.tables().items()
        }

    return cells(left) == cells(right) and left.info == right.info


def test_what_came_later_and_is_empty_leaves_a_run_its_name():
    info = {"complete": True, "started": "2026-03-01T00:00:00Z"}
    assert Run.from_rows(info, claims=[CLAIM]).name == "20260301T000000.000000Z-16c02e343856"
    undecided = [dict.fromkeys(("lesson", "part", "where", "says", "reason"), "x")]
    others = [
        Run.from_rows(info, claims=[CLAIM | later]) for later in ({"ours": True}, {"facts": "holds"}, {"controls": 2})
    ]
    others += [Run.from_rows(info | {"undecided": undecided}, claims=[CLAIM])]
    others += [Run.from_rows(info | {"controls": {CLAIM["claim"]: [{"breaks": "x"}]}}, claims=[CLAIM])]
    assert len({run.name for run in others} | {"20260301T000000.000000Z-16c02e343856"}) == 6


def test_an_empty_run_is_a_run(tmp_path):
    write_tables(Run.from_rows(info={"complete": True}), tmp_path)
    run = read_run(tmp_path)
    assert all(frame.empty for frame in run.tables().values())
    assert list(run.claims.columns) == [column.name for column in TABLES["claims"]]


ROWS = st.fixed_dictionaries(
    {
        "claim": st.just(CLAIM["claim"]),
        "figure": st.text(min_size=1),
        "printed": st.text(),
        "measured": st.one_of(st.floats(), st.integers(), st.booleans(), st.text()),
        "low": st.one_of(st.none(), st.floats()),
        "seeds": st.one_of(st.none(), st.integers()),
    }
)


@settings(max_examples=25, deadline=None)  # each example waits for the disk
@given(rows=st.lists(ROWS, min_size=5, unique_by=lambda row: row["figure"]))
def test_every_value_comes_back_equal(tmp_path_factory, rows):
    path = tmp_path_factory.mktemp("run")
    run = run_with(measurements=rows)
    write_tables(run, path)
    assert equal(read_run(path), run)


@pytest.mark.parametrize(
    "name", ["None", "NA", "null", "nan", "", " ", "=1+1", "|", "\\", "a\r\nb", "\u202eabc", "\x00"]
)
def test_words_that_other_readers_take_for_missing_survive(tmp_path, name):
    row = {"claim": CLAIM["claim"], "figure": f"x{name}", "printed": name, "measured": name}
    write_tables(run_with(measurements=[row]), tmp_path)
    read = read_run(tmp_path).measurements
    assert read.loc[0, ["figure", "printed", "measured"]].tolist() == [f"x{name}", name, name]


def test_ids_that_look_missing_stay_ids(tmp_path):
    claims = [{**CLAIM, "claim": name} for name in ("None", "NA", "null", "nan")]
    write_tables(run_with(claims=claims), tmp_path)
    assert read_run(tmp_path).claims["claim"].tolist() == ["None", "NA", "null", "nan"]


def test_a_measured_nan_is_not_a_missing_value(tmp_path):
    rows = [
        {"claim": CLAIM["claim"], "figure": "a", "measured": math.nan, "low": math.nan, "high": math.inf},
        {"claim": CLAIM["claim"], "figure": "b"},
    ]
    write_tables(run_with(measurements=rows), tmp_path)
    assert "nan,,,,nan,inf" in (tmp_path / "measurements.csv").read_text(encoding="utf-8")
    read = read_run(tmp_path).measurements
    assert read["measured"].tolist() == ["nan", ""]
    assert math.isnan(read.loc[0, "low"])
    assert read.loc[1, "low"] is None


def test_numpy_scalars_become_plain_values_with_every_digit():
    row = {"claim": CLAIM["claim"], "figure": "a", "measured": np.float64(0.1) + 0.2, "seeds": np.int64(5)}
    frame = run_with(measurements=[row]).measurements
    assert frame.loc[0, "measured"] == "0.30000000000000004"
    assert type(frame.loc[0, "seeds"]) is int


def test_json_is_strict(tmp_path):
    info = {"complete": False, "options": {"x": math.nan, "p": Path("a")}}
    write_tables(Run.from_rows(info=info), tmp_path)
    text = (tmp_path / "run.json").read_text(encoding="utf-8")
    assert json.loads(text)["options"] == {"x": "nan", "p": "a"}


@pytest.mark.parametrize("name", OPTIONAL_TABLES)
def test_an_optional_table_may_be_missing(tmp_path, name):
    write_tables(run_with(), tmp_path)
    (tmp_path / f"{name}.csv").unlink()
    assert read_run(tmp_path).tables()[name].empty


def test_optional_columns_may_be_missing(tmp_path):
    write_tables(run_with(), tmp_path)
    (tmp_path / "claims.csv").write_text("claim,lesson,verdict\nNA,week07,holds\n", encoding="utf-8")
    claims = read_run(tmp_path).claims
    assert claims.loc[0, "statement"] == ""
    assert claims.loc[0, "seconds"] is None
    assert not claims.loc[0, "changed"]


BAD = {
    "no header": ("claims.csv", "", "not even a header"),
    "unknown column": ("claims.csv", "claim,lesson,verdict,x\n", "unknown column 'x'"),
    "needed column": ("claims.csv", "claim,lesson\n", "'verdict' is missing"),
    "twice": ("claims.csv", "claim,lesson,verdict,claim\n", "appears twice"),
    "short row": ("claims.csv", "claim,lesson,verdict\na,b\n", "row 1: 2 fields under 3 columns"),
    "no verdict": ("claims.csv", "claim,lesson,verdict\na,b,\n", "row 1, column 'verdict': empty"),
    "odd verdict": ("claims.csv", "claim,lesson,verdict\na,b,hold\n", "'hold' is none of: holds, refuted"),
    "odd flag": (
        "claims.csv",
        "claim,lesson,verdict,changed\na,b,holds,yes\n",
        "'yes' is neither True nor False",
    ),
    "odd number": ("claims.csv", "claim,lesson,verdict,seconds\na,b,holds,1_0\n", "'1_0' is not a number"),
    "odd integer": ("claims.csv", "claim,lesson,verdict,seeds\na,b,holds,5.0\n", "'5.0' is not an integer"),
    "repeated claim": (
        "claims.csv",
        "claim,lesson,verdict\na,b,holds\na,b,holds\n",
        "row 2: a second row for a",
    ),
    "open quote": ("claims.csv", 'claim,lesson,verdict\n"a,b,holds', "not a CSV file"),
    "unknown claim": ("measurements.csv", "claim,figure\nz,y\n", "claim 'z' has no row in claims.csv"),
    "not JSON": ("run.json", "{", "not valid JSON"),
    "bare NaN": ("run.json", '{"schema": 3, "complete": true, "seconds": NaN}', "not valid JSON"),
    "not an object": ("run.json", "[]", "expected an object, found list"),
    "other schema": (
        "run.json",
        '{"schema": 4, "complete": true}',
        "schema version 4, but this program reads 1 and 2 and 3",
    ),
    "no schema": ("run.json", '{"complete": true}', "schema version None"),
    "not complete or not": ("run.json", '{"schema": 3}', "missing required field `complete`"),
    **{
        f"{name} of {value}": (
            "run.json",
            f'{{"schema": 3, "complete": true, "{name}": {value}}}',
            f"`$.{name}",
        )
        for name, value in (
            ("seconds", '"long"'),
            ("seconds", "-1.5"),
            ("seeds", "-1"),
            ("seeds", "true"),
            ("commit", "7"),
            ("lessons", '{"l": {"title": "L", "parts": ["Day 1"]}}'),
            ("previous", "{}"),
            ("partial", '"yes"'),
            ("see", '{"a": "b"}'),
        )
    },
}


@pytest.mark.parametrize("case", BAD)
def test_what_is_damaged_is_named_in_one_line(tmp_path, case):
    file, text, message = BAD[case]
    write_tables(run_with(), tmp_path)
    (tmp_path / file).write_text(text, encoding="utf-8")
    with pytest.raises(ReportError) as caught:
        read_run(tmp_path)
    assert message in str(caught.value)
    assert str(tmp_path / file) in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("number", ["nan", "inf", "-inf", "1e999", "-0.5"])
@pytest.mark.parametrize("table", [name for name, columns in TABLES.items() if "seconds" in [c.name for c in columns]])
def test_a_duration_is_finite_and_not_negative(tmp_path, capsys, table, number):
    rows = [{"claim": CLAIM["claim"], "figure": "a", "seconds": 1.5}]
    write_tables(run_with(claims=[{**CLAIM, "seconds": 1.5}], measurements=rows), tmp_path)
    file = tmp_path / f"{table}.csv"
    file.write_text(file.read_text(encoding="utf-8").replace("1.5", number), encoding="utf-8")
    assert main(["build", str(tmp_path)]) == 2
    error = capsys.readouterr().err
    assert error.startswith(f"error: {file}, row 1, column 'seconds': '{number}' is not a finite number")
    assert error.count("\n") == 1
    assert not (tmp_path / "index.html").exists()


def test_bytes_that_are_not_text_are_named(tmp_path):
    write_tables(run_with(), tmp_path)
    (tmp_path / "claims.csv").write_bytes(b"claim,lesson,verdict\n\xff,b,holds\n")
    with pytest.raises(ReportError, match="not UTF-8 text"):
        read_run(tmp_path)


@pytest.mark.parametrize("name", ["claims.csv", "measurements.csv", "run.json"])
def test_a_missing_file_is_named(tmp_path, name):
    write_tables(run_with(), tmp_path)
    (tmp_path / name).unlink()
    with pytest.raises(ReportError, match=f"{name}: missing"):
        read_run(tmp_path)


def test_a_missing_directory_is_named(tmp_path):
    with pytest.raises(ReportError, match="no such report directory"):
        read_run(tmp_path / "nowhere")


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([{"claim": "a", "figure": "b", "colour": 1}], "measurements, row 1: unknown column 'colour'"),
        ([{"claim": "a", "figure": "b", "measured": [1]}], "expected text or a number, found list"),
        ([{"claim": "a"}], "column 'figure': empty"),
    ],
)
def test_rows_that_do_not_fit_are_refused(rows, message):
    with pytest.raises(ReportError, match=message):
        run_with(measurements=rows)


def test_a_full_disk_leaves_the_old_report(tmp_path, monkeypatch):
    write_tables(run_with(), tmp_path)
    before = {file.name: file.read_bytes() for file in tmp_path.iterdir()}
    calls = iter(range(3))

    def sync(descriptor):
        if next(calls, None) is None:
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", sync)
    with pytest.raises(ReportError, match="No space left on device"):
        write_tables(run_with(claims=[{**CLAIM, "verdict": "refuted"}]), tmp_path)
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == before


def test_a_place_that_cannot_be_written_is_named(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(ReportError, match="cannot write the report"):
        write_tables(run_with(), tmp_path / "file" / "run")


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    path = tmp_path_factory.mktemp("written")
    write_report(run_with(), path)
    return {file.name: file.read_bytes() for file in path.iterdir()}


@pytest.mark.parametrize("name", [*tables.FILES, *PAGES])
def test_a_directory_in_the_way_of_a_file_leaves_the_old_report_whole(tmp_path, written, name):
    assert set(written) == {*tables.FILES, *PAGES}
    for other, content in written.items():
        (tmp_path / other).mkdir() if other == name else (tmp_path / other).write_bytes(content)
    with pytest.raises(ReportError) as caught:
        write_report(run_with(claims=[{**CLAIM, "verdict": "refuted"}]), tmp_path)
    assert (
        str(caught.value) == f"{tmp_path / name}: is a directory, where a file has to go; move it or name another place"
    )
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir() if file.is_file()} == {
        other: content for other, content in written.items() if other != name
    }


def test_a_directory_in_the_way_of_one_page_leaves_the_other_pages(tmp_path, written):
    for name, content in written.items():
        (tmp_path / name).mkdir() if name == "index.html" else (tmp_path / name).write_bytes(content)
    write_tables(run_with(claims=[{**CLAIM, "verdict": "refuted"}]), tmp_path)
    assert main(["build", str(tmp_path)]) == 2
    assert (tmp_path / "summary.md").read_bytes() == written["summary.md"]

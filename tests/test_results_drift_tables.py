"""What a comparison with the history says on the pages, and what of it is refused."""

import json
import shutil

import pytest
from hypothesis import given
from hypothesis import strategies as st
from reports_nights import compared, eventful, night, written
from selectolax.lexbor import LexborHTMLParser

from lesson_claims.command_line import main
from lesson_claims.drift.judgement import Judgement
from lesson_claims.report.build import build
from lesson_claims.results.columns import JUDGEMENTS, Column
from lesson_claims.results.csv_files import _simple_values, _value
from lesson_claims.results.drift_tables import AGAIN, day, read_drift_tables
from lesson_claims.results.errors import ReportError
from lesson_claims.results.tables import read_run


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    return compared(tmp_path_factory.mktemp("eventful"), *eventful())


@pytest.fixture
def copy(report, tmp_path):
    return shutil.copytree(report, tmp_path / "report")


def page_of(folder):
    return LexborHTMLParser((folder / "index.html").read_text(encoding="utf-8"))


def first_screen(folder):
    return " ".join(page_of(folder).css_first(".cards section").text().split())


def test_the_first_screen_says_what_drifted_and_since_when(report):
    said = first_screen(report)
    assert said.startswith(
        "Changed since the baseline Nothing new drifted; 2 older changes are not accepted yet"
        " (compared with 7 earlier runs). Not accepted yet a.sizes parameters: 19266 → 19300 since 2026-01-07"
    )
    assert "b.accuracy accuracy: mean 0.8982 → 0.8093" in said
    targets = [link.attributes["href"] for link in page_of(report).css_first(".cards section").css("a")]
    assert targets == ["#claim-a.sizes", "#claim-b.accuracy"]


def test_the_claim_says_it_too_and_why(report):
    (said,) = page_of(report).css('[id="claim-b.accuracy"] p.drifted')
    assert " ".join(said.text().split()).startswith("drifted since 2026-01-07 accuracy: mean 0.8982 → 0.8093")
    assert "neither the environment nor the commit changed" in said.text()


def test_each_figure_that_moved_has_a_sparkline_and_no_other(report):
    rows = page_of(report).css("tr.trend")
    assert [row.parent.css_first("tr").attributes["id"] for row in rows] == [
        "figure-a.sizes:parameters", "figure-b.accuracy:accuracy",
    ]  # fmt: skip
    title = rows[0].css_first("svg title").text()
    assert title == (
        "8 runs from 2026-01-01 to 2026-01-08: 19266 to 19300, between 19266 and 19300; baseline 19266;"
        " 2026-01-04: torch 2.13.0 → 2.14.0; 2026-01-07: drifted."
    )
    assert rows[0].css_first("p").text() == "2026-01-07: drifted"


def test_a_quiet_night_says_since_when(tmp_path):
    folder = compared(tmp_path, *(night(number) for number in range(4)))
    assert first_screen(folder) == (
        "Changed since the baseline Nothing drifted since the baseline of 2026-01-01 (compared with 3 earlier runs)."
    )
    summary = (folder / "summary.md").read_text(encoding="utf-8")
    assert "**History.** Nothing drifted since the baseline of 2026-01-01 (compared with 3 earlier runs).\n" in summary


def test_the_baseline_is_the_newest_that_was_accepted(tmp_path):
    folder = compared(tmp_path, *eventful())
    accept = ["accept", "--history", str(tmp_path / "history"), str(folder), "--reason", "they are right"]
    assert main(accept) == 0
    assert main(["drift", "--history", str(tmp_path / "history"), str(folder)]) == 0
    build(folder)
    assert "Nothing drifted since the baseline of 2026-01-08" in first_screen(folder)
    assert "2026-01-08: accepted: they are right" in page_of(folder).css_first("tr.trend title").text()


def test_the_first_night_has_nothing_to_compare_with(tmp_path):
    folder = compared(tmp_path, night(0))
    assert "Nothing to compare with yet" in first_screen(folder)
    assert not page_of(folder).css("tr.trend")


def test_a_new_night_of_drift_is_told_with_the_environment(tmp_path):
    folder = compared(tmp_path, *(night(n) for n in range(4)), night(4, exact="7", environment={"torch": "2.14.0"}))
    said = first_screen(folder)
    assert "1 change is new in this run" in said
    assert "New in this run a.sizes parameters: 19266 → 7" in said
    assert "Changed since the run before: torch 2.13.0 → 2.14.0" in said
    summary = (folder / "summary.md").read_text(encoding="utf-8")
    assert "(compared with 4 earlier runs). a.sizes: parameters since 2026-01-05.\n" in summary


def test_the_same_comparison_gives_the_same_bytes(copy):
    before = (copy / "index.html").read_bytes()
    build(copy)
    assert (copy / "index.html").read_bytes() == before


def test_a_comparison_of_another_run_says_nothing(copy):
    written(night(9), copy)
    build(copy)
    text = (copy / "index.html").read_text(encoding="utf-8")
    assert "Changed since the baseline" not in text
    assert '<svg class="spark"' not in text
    assert "History" not in (copy / "summary.md").read_text(encoding="utf-8")


def test_no_comparison_is_none(copy):
    (copy / "drift.json").unlink()
    assert read_drift_tables(copy, read_run(copy)) is None


def test_texts_stay_text(tmp_path):
    runs = [night(number, environment={"torch": f"<b>{number}</b>\r\n</title>"}) for number in range(3)]
    text = (compared(tmp_path, *runs) / "index.html").read_text(encoding="utf-8")
    assert "<b>" not in text
    assert "&lt;/title&gt;" in text


def replaced(name, old, new):
    def damage(folder):
        file = folder / name
        text = file.read_text(encoding="utf-8")
        assert old in text
        file.write_text(text.replace(old, new, 1), encoding="utf-8")

    return damage


def with_info(**info):
    def damage(folder):
        file = folder / "drift.json"
        file.write_text(json.dumps({**json.loads(file.read_text()), **info}))

    return damage


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda folder: (folder / "drift.json").write_text("{"), "drift.json: not valid JSON"),
        (lambda folder: (folder / "drift.json").write_text("[]"), "drift.json: expected an object, found list"),
        (lambda folder: (folder / "drift.json").write_bytes(b"\xff"), "drift.json: not valid JSON"),
        (with_info(schema=3), "schema version 3, but this program reads 1 and 2"),
        (with_info(compared="3"), "Expected `int`, got `str` - at `$.compared`"),
        (with_info(compared=True), "Expected `int`, got `bool` - at `$.compared`"),
        (with_info(baseline=None), "Expected `str`, got `null` - at `$.baseline`"),
        (lambda folder: (folder / "trends.csv").unlink(), "trends.csv: missing, though drift.json is there"),
        (lambda folder: (folder / "drift.csv").unlink(), "drift.csv: missing, though drift.json is there"),
        (lambda folder: (folder / "trends.csv").write_text(""), "trends.csv: empty, not even a header"),
        (lambda folder: (folder / "trends.csv").write_text("a,b\n1,2\n"), "trends.csv: unknown column 'a'"),
        (lambda folder: (folder / "trends.csv").write_bytes(b"\xff"), "trends.csv: not UTF-8"),
        (replaced("trends.csv", ",19266.0,", ",nan,"), "column 'value': nan is not finite"),
        (replaced("trends.csv", ",19266.0,", ",x,"), "column 'value': 'x' is not a number"),
        (replaced("trends.csv", "2026-01-02T03:00:00+00:00", "yesterday"), "'yesterday' is no ISO 8601 time"),
        (replaced("trends.csv", "claim,figure", "figure,figure"), "a column appears twice"),
        (replaced("drift.csv", ",state,", ",note,"), "drift.csv: unknown column 'note'"),
    ],
)
def test_what_is_damaged_is_one_line_that_says_what_to_do(copy, capsys, damage, message):
    damage(copy)
    assert main(["build", str(copy)]) == 2
    error = capsys.readouterr().err
    assert error.startswith("error: ")
    assert message in error
    assert error.count("\n") == 1


def test_a_row_that_is_there_twice_is_named(copy):
    with (copy / "trends.csv").open("a", encoding="utf-8") as file:
        file.write((copy / "trends.csv").read_text(encoding="utf-8").splitlines()[1] + "\n")
    with pytest.raises(ReportError, match=f"a second row for a.sizes / parameters .*{AGAIN}"):
        build(copy)


def test_the_columns_are_those_of_a_judgement():
    assert [column.name for column in JUDGEMENTS] == list(Judgement.__dataclass_fields__)


@pytest.mark.parametrize(
    ("text", "shown"),
    [("2026-01-31T02:17:00+00:00", "2026-01-31"), ("2026-01-31", "2026-01-31"), ("x", "x")],
)
def test_the_day_of_a_time(text, shown):
    assert day(text) == shown


CELLS = st.sampled_from(["", "0.5", "-1e-27", "nan", "inf", "1_0", " 1", "1\n", "x", "٣", "\x1c1", "+1"]) | st.text()


@given(st.sampled_from(["text", "number", "integer", "flag"]), st.booleans(), st.lists(CELLS))
def test_many_cells_at_once_are_read_as_one_by_one(kind, needed, cells):
    column = Column("a", kind, needed=needed)
    values = _simple_values(column, cells)
    if values is not None:
        assert list(map(repr, values)) == [repr(_value(column, cell)) for cell in cells]


def test_what_was_not_measured_is_said_first(tmp_path):
    folder = compared(tmp_path, night(0), night(1, complete=False, problems=["a worker died"]))
    assert first_screen(folder).startswith(
        "Changed since the baseline Not everything was measured or kept: the run is incomplete; a worker died."
    )
    assert "calm" not in page_of(folder).css_first(".cards section p.line").attributes["class"]


def test_what_vanished_and_is_open_is_said_with_its_claim(tmp_path):
    folder = compared(tmp_path, night(0), night(1, drop=("mean",)), night(2, drop=("mean",)))
    (said,) = page_of(folder).css('[id="claim-a.mean"] p.drifted')
    assert " ".join(said.text().split()).startswith("vanished since 2026-01-02 mean: 0.25 → not measured")
    assert "1 older change is not accepted yet" in first_screen(folder)

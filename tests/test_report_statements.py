"""Every statement of the pages is accounted for: the sentence, the table, and what stands outside the count."""

import csv
import io

import pytest
import reports_fixtures
from selectolax.lexbor import LexborHTMLParser

from lesson_claims.report.build import write_report
from lesson_claims.report.html import html
from lesson_claims.report.statements import beside, heading, sentence, statements, table
from lesson_claims.results.columns import STATEMENTS
from lesson_claims.results.csv_files import read_table
from lesson_claims.results.tables import Run
from lesson_claims.results.vocabulary import TOO_FEW_SEEDS

UNDECIDED = {"lesson": "l", "part": "", "where": "end", "says": "Many do.", "reason": "Nobody counted."}


def run_of(*verdicts: str, undecided: int = 0, expected: str = "", **more) -> Run:
    claims = [
        {"claim": f"l.{n}", "lesson": "l", "verdict": verdict, "expected": expected or "open", "statement": f"S{n}."}
        for n, verdict in enumerate(verdicts)
    ]
    return Run.from_rows({"complete": True, "undecided": [UNDECIDED] * undecided}, claims=claims, **more)


def corrected(run: Run, verdict: str = "holds") -> Run:
    """Add a corrected claim to the first."""
    rows = run.claims.to_dict("records")
    rows.append({**rows[0], "claim": "l.0.corrected", "instead_of": "l.0", "verdict": verdict, "statement": "C."})
    return Run.from_rows(run.info, claims=rows)


@pytest.mark.parametrize(
    ("run", "said"),
    [
        (run_of("holds"), "Of 1 statement of the page, 1 holds."),
        (run_of("holds", "holds", undecided=1), "Of 3 statements of the page, 2 hold and 1 can't be decided here."),
        (run_of("refuted"), "Of 1 statement of the page, 1 is refuted, with no correction that holds."),
        (corrected(run_of("refuted")), "Of 1 statement of the page, 1 is refuted, with its correction."),
        (
            corrected(run_of("refuted"), "inconclusive"),
            "Of 1 statement of the page, 1 is refuted, with no correction that holds.",
        ),
        (
            corrected(run_of("refuted", "refuted", "error")),
            "Of 3 statements of the page, 2 are refuted, 1 of them with a correction that holds, and 1 is in error.",
        ),
        (run_of("inconclusive"), "Of 1 statement of the page, 1 is not decided yet."),
        (
            run_of("inconclusive", expected="depends"),
            "Of 1 statement of the page, 1 depends on the seed or the machine.",
        ),
        (
            run_of(
                "inconclusive",
                expected="depends",
                decisions=[{"claim": "l.0", "rule": TOO_FEW_SEEDS, "verdict": "inconclusive"}],
            ),
            "Of 1 statement of the page, 1 is not decided yet.",
        ),
        (
            run_of("holds", "not run", "not run", undecided=1),
            "Of 4 statements of the page, this run looked at 1: 1 holds; 2 were not run and 1 can't be decided here.",
        ),
        (run_of("not run"), "Of 1 statement of the page, this run looked at 0; 1 was not run."),
        (Run.from_rows({"complete": True}), ""),
    ],
)
def test_the_sentence_says_where_every_statement_stands(run, said):
    assert sentence(run) == said


@pytest.mark.parametrize(
    ("run", "said"),
    [
        (run_of("holds", "refuted", undecided=1), "1 of 3 statements hold"),
        (run_of("holds", "not run", "not run"), "1 of 1 statements hold; 2 were not run"),
        (run_of("not run", undecided=1), "0 of 0 statements hold; 1 was not run"),
    ],
)
def test_the_heading_counts_what_was_looked_at(run, said):
    assert heading(run) == said


def test_what_is_ours_is_outside_the_count():
    run = run_of("holds", "holds")
    run.claims["ours"] = [False, True]
    assert sentence(run) == "Of 1 statement of the page, 1 holds."
    assert beside(run) == "Beside them: 1 claim of ours (1 holds)."
    assert beside(run_of("holds")) == ""


def test_what_is_corrected_is_outside_the_count():
    assert beside(corrected(run_of("refuted"), "inconclusive")) == (
        "Beside them: 1 corrected claim (1 is not decided yet)."
    )
    (one,) = statements(corrected(run_of("refuted")))
    assert (one.claim, one.correction) == ("l.0", "C.")


def test_a_sentence_that_cannot_be_decided_follows_the_claims_of_its_part():
    run = reports_fixtures.realistic()
    found = statements(run)
    days = [(each.lesson, each.part) for each in found]
    assert days == sorted(days, key=days.index)
    at = [each.statement for each in found].index("Most people use it.")
    assert (found[at].part, found[at].claim, found[at - 1].part, found[at + 1].lesson) == (
        *("Day 7", "", "Day 7"),
        "detector",
    )


def test_the_table_has_every_statement_once_and_reads_back(tmp_path):
    run = reports_fixtures.realistic(per_day=4)
    write_report(run, tmp_path)
    frame = read_table(tmp_path / "statements.csv", STATEMENTS)
    own = run.claims[(run.claims["instead_of"] == "") & ~run.claims["ours"]]
    assert sorted(frame["claim"][frame["claim"] != ""]) == sorted(own["claim"])
    assert (frame["standing"] == "can't be decided").sum() == 2
    assert f"Of {len(frame)} statements of the pages, " in (tmp_path / "summary.md").read_text(encoding="utf-8")
    counts = frame["standing"].value_counts()
    assert f"{counts['holds']} hold, {counts['refuted']} are refuted, " in sentence(run)
    refuted = frame[frame["standing"] == "refuted"]
    assert (refuted["correction"] != "").all()
    assert (frame["correction"] != "").sum() == len(refuted) > 0


def test_any_text_survives_the_table():
    rows = list(csv.DictReader(io.StringIO(table(reports_fixtures.nasty()))))
    assert {row["reason"] for row in rows} >= {text for text in reports_fixtures.NASTY if text.isprintable()}


def test_the_page_says_the_same_everywhere():
    run = reports_fixtures.realistic()
    page = LexborHTMLParser(html(run))
    assert sentence(run) in " ".join(page.css_first("h1").text().split())
    assert beside(run) in " ".join(page.css_first(".beside").text().split())
    tiles = [int(tile.text()) for tile in page.css(".tile .number")]
    listed = statements(run)
    assert sum(tiles) + sum(not each.claim for each in listed) == len(listed)
    assert tiles[0] == sum(each.standing == "holds" for each in listed)
    assert page.css_first("title").text() == heading(run) == f"{tiles[0]} of {len(listed)} statements hold"
    assert [item.text() for item in page.css("#undecided dd.truth")] == [
        each.statement for each in listed if not each.claim
    ]
    ours = run.claims["claim"][run.claims["ours"]].item()
    assert "Ours; the page does not say it" in page.css_first(f'[id="claim-{ours}"] .verdict').text()


def test_an_addition_stands_under_its_own_heading_on_the_page():
    run = reports_fixtures.realistic()
    page = LexborHTMLParser(html(run))
    for section, remark in (("errata", "erratum"), ("additions", "addition")):
        links = [link.text() for link in page.css(f"#{section} .meta a")]
        assert links == list(run.errata["claim"][run.errata["remark"] == remark])
    verdicts = dict(zip(run.claims["claim"], run.claims["verdict"], strict=True))
    assert not {verdicts[link.text()] for link in page.css("#errata .meta a")} & {"holds"}

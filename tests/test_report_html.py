"""The page as text: valid, safe, self-contained, the same every time, and true to the tables."""

import math
import re
from collections import Counter
from itertools import pairwise

import pytest
import reports_fixtures
from justhtml import JustHTML
from selectolax.lexbor import LexborHTMLParser

from lesson_claims.report import page
from lesson_claims.report.build import build, write_report
from lesson_claims.report.html import html
from lesson_claims.report.page import slug
from lesson_claims.results.numbers import decimals_of, show
from lesson_claims.results.tables import Run, read_run

RUNS = {
    "full": reports_fixtures.realistic,
    "incomplete": lambda: reports_fixtures.realistic(complete=False),
    "nasty": reports_fixtures.nasty,
    "empty": lambda: Run.from_rows(info={"complete": True}),
}


@pytest.fixture(scope="module")
def pages():
    return {name: html(make()) for name, make in RUNS.items()}


@pytest.fixture(scope="module", params=RUNS)
def text(request, pages):
    return pages[request.param]


@pytest.fixture(scope="module")
def document(text):
    return LexborHTMLParser(text)


@pytest.fixture(scope="module")
def full(pages):
    return LexborHTMLParser(pages["full"])


def elements(document, selector):
    return document.css(selector)


def test_the_page_is_valid(text):
    JustHTML(text, strict=True, sanitize=False)  # raises on the first parse error


def test_ids_are_unique_and_links_lead_somewhere(document):
    ids = Counter(element.attributes["id"] for element in elements(document, "[id]"))
    assert not [name for name, times in ids.items() if times > 1]
    targets = {element.attributes["href"] for element in elements(document, "a[href], use[href]")}
    assert {target.removeprefix("#") for target in targets} <= set(ids)


def test_labels_refer_to_what_is_there(document):
    ids = {element.attributes["id"] for element in elements(document, "[id]")}
    for element in elements(document, "[aria-labelledby]"):
        assert set(element.attributes["aria-labelledby"].split()) <= ids


def test_nothing_is_loaded_and_nothing_runs_inline(document, text):
    for element in elements(document, "*"):
        assert not [name for name in element.attributes if name.startswith("on") or name in ("style", "src", "srcset")]
    assert len(elements(document, "script")) == 1
    assert len(elements(document, "style")) == 1
    assert "url(http" not in text
    assert "default-src 'none'" in elements(document, "meta[http-equiv]")[0].attributes["content"]


def test_every_heading_is_one_level_below_at_most(document):
    levels = [int(element.tag[1]) for element in elements(document, "h1, h2, h3, h4, h5, h6")]
    assert levels.count(1) == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))


def test_a_full_page_is_small(pages):
    assert len(pages["full"].encode()) < 3_000_000


def test_texts_stay_text(pages):
    document = LexborHTMLParser(pages["nasty"])
    assert not elements(document, "img, unk")
    shown = "".join(document.text().split())
    for text in reports_fixtures.NASTY:
        if text.isprintable():
            assert "".join(text.replace("`", "").split()) in shown.replace("`", "")
    assert "javascript:" not in pages["nasty"]
    assert "␀" in shown


def test_an_incomplete_run_says_so(pages, full):
    assert "This run is incomplete" in pages["incomplete"]
    assert "<title>Incomplete: " in pages["incomplete"]
    assert "incomplete" not in full.css_first("main").text().lower()


def test_an_empty_run_says_so(pages):
    assert "Nothing was checked in this run." in pages["empty"]
    assert "Nothing was measured in this run." in pages["empty"]


def test_the_same_tables_give_the_same_bytes(tmp_path):
    names = ("index.html", "summary.md", "errata.md")
    write_report(reports_fixtures.realistic(per_day=4), tmp_path)
    before = {name: (tmp_path / name).read_bytes() for name in names}
    for name in names:
        (tmp_path / name).unlink()
    build(tmp_path)
    assert {name: (tmp_path / name).read_bytes() for name in names} == before


def test_every_number_on_the_page_is_the_one_in_the_table(tmp_path):
    run = reports_fixtures.realistic(per_day=4)
    write_report(run, tmp_path)
    document = LexborHTMLParser((tmp_path / "index.html").read_text(encoding="utf-8"))
    lines = (tmp_path / "measurements.csv").read_text(encoding="utf-8").splitlines()
    names = lines[0].split(",")
    rows = elements(document, "table.all tbody tr")
    table = read_run(tmp_path).measurements.to_dict("records")
    assert len(rows) == len(table)
    walked = 0
    for row, line in zip(rows, table, strict=True):
        assert dict(zip(names, row.attributes["data-row"].split("\t"), strict=True)) == {
            name: "" if line[name] is None else str(line[name]) for name in names
        }
        for cell in elements(row, "td[data-label]"):
            value = line[cell.attributes["data-label"]]
            data = elements(cell, "data")
            assert bool(data) == (value not in ("", None)) or cell.attributes["data-label"] == "kind"
            if data:
                assert data[0].attributes["value"] == str(value)
                assert is_rounded(data[0].text(), str(value))
                walked += 1
    assert walked > 200


def test_every_number_beside_a_claim_is_the_one_in_the_table(full):
    run = reports_fixtures.realistic()
    printed = {(row["claim"], row["figure"]): row for row in run.measurements.to_dict("records")}
    samples = {(row["claim"], row["figure"], row["seed"]): row["value"] for row in run.samples.to_dict("records")}
    seen = dots = 0
    for (claim, figure), row in printed.items():
        (line,) = elements(full, f'[id="figure-{slug(claim)}:{slug(figure)}"]')
        for name in ("printed", "measured"):
            for data in elements(line, f"td[data-label={name}] data"):
                assert data.attributes["value"] == row[name]
                assert is_rounded(data.text(), row[name])
                seen += 1
        for title in elements(line, "circle title"):
            seed, value = re.fullmatch(r"seed (\d+): (.*)", title.text()).groups()
            assert is_rounded(value, repr(samples[claim, figure, int(seed)]))
            dots += 1
    assert seen > 400
    assert dots == len(samples)


def is_rounded(shown: str, value: str) -> bool:
    """Say whether the text shown is the value, or the value rounded to the digits shown."""
    if shown == value:
        return True
    return abs(float(shown) - float(value)) <= 0.5000001 * 10.0 ** -decimals_of(shown)


def test_values_that_differ_in_the_last_digit_look_different():
    claim = {"claim": "a", "lesson": "l", "verdict": "holds"}
    rows = [
        {"claim": "a", "figure": f"f{n}", "measured": value} for n, value in enumerate([1.00000001, 1.00000002, 1e-27])
    ]
    text = html(Run.from_rows(info={"complete": True}, claims=[claim], measurements=rows))
    for shown in ("1.00000001", "1.00000002", "1e-27"):
        assert f">{shown}<" in text
    assert show(1e-27) == "1e-27"


def test_an_open_interval_is_told_in_words():
    claim = {"claim": "a", "lesson": "l", "verdict": "holds"}
    row = {"claim": "a", "figure": "training seconds", "kind": "stated", "printed": "20",
           "measured": 12.5, "agreement": "within", "low": 0.0, "high": math.inf}  # fmt: skip
    decision = {"claim": "a", "verdict": "holds", "sentence": "It is so.", "low": 0.5, "high": math.inf}
    text = html(Run.from_rows(info={"complete": True}, claims=[claim], measurements=[row], decisions=[decision]))
    assert "at least 0<" in text
    assert "at least 0.5" in text
    assert " to inf" not in text


def test_missing_and_nan_are_told_apart():
    claim = {"claim": "a", "lesson": "l", "verdict": "holds"}
    rows = [
        {"claim": "a", "figure": "nan", "printed": "0.5", "measured": float("nan"), "agreement": "outside"},
        {"claim": "a", "figure": "missing", "printed": "0.5", "agreement": "not measured"},
    ]
    text = html(Run.from_rows(info={"complete": True}, claims=[claim], measurements=rows))
    assert text.count('<span class="nan">') == 2
    assert text.count('<span class="unseen">not measured</span>') == 2


def test_a_large_run_lists_what_needs_attention_and_says_what_it_leaves_out(monkeypatch):
    monkeypatch.setattr(page, "ROWS", 10)
    monkeypatch.setattr(page, "PLOTS", 1)
    run = reports_fixtures.realistic()
    text = html(run)
    document = LexborHTMLParser(text)
    rows = elements(document, "table.all tbody tr")
    assert len(rows) == 10
    assert {row.attributes["data-agreement"] for row in rows} == {"outside"}
    assert f"lists 10 of {len(run.measurements)} measurements" in " ".join(document.text().split())
    assert len(elements(document, "svg.plot")) == 1
    assert "not drawn; the points are in" in text


def test_a_long_page_lets_the_browser_skip_what_is_out_of_sight():
    claims = [{"claim": f"c{number}", "lesson": "l", "verdict": "holds"} for number in range(501)]
    for count, name in ((500, None), (501, "large")):
        text = html(Run.from_rows(info={"complete": True}, claims=claims[:count]))
        assert LexborHTMLParser(text).body.attributes.get("class") == name


def test_source_links_need_a_web_address_and_a_commit():
    claim = {"claim": "a", "lesson": "l", "verdict": "holds"}
    decision = {"claim": "a", "check": "claims/test_a.py::test_a[1]", "verdict": "holds"}
    info = {"complete": True, "commit": "abc", "source": {"claims/test_a.py::test_a[1]": "claims/test_a.py#L3"}}
    link = 'href="https://example.org/o/r/blob/abc/claims/test_a.py#L3"'
    for repository, linked in (("https://example.org/o/r", True), ("", False), ("javascript:alert(1)//", False)):
        run = Run.from_rows(info={**info, "repository": repository}, claims=[claim], decisions=[decision])
        text = html(run)
        assert (link in text) is linked
        assert "claims/test_a.py#L3" in text
        assert "javascript:" not in text


def test_what_can_be_said_instead_stands_with_the_refuted_claim(full):
    inner = elements(full, "article article")
    instead = reports_fixtures.realistic().claims.set_index("claim")["instead_of"]
    assert len(inner) == (instead != "").sum() > 0
    for article in inner:
        claim = article.attributes["id"].removeprefix("claim-")
        assert article.parent.parent.attributes["id"] == f"claim-{instead[claim]}"


def test_a_claim_stands_in_the_part_that_its_column_names(full):
    claims = reports_fixtures.realistic().claims
    headings = {heading.parent.attributes["id"]: heading.text() for heading in elements(full, ".part > h3")}
    assert "Day 3 — building a classifier" in headings.values()
    for part in elements(full, "section.lesson .part"):
        name = headings.get(part.attributes["id"], "").partition(" — ")[0]
        inside = {article.attributes["id"].removeprefix("claim-") for article in elements(part, "article")}
        lesson = claims["lesson"][claims["claim"].isin(inside)].iloc[0]
        assert inside == set(claims["claim"][(claims["part"] == name) & (claims["lesson"] == lesson)])
    assert "Day 3, section 2" in full.css_first('[id="claim-week07.day3.claim-2"] .meta').text()


def test_parts_of_the_same_name_stay_apart():
    lessons = {name: {"title": name, "parts": [{"name": "Part 1", "title": title}]} for name, title in ("ax", "by")}
    claims = [{"claim": name, "lesson": name, "part": "Part 1", "verdict": "holds"} for name in "ab"]
    rows = [{"claim": name, "figure": "f", "measured": 1} for name in "ab"]
    page = html(Run.from_rows(info={"complete": True, "lessons": lessons}, claims=claims, measurements=rows))
    headings = [heading.text() for heading in LexborHTMLParser(page).css(".part > h3")]
    assert headings == ["Part 1 — x", "Part 1 — y"]


def test_related_claims_are_linked_from_both_sides(full):
    claims = reports_fixtures.realistic().claims["claim"]
    first, sixth, last = claims[0], claims[5], claims.iloc[-1]
    for claim, others in ((first, [sixth, last]), (sixth, [first]), (last, [first])):
        links = full.css(f'[id="claim-{claim}"] > .said > .see a')
        assert [link.attributes["href"] for link in links] == [f"#claim-{other}" for other in others]
    assert len(full.css(".see")) == 3


def test_a_claim_says_which_controls_were_caught_and_when(full):
    (controls,) = full.css(".controls")
    assert controls.parent.parent.attributes["id"] == f"claim-{reports_fixtures.realistic().claims['claim'][0]}"
    assert controls.css_first("summary").text() == "1 of 3 controls caught"
    assert [" ".join(each.text().split()) for each in controls.css("li")] == [
        "gathers one step early: caught, 2026-03-01 02:30 UTC",
        "takes the mean: missed, 2026-03-02 02:30 UTC",
        "adds up: not tried with this code",
    ]


def test_a_related_claim_without_a_row_is_left_out():
    info = {"complete": True, "see": {"a": ["gone", "a"], "gone": ["a"]}}
    assert "See also" not in html(Run.from_rows(info=info, claims=[{"claim": "a", "lesson": "l", "verdict": "holds"}]))


def test_what_went_wrong_is_told_and_no_sentence_twice():
    claims = [{"claim": name, "lesson": "l", "verdict": verdict, "evidence": f"Text {name}."}
              for name, verdict in (("a", "error"), ("b", "holds"), ("c", "not run"))]  # fmt: skip
    decisions = [{"claim": name, "verdict": "holds", "sentence": f"Sentence {name}."} for name in "ab"]
    page = LexborHTMLParser(html(Run.from_rows(info={"complete": True}, claims=claims, decisions=decisions)))
    told = [[" ".join(item.text().split()) for item in page.css(f"#claim-{name} .decisions > li")] for name in "abc"]
    assert told == [["Sentence a.", "Text a."], ["Sentence b."], ["Text c."]]


def test_slugs_are_stable_and_different():
    assert slug("week07.day3.pooling") == "week07.day3.pooling"
    assert slug("a b") != slug("a-b")
    assert slug("x" * 10_000) != slug("x" * 10_001)
    assert re.fullmatch(r"[\w.-]+", slug("<img> \u202e"), re.ASCII)

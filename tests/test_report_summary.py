"""The run in Markdown and in the terminal: short, right, and harmless whatever a label says."""

import re

import pytest
import reports_fixtures
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from lesson_claims.report.errata import errata
from lesson_claims.report.markdown import line, paragraph
from lesson_claims.report.statements import sentence
from lesson_claims.report.summary import LISTED, summary, terminal_lines
from lesson_claims.results.tables import Run


def test_a_summary_has_the_tally_the_changes_the_refuted_and_the_slowest():
    run = reports_fixtures.realistic()
    text = summary(run)
    of_the_page = run.claims[(run.claims["instead_of"] == "") & ~run.claims["ours"]]
    counts = of_the_page["verdict"].value_counts()
    assert text.startswith(f"# {counts['holds']} of {len(of_the_page) + 2} statements hold\n")
    assert f"\n{sentence(run)}\n" in text
    assert f"| {counts['holds']} | {counts['refuted']} |" in text
    changed = run.claims[run.claims["changed"]]
    assert len(changed) == 2
    for claim in changed["claim"]:
        assert f"- {line(claim)}: expected" in text
    for heading in ("## What changed", "Refuted", "Inconclusive", "Error", "## Can't be decided here", "## Slowest"):
        assert heading in text
    assert len(text) < 20_000


def test_an_incomplete_run_says_so_first():
    run = reports_fixtures.realistic(complete=False)
    assert "This run is incomplete" in summary(run).split("##")[0]
    assert terminal_lines(run)[0].startswith("INCOMPLETE")
    assert "worker gw1 died" in summary(run)


def test_an_empty_run_has_a_summary():
    run = Run.from_rows(info={"complete": True})
    assert "0 of 0 statements hold" in summary(run)
    assert terminal_lines(run)[-1] == "changed: nothing"
    assert errata(run).count("None.\n") == 2


def test_long_lists_are_cut_and_say_so():
    claims = [
        {"claim": f"c{n}", "lesson": "l", "verdict": "refuted", "expected": "holds", "changed": True} for n in range(50)
    ]
    run = Run.from_rows(info={"complete": True}, claims=claims)
    assert summary(run).count(f"- and {50 - LISTED} more") == 2
    assert terminal_lines(run)[-1] == f"changed: and {50 - LISTED} more"


def test_terminal_lines_are_few_and_printable():
    lines = terminal_lines(reports_fixtures.nasty())
    assert all(each.isprintable() and len(each) < 300 for each in lines)
    full = terminal_lines(reports_fixtures.realistic())
    assert len(full) == 5
    assert re.match(r"claims: \d+ hold, \d+ refuted, \d+ inconclusive, \d+ in error$", full[0])
    assert re.match(r"Beside them: \d+ corrected claims \(\d+ hold\) and 1 claim of ours \(1 holds\)\.$", full[1])


def test_errata_and_additions_stand_in_order_with_everything():
    run = reports_fixtures.realistic()
    both = errata(run).split("## Additions\n")
    for text, remark, label in zip(both, ("erratum", "addition"), ("What is so", "What could be added"), strict=True):
        claims = run.errata["claim"][run.errata["remark"] == remark]
        assert text.count(f"**{label}.**") == len(claims) > 0
        assert text.count("**The page says, in our words.**") == len(claims)
        places = [text.index(f"Claim {line(claim)}\n") for claim in claims]
        assert places == sorted(places)
    assert (
        both[0].count("**Evidence against what the page says.**") == both[0].count("**Evidence for what is so.**") > 0
    )


def test_a_remark_on_a_claim_of_ours_is_not_said_of_the_page():
    claims = [{"claim": "a", "lesson": "l", "verdict": "holds", "ours": True, "statement": "It is."}]
    run = Run.from_rows(
        {"complete": True}, claims=claims, errata=[{"claim": "a", "remark": "addition", "truth": "So."}]
    )
    assert "**Not on the page, in our words.** It is." in errata(run)
    assert "The page says, in" not in errata(run)


@pytest.mark.parametrize("make", [summary, errata])
def test_labels_cannot_become_markup(make):
    text = make(reports_fixtures.nasty())
    assert not re.search(r"<(?!br)", text)
    assert "](" not in text
    assert not re.search(r"(?<!\\)\{\{", text)
    assert "\x1b" not in text
    assert "\u202e" not in text


CONTROLS = r"[\s\x00-\x1f\x7f-\x9f\ud800-\udfff\u200e\u200f\u202a-\u202e\u2066-\u2069]+"
MARKUP = st.text(st.sampled_from(list("`\\|*_<>&[]()!#~$@:{}+-=%.1a \n")), max_size=30)


@given(
    st.text()
    | MARKUP
    | st.lists(st.sampled_from(["`a`", "``", "www.", "http://", "__", "1.", "(a)=", "- ", "x"])).map("".join)
)
def test_any_text_is_one_line_that_markdown_reads_as_text_and_code(text):
    written = line(text, 1000)
    assert "\n" not in written
    assert "<" not in written
    assert not re.search(r"(?<!\\)(\\\\)*\|", written)
    assert len(line(text, 10)) <= 70
    if written:
        tokens = MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(written)
        assert [token.type for token in tokens] == ["paragraph_open", "inline", "paragraph_close"]
        read = tokens[1].children
        assert {token.type for token in read} <= {"text", "code_inline", "text_special"}
        plain = re.sub(CONTROLS, " ", text).strip()
        assert "".join(token.content for token in read).replace("`", "") == plain.replace("`", "")


def test_code_stays_code_and_words_stay_words():
    for text in ("Pass `h_n[-2]`.", "`output, (h, c) = gru(x)` raises.", "batch_first (the layout): 8 + 1 > 7!"):
        assert line(text) == text


def test_plain_sentences_stay_as_they_are():
    sentence = "On 5 paired seeds, the difference is 0.31: it holds."
    assert line(sentence) == sentence
    assert paragraph("x" * 500) == "x" * 500

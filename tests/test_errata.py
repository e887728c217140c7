"""Errata are filled from a run's numbers, and from nothing else."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from lesson_claims.errata import UnknownNumber, errata, fill
from lesson_claims.figures import make_figure
from lesson_claims.registry import Claim, Registry

FIGURE = make_figure(
    claim="course.day1.x", figure="LSTM accuracy", printed="0.8760", kind="trained", where="day 1, a table", place="f:2"
)


def registry(expect: str = "holds", truth: str = "", suggest: str = "") -> Registry:
    claim = Claim(
        "course.day1.x", "course", "Day 1", "here", "It is so.", "trained", expect, truth=truth, suggest=suggest
    )  # type: ignore[arg-type]
    return Registry({claim.id: claim}, {claim.id: {FIGURE.name: FIGURE}})


def row(values: list[float], low: float, high: float, agreement: str = "within") -> dict[str, Any]:
    return {
        "claim": "course.day1.x",
        "figure": FIGURE.name,
        "kind": "trained",
        "measured": values[0],
        "agreement": agreement,
        "low": low,
        "high": high,
        "sample": [[seed, value] for seed, value in enumerate(values)],
    }


@pytest.mark.parametrize(
    ("text", "filled"),
    [
        ("no number", "no number"),
        ("about {a}", "about 0.12345"),
        ("about {a:.2f} of {b}", "about 0.12 of 7"),
        ("{a:.1%} of {median LSTM accuracy:.2f}", "12.3% of 0.72"),
    ],
)
def test_names_in_braces_become_numbers(text: str, filled: str) -> None:
    assert fill(text, {"a": 0.12345, "b": 7, "median LSTM accuracy": 0.722}) == filled


@pytest.mark.parametrize("text", ["{c}", "{a.__class__}", "{a[0]}", "{a:>1000000000}", "{a!r}", "{a:{b}}"])
def test_nothing_else_is_evaluated(text: str) -> None:
    with pytest.raises(UnknownNumber):
        fill(text, {"a": 0.5, "b": 1})


def test_a_lottery_ticket_has_an_addition_and_a_steady_figure_has_none() -> None:
    (ticket,) = errata(registry(), {}, [row([0.87, 0.63, 0.72, 0.70, 0.75], 0.5, 0.95)], {})
    assert ticket["figure"] == "LSTM accuracy"
    assert ticket["remark"] == "addition", "a number that comes out is no error"
    assert "5 seeds give 0.63 to 0.87, median 0.72" in ticket["evidence"]
    assert errata(registry(), {}, [row([0.876, 0.877], 0.87, 0.88)], {}) == []


@pytest.mark.parametrize("agreement", ["outside", "depends on the machine"])
def test_a_printed_number_that_does_not_come_out_is_an_erratum(agreement: str) -> None:
    moved = row([0.87, 0.63, 0.72], 0.5, 0.95, agreement) | {"page_low": 0.6, "page_high": 0.8, "platforms": 2}
    (ticket,) = errata(registry(), {}, [moved], {})
    assert ticket["remark"] == "erratum"


def test_a_number_of_our_own_is_no_lottery_ticket() -> None:
    own = row([0.87, 0.63, 0.72], 0.5, 0.95) | {"figure": "something that the page does not print"}
    assert errata(registry(), {}, [own], {}) == []


def test_a_figure_that_was_not_measured_is_no_lottery_ticket() -> None:
    unmeasured = {"claim": "course.day1.x", "figure": FIGURE.name, "kind": "trained", "agreement": "not measured"}
    assert errata(registry(), {}, [unmeasured], {}) == []


def test_a_refuted_claim_has_what_is_true_and_the_sentence_to_print() -> None:
    one = registry("refuted", "It is otherwise.", "It is {lowest LSTM accuracy:.2f} at least.")
    seen = {"course.day1.x": "We saw it.", "course.day1.x.corrected": "We saw what is so."}
    rows = errata(one, {"course.day1.x": "refuted"}, [row([0.876, 0.877], 0.87, 0.88)], seen)
    assert rows[0]["truth"] == "It is otherwise."
    assert (rows[0]["evidence"], rows[0]["evidence_for_truth"]) == ("We saw it.", "We saw what is so.")
    assert rows[0]["remark"] == "erratum"
    assert rows[0]["suggestion"] == "It is 0.88 at least."


@pytest.mark.parametrize(("corrected", "told"), [("holds", False), ("inconclusive", True), ("not run", True)])
def test_a_truth_that_this_run_does_not_decide_says_so(corrected: str, told: bool) -> None:
    verdicts = {"course.day1.x": "refuted", "course.day1.x.corrected": corrected}
    seen = {"course.day1.x.corrected": "So far it depends."}
    (found,) = errata(registry("refuted", "It is otherwise.", "It is not."), verdicts, [], seen)
    assert found["truth"].endswith("this run does not decide it.)") is told
    assert bool(found["evidence_for_truth"]) is not told, "what does not hold is no evidence"


@pytest.mark.parametrize(
    ("values", "suggestion"),
    [
        ([0.8858, 0.8968, 0.9061], "about 0.897 (0.886 to 0.906) over 3 seeds"),
        ([0.6, 1.0, 0.93], "about 0.93 (0.60 to 1.00) over 3 seeds"),
        ([1.67, 4.14, 2.9], "about 2.9 (1.7 to 4.1) over 3 seeds"),
    ],
)
def test_what_is_suggested_for_a_lottery_ticket_has_the_digits_that_tell(values: list[float], suggestion: str) -> None:
    (ticket,) = errata(registry(), {}, [row(values, 0.0, 5.0)], {})
    assert ticket["suggestion"].replace(" over 3 seeds)", ") over 3 seeds") == suggestion


@pytest.mark.parametrize(("verdict", "rows"), [("holds", 1), ("not run", 0), ("inconclusive", 0), ("error", 0)])
def test_a_claim_has_its_addition_where_it_holds(verdict: str, rows: int) -> None:
    one = registry("holds", "It is so by a hair.", "It is so, but barely.")
    found = errata(one, {"course.day1.x": verdict}, [], {})
    assert [each["remark"] for each in found] == ["addition"] * rows


def test_an_addition_gives_way_where_the_claim_is_refuted() -> None:
    one = registry("holds", "It is so by a hair.", "It is so, but barely.")
    (found,) = errata(one, {"course.day1.x": "refuted"}, [], {})
    assert found["remark"] == "erratum"
    assert found["truth"].startswith("This run refutes it")


def test_a_claim_of_ours_is_never_an_error_of_the_page() -> None:
    one = registry()
    ours = replace(one.claims["course.day1.x"], ours=True)
    assert errata(Registry({ours.id: ours}, {}), {ours.id: "refuted"}, [], {}) == []


@pytest.mark.parametrize(
    ("verdict", "rows"), [("inconclusive", 1), ("refuted", 1), ("holds", 0), ("not run", 0), ("error", 0)]
)
def test_a_claim_that_depends_on_the_seed_has_an_erratum_as_long_as_nothing_else_is_shown(
    verdict: str, rows: int
) -> None:
    one = registry("depends", "It depends on the seed.", "It is so in some runs.")
    sentences = {"course.day1.x": "So far it depends on the seed: 11 of 20."}
    found = errata(one, {"course.day1.x": verdict}, [], sentences)
    assert [row["remark"] for row in found] == ["erratum"] * rows
    assert all(row["evidence"] == sentences["course.day1.x"] for row in found)
    assert all(row["suggestion"] == "It is so in some runs." for row in found)


def test_a_refuted_claim_that_holds_in_this_run_has_no_erratum() -> None:
    one = registry("refuted", "It is otherwise.", "It is not.")
    assert errata(one, {"course.day1.x": "holds"}, [], {}) == []


def test_a_claim_newly_refuted_is_in_the_errata_without_a_sentence() -> None:
    (found,) = errata(registry(), {"course.day1.x": "refuted"}, [], {"course.day1.x": "We saw it."})
    assert found["suggestion"] == ""
    assert found["evidence"] == "We saw it."

"""What a check records: what decides it, what only measures, and how it stands to what is on record."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest

from lesson_claims.deciders import beats, equivalent, grows, share, that
from lesson_claims.decisions import Levels, Verdict
from lesson_claims.figures import Figure, make_figure
from lesson_claims.record import Decide, Measure, Record, UnlikeRecord
from lesson_claims.recorded import Recorded, Wins
from lesson_claims.registry import Claim, Registry
from lesson_claims.results.vocabulary import Expectation, Kind
from lesson_claims.runs.evidence import Sample

CLAIM = Claim("course.day1.x", "course", "Day 1", "here", "It is so.", Kind.TRAINED, Expectation.HOLDS)


def figure(name: str, printed: str, kind: str, **more: str) -> Figure:
    return make_figure(claim=CLAIM.id, figure=name, printed=printed, kind=kind, where="here", place="f:2", **more)


def checking(*figures: Figure, **settings: Any) -> tuple[Record, Measure, Decide]:
    record = Record(CLAIM, 1, **settings)
    registry = Registry({CLAIM.id: CLAIM}, {CLAIM.id: {each.name: each for each in figures}})
    return record, Measure(record, registry), Decide(record)


def sample(page: Any, values: Sequence[Any], platforms: Mapping[str, Any] | None = None) -> Sample:
    return Sample(page, tuple(range(1, len(values) + 1)), np.array(values), platforms or {})


ACCURACY = figure("accuracy", "0.92", "trained")
SPREAD = {(CLAIM.id, "accuracy"): {"old": 0.90, "new": 0.93}}
MANY = [0.92, 0.9, 0.91, 0.93, 0.5] * 8


def test_a_series_over_seeds_is_its_median_with_the_least_and_the_largest() -> None:
    record, measure, _ = checking()
    samples = [Sample(value, (0, 1, 2), np.array([value, value + 3, value + 1])) for value in (0.5, 10)]
    measure.range_over_seeds("p", [8, 16], np.stack(samples, axis=1), series="s", x_label="length", x_scale="log")
    assert [(row["x"], row["low"], row["y"], row["high"]) for row in record.curves] == [
        (8, 0.5, 1.5, 3.5),
        (16, 10.0, 11.0, 13.0),
    ]
    assert {(row["mark"], row["series"], row["x_label"], row["x_scale"]) for row in record.curves} == {
        ("line", "s", "length", "log")
    }
    assert all(type(row[name]) in (int, float) for row in record.curves for name in ("x", "y", "low", "high"))


# What only measures decides nothing ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "how", ["nothing", "also", "missing", "curve", "stated", "clock", "also over seeds", "all of them"]
)
def test_what_only_measures_decides_nothing(how: str) -> None:
    record, measure, _ = checking(figure("said", "3", "stated"), figure("seconds", "3.5", "clock"), ACCURACY)
    acts = {
        "also": lambda: measure.also("mine", 3),
        "missing": lambda: measure.missing("accuracy", "there was no time"),
        "curve": lambda: measure.curve("p", [1], [2]),
        "stated": lambda: measure("said", 3),
        "clock": lambda: measure("seconds", 3.6),
        "also over seeds": lambda: measure.also("others", sample(0.9, MANY)),
    }
    for name, act in acts.items():
        if how in (name, "all of them"):
            act()
    with pytest.raises(RuntimeError, match=r"course\.day1\.x .* could never fail"):
        record.settle()


@pytest.mark.parametrize("printed", ["3", "4"])
def test_a_stated_figure_decides_within_an_interval_alone(printed: str) -> None:
    record, measure, decide = checking(figure("said", printed, "stated"))
    measure("said", 3)
    decide(that(True, "It is so."))
    assert record.settle().verdict == Verdict.HOLDS
    record, measure, _ = checking(figure("said", printed, "stated"))
    measure("said", 3, within=(2.5, 3.5))
    assert record.settle().verdict == (Verdict.HOLDS if printed == "3" else Verdict.REFUTED)


@pytest.mark.parametrize(
    ("shown", "measured"),
    [
        (figure("f", "3", "exact"), 4),
        (figure("f", "yes", "exact"), "no"),
        (figure("f", "0.50", "float"), 0.4),
        (figure("f", "cat", "trained", tolerance="0"), "dog"),
        (figure("f", "0.92", "trained"), 0.42),
    ],
)
def test_a_printed_figure_of_any_kind_decides(shown: Figure, measured: Any) -> None:
    record, measure, _ = checking(shown)
    measure("f", measured)
    assert record.settle().verdict == Verdict.REFUTED
    record, measure, _ = checking(shown)
    measure("f", shown.printed if shown.number is None else float(shown.value))
    assert record.settle().verdict == Verdict.HOLDS


# Figures of training runs --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("values", [MANY[:3], MANY, [0.42] * 19 + [0.43]], ids=["few", "many", "all elsewhere"])
def test_a_trained_figure_that_is_plainly_wrong_refutes_whatever_the_seeds_give(values: list[float]) -> None:
    """With many seeds, too, and where other seeds do give what is printed."""
    record, measure, decide = checking(figure("accuracy", "0.42", "trained"), recorded=Recorded(SPREAD))
    measure("accuracy", sample(0.91, values))
    decide(that(True, "The rest is so."))
    told = record.settle()
    assert told.verdict == Verdict.REFUTED
    below = sum(value < 0.42 for value in values)
    assert "accuracy is printed as 0.42 and not reproduced on the 2 platforms tried (old, new)" in told.sentence
    assert f"{below} of {len(values)} other seeds give less" in told.sentence
    assert "0 of 1 printed figures" in told.sentence


def test_all_wrong_figures_are_named() -> None:
    record, measure, _ = checking(*(figure(name, "0.50", "trained") for name in "abc"))
    for name, value in zip("abc", (0.6, 0.5, 0.4), strict=True):
        measure(name, sample(value, MANY))
    told = record.settle().sentence
    assert told.startswith("1 of 3 printed figures come out")
    assert ("a is printed" in told, "b is printed" in told, "c is printed" in told) == (True, False, True)


@pytest.mark.parametrize("here", [0.90, 0.915, 0.93, 0.94, 0.88])
def test_a_leg_within_the_spread_on_record_does_not_turn_the_verdict(here: float) -> None:
    for printed, verdict in (("0.92", Verdict.HOLDS), ("0.87", Verdict.HOLDS), ("0.86", Verdict.REFUTED)):
        record, measure, _ = checking(figure("accuracy", printed, "trained"), recorded=Recorded(SPREAD))
        measure("accuracy", sample(here, MANY))
        assert record.settle().verdict == verdict
        row = record.measurements[0]
        assert (row["page_low"], row["page_high"], row["platforms"]) == (min(here, 0.90), max(here, 0.93), 2)


def test_a_value_unlike_all_on_record_is_a_finding_about_the_leg() -> None:
    record, measure, decide = checking(ACCURACY, recorded=Recorded(SPREAD))
    measure("accuracy", sample(0.6, MANY))
    decide(that(False, "It fails here."))
    with pytest.raises(UnlikeRecord, match=r"course\.day1\.x: accuracy: the page's seed gives 0\.6 here, and 0\.9"):
        record.settle()
    assert record.verdict is None


def test_a_figure_that_depends_on_the_machine_may_still_be_unlike_all_of_them() -> None:
    recorded = Recorded({(CLAIM.id, "accuracy"): {"old": 0.85, "new": 0.95}})
    record, measure, _ = checking(ACCURACY, recorded=recorded, expected="depends")
    measure("accuracy", sample(0.5, MANY))
    with pytest.raises(UnlikeRecord, match=r"the page's seed gives 0\.5 here"):
        record.settle()


def test_a_value_unlike_what_this_very_session_tried_is_none() -> None:
    """Without a record there is nothing to be unlike."""
    record, measure, _ = checking(ACCURACY)
    measure("accuracy", sample(0.6, MANY, {"one": 0.91, "other": 0.92}))
    assert record.settle().verdict == Verdict.HOLDS


@pytest.mark.parametrize(
    ("record_of", "tried"),
    [({"old": 0.88, "new": 0.94}, {}), ({}, {"old": 0.88, "new": 0.94}), ({"old": 0.88}, {"new": 0.94})],
)
def test_a_figure_that_moves_too_far_between_platforms_depends_on_the_machine(
    record_of: dict[str, float], tried: dict[str, float]
) -> None:
    recorded = Recorded({(CLAIM.id, "accuracy"): record_of} if record_of else {})
    record, measure, decide = checking(ACCURACY, recorded=recorded, expected="holds")
    measure("accuracy", sample(0.92, MANY, tried))
    decide(that(True, "The rest is so."))
    told = record.settle()
    assert told.verdict == Verdict.INCONCLUSIVE
    assert "accuracy depends on the machine: the page's seed gives 0.88 to 0.94" in told.sentence
    assert record.measurements[0]["agreement"] == "depends on the machine"
    assert "depends on the machine" in record.contradicted
    assert not record.more_may_decide, "no number of seeds decides that"
    assert [row["x"] for row in record.curves] == list(tried)


def test_a_printed_number_that_is_no_typical_one_is_told_and_decides_nothing() -> None:
    record, measure, _ = checking(ACCURACY)
    measure("accuracy", sample(0.92, [0.70, 0.71, 0.69, 0.72, 0.70]))
    assert record.settle().verdict == Verdict.HOLDS
    (note,) = record.notes
    assert (note.verdict, note.rule) == (Verdict.HOLDS, "typical draw")
    assert "accuracy: 0.92 is no typical number" in note.sentence
    assert "5 of 5 other seeds give less than is printed" in note.sentence


# Several findings ----------------------------------------------------------------------------------------------------


def test_a_refutation_outweighs_what_is_undecided_and_that_what_holds() -> None:
    undecided, holds, fails = beats([1.0, 0.0], 0.5), that(True, "It is so."), that(False, "It fails.")
    for findings, verdict in (
        ([holds, undecided, fails], Verdict.REFUTED),
        ([holds, undecided], Verdict.INCONCLUSIVE),
        ([holds, holds], Verdict.HOLDS),
    ):
        record, _, decide = checking()
        decide(*findings)
        assert record.settle().verdict == verdict
        assert record.verdict == verdict


@pytest.mark.parametrize(("tests", "checks"), [(1, 1), (4, 1), (2, 2), (1, 4)])
def test_one_of_several_tests_needs_its_share_of_the_level_to_refute(tests: int, checks: int) -> None:
    """Six seeds of one mind have p = 1/64, which is less than 1/20 and more than a quarter of that."""
    losing, winning = beats([0.0] * 6, 1.0), [beats([1.0] * 20, 0.0)] * (tests - 1)
    record, _, decide = checking(checks=checks, levels=Levels(0.05, 0.05))
    decide(losing, *winning)
    told = record.settle()
    assert told.verdict == (Verdict.REFUTED if tests * checks == 1 else Verdict.INCONCLUSIVE)
    assert (told.p, told.level) == (1 / 64, 0.05 / (tests * checks))
    assert told.sentence.endswith("So far it depends on the seed: 0 of 6.") == (tests * checks > 1)


def test_all_tests_are_needed_to_hold_and_so_each_may_use_the_whole_level() -> None:
    record, _, decide = checking(levels=Levels(0.05, 0.05))
    decide(*[beats([1.0] * 5, 0.0)] * 40)
    assert record.settle().verdict == Verdict.HOLDS
    record, _, decide = checking(levels=Levels(0.05, 0.05))
    decide(*[beats([1.0] * 5, 0.0)] * 39, beats([1.0, 0.0] * 5, 0.5))
    assert record.settle().verdict == Verdict.INCONCLUSIVE


def test_a_fact_takes_no_part_in_the_levels() -> None:
    record, _, decide = checking(levels=Levels(0.05, 0.05))
    decide(beats([0.0] * 5, 1.0), *[that(True, "It is so.")] * 40)
    assert record.settle().verdict == Verdict.REFUTED


# Looking again -------------------------------------------------------------------------------------------------------

EVERY_LOOK = Levels(0.005, 0.005, every_look=True)


def look(record: Record, decide: Decide, wins: int, seeds: int, more: int = 0) -> Verdict:
    decide(beats([1.0] * wins + [0.0] * (seeds - wins), 0.5), *[beats([1.0] * 20, 0.0)] * more)
    return record.settle().verdict


def test_evidence_keeps_its_peak_from_look_to_look() -> None:
    record, _, decide = checking(levels=EVERY_LOOK)
    assert look(record, decide, 6, 6) == Verdict.INCONCLUSIVE
    (first,) = record.decisions
    record.look_again(8)
    assert look(record, decide, 6, 8) == Verdict.INCONCLUSIVE
    (second,) = record.decisions
    assert second.p == first.p, "two losses later, what had been shown stays shown"
    record.look_again(10)
    assert look(record, decide, 6, 10) == Verdict.INCONCLUSIVE
    assert record.decisions[0].p == first.p, "over two looks as well"
    assert record.decisions[0].tested is not None
    assert record.decisions[0].tested.wins == 6
    assert record.decisions[0].sentence.endswith("So far it depends on the seed: 6 of 10.")


def test_evidence_is_not_mixed_up_when_another_number_of_tests_is_made() -> None:
    record, _, decide = checking(levels=EVERY_LOOK)
    look(record, decide, 6, 6)
    record.look_again(8)
    look(record, decide, 4, 8, more=1)
    assert record.decisions[0].p == 1.0


def test_a_new_look_forgets_all_else() -> None:
    record, measure, decide = checking(ACCURACY, levels=EVERY_LOOK)
    measure("accuracy", sample(0.42, MANY))
    measure.also("mine", 3)
    measure.curve("p", [1], [2])
    look(record, decide, 3, 6)
    record.look_again(8)
    found = (record.measurements, record.decisions, record.notes, record.curves, record.judged, record.misprints)
    assert (*map(len, found), record.verdict, record.seeds) == (0, 0, 0, 0, 0, 0, None, 8)
    measure("accuracy", sample(0.92, MANY))
    assert look(record, decide, 8, 8) == Verdict.INCONCLUSIVE


@pytest.mark.parametrize(
    ("decision", "more"),
    [
        (beats([1.0, 0.0] * 3, 0.5), True),
        (equivalent([1.0, 0.0] * 3, 0.0, margin=0.5), True),
        (grows([1, 2, 3], [[1.0, 2, 3], [3.0, 2, 1]], law="linear"), True),
        (share(3, 6, at_least=0.5, of_seeds=True), True),
        (share(3, 6, equals=0.5, margin=0.2, of_seeds=True), True),
        (share(3, 6, equals=0.5, margin=0.2), False),
        (beats([1.0] * 20, 0.0), False),
        (that(True, "It is so."), False),
    ],
)
def test_more_seeds_are_for_what_they_may_decide(decision: Any, more: bool) -> None:
    record, _, decide = checking(levels=EVERY_LOOK)
    decide(decision)
    record.settle()
    assert record.more_may_decide is more


# What is on record ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("expected", "wins", "said"),
    [
        ("holds", 9, "is on record as holds, and 9 wins of 20 seeds contradict that"),
        ("refuted", 11, "is on record as refuted, and 11 wins of 20 seeds contradict that"),
        ("holds", 14, ""),
        ("refuted", 6, ""),
        ("open", 9, ""),
        ("depends", 9, ""),
    ],
)
def test_chance_level_contradicts_a_record_also_without_a_baseline(expected: str, wins: int, said: str) -> None:
    record, _, decide = checking(expected=expected, levels=Levels(0.001, 0.001))
    assert look(record, decide, wins, 20) == Verdict.INCONCLUSIVE
    assert record.contradicted.startswith(said)
    assert bool(record.contradicted) == bool(said)


def test_a_number_that_python_does_not_print_is_refused() -> None:
    _, measure, _ = checking()
    measure.also("atoms", 10**399)
    with pytest.raises(ValueError, match="more than 400 digits: measure its logarithm"):
        measure.also("more", -(10**5000))


def test_a_record_is_contradicted_by_a_test_on_fixed_data_that_decides_no_more() -> None:
    record, _, decide = checking(expected="holds")
    decide(share(5, 9, at_least=0.5, what="the share of rows"))
    assert record.settle().verdict == Verdict.INCONCLUSIVE
    assert "a test that no seed enters does not decide it any more" in record.contradicted


def test_a_check_that_uses_decide_must_decide_whatever_it_measured() -> None:
    record, measure, _ = checking(decides=True)
    measure.also("class balance", 0.509)
    with pytest.raises(RuntimeError, match="uses decide and recorded no decision"):
        record.settle()


def test_a_baseline_of_wins_tells_what_is_usual() -> None:
    for known, contradicts in ((Wins(11, 20), False), (Wins(60, 60), True)):
        recorded = Recorded(wins={CLAIM.id: known})
        record, _, decide = checking(expected="holds", levels=Levels(0.001, 0.001), recorded=recorded)
        look(record, decide, 10, 20)
        assert bool(record.contradicted) is contradicts


def test_the_weakest_test_is_the_one_that_the_smallest_share_of_seeds_agrees_with() -> None:
    record, _, decide = checking()
    decide(beats([1.0] * 6, 0.0), beats([1.0] * 7 + [0.0] * 3, 0.5), that(True, "It is so."), share(0, 9, at_least=0.5))
    record.settle()
    assert record.weakest is not None
    assert (record.weakest.wins, record.weakest.seeds) == (7, 10)

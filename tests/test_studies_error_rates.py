"""The error rates that docs/statistics.md states are those of the rules in force, and none exceeds its level."""

import re
from pathlib import Path

import pytest

from lesson_claims.deciders.e_values import majority_e
from lesson_claims.decisions import LEVEL
from studies.error_rates import (
    CAPS,
    CLAIMS,
    DECIDERS,
    DIFFERENCES,
    FIXED,
    HOLDING,
    REFUTED,
    RUNS,
    SEEDS,
    SEQUENTIAL,
    decider_rates,
    looks,
    tables,
)
from studies.seed_plans import RULES, by_evidence, by_p_value, fewest_wins, followed_advice, outcome

DOCUMENT = Path(__file__).parents[1] / "docs" / "statistics.md"
BEGIN, END = "<!-- simulated: begin -->\n\n", "\n<!-- simulated: end -->"


@pytest.fixture(scope="module")
def stated() -> str:
    return DOCUMENT.read_text(encoding="utf-8").partition(BEGIN)[2].partition(END)[0]


def rows(text: str, heading: str) -> list[list[str]]:
    """Return the cells of the table under a heading, without its header."""
    assert heading in text
    table = text.partition(heading)[2].partition("| --- |")[2].partition("\n\n")[0].splitlines()[1:]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table]


def pairs(row: list[str]) -> list[tuple[float, ...]]:
    """Return the rates of false holds and false refutations of a row's cells."""
    return [tuple(map(float, found)) for cell in row for found in re.findall(r"(\d\.\d{3}) / (\d\.\d{3})", cell)]


def at_most(level: float) -> float:
    """Return the level, four standard errors of a simulation above."""
    return level + 4 * (level * (1 - level) / RUNS) ** 0.5


def test_the_document_states_what_is_measured(stated):
    assert stated == tables(), "run `python -m studies.error_rates` and put its output between the markers"


@pytest.mark.parametrize("heading", ["The deciders themselves", "`share` at the border", "`better_than_shuffled`, one"])
def test_no_decider_errs_more_often_than_its_level(stated, heading):
    for row in rows(stated, heading):
        assert pairs(row)
        for holds, refuted in pairs(row):
            assert holds <= at_most(SEQUENTIAL.holds), row
            assert refuted <= at_most(SEQUENTIAL.refuted), row


@pytest.mark.parametrize("truth", [0.3, 0.4, 0.5])
def test_no_rule_errs_more_often_than_its_level_whatever_the_cap(truth):
    for levels in (SEQUENTIAL, SEQUENTIAL.shared_by(2)):
        for evidence in RULES.values():
            for cap in (*CAPS, 500):
                false, true = (outcome(by_evidence(evidence, cap, levels), share) for share in (truth, 1 - truth))
                assert false.holds <= levels.holds
                assert true.refuted <= levels.refuted
    for seeds in SEEDS:
        assert outcome(by_p_value(seeds, FIXED), truth).holds <= FIXED.holds
        assert outcome(by_p_value(seeds, FIXED), 1 - truth).refuted <= FIXED.refuted


@pytest.mark.parametrize("shape", ["normal", "two clusters"])
def test_the_deciders_do_what_was_computed(shape):
    for cap in (20, 100):
        expected = outcome(by_evidence(majority_e, cap, SEQUENTIAL), 0.5)
        for name in DECIDERS:
            found = decider_rates(name, DIFFERENCES[shape], looks(cap), SEQUENTIAL, {}, seed=1)
            for measured, computed in zip(found, expected[:2], strict=True):
                assert abs(measured - computed) <= 4 * (computed * (1 - computed) / RUNS) ** 0.5, (name, cap)


def test_the_rule_in_force_decides_as_the_document_says():
    first, *_, last = by_evidence(majority_e, 20, SEQUENTIAL)
    assert (first.seeds, fewest_wins(first.holds), fewest_wins(first.refuted)) == (6, 6, None)
    assert fewest_wins(last.holds) == 16
    assert last.refuted[:4].all()
    assert not last.refuted[4]


def test_the_rule_in_force_is_no_worse_than_the_even_bet_that_it_replaced():
    even = RULES["half at stake 1, half at 0.6"]
    for levels in (SEQUENTIAL, SEQUENTIAL.shared_by(2)):
        for cap in (20, 100):
            for truth in (0.6, 0.7, 0.8, 0.9, 0.95, 1.0):
                new, old = (outcome(by_evidence(rule, cap, levels), truth) for rule in (majority_e, even))
                assert new.holds >= old.holds - 1e-12
                assert new.seeds <= old.seeds + 1e-9
                new, old = (outcome(by_evidence(rule, cap, levels), 1 - truth) for rule in (majority_e, even))
                assert new.refuted >= old.refuted - 1e-12


def test_a_false_erratum_is_rare_and_no_verdict_hangs_on_other_claims(stated):
    (half,) = [row for row in rows(stated, "A registry of") if row[0] == "50%"]
    before, _, auto, long, *fixed = pairs(half)
    assert before[1] > 0.19
    assert max(rate for _, rate in (auto, long, *fixed)) < 0.05
    for row, allowed in zip(rows(stated, f"All {CLAIMS} claims"), (LEVEL * HOLDING, LEVEL * REFUTED), strict=True):
        assert float(row[1]) <= allowed
    assert {row[3] for row in rows(stated, "No cliff")} == {"85"}


def test_adding_seeds_as_advised_doubled_the_error_and_more_and_no_longer_does():
    assert followed_advice(0.5, times=0).holds == 1 / 32
    assert followed_advice(0.5, times=1).holds > 0.08
    assert followed_advice(0.5, most=200).holds > 0.1
    for cap in CAPS:
        assert outcome(by_evidence(majority_e, cap, SEQUENTIAL), 0.5).holds <= LEVEL


def test_the_prediction_interval_covers_what_its_docs_say(stated):
    table = {row[0]: [outside for _, outside in pairs(row)] for row in rows(stated, "The interval for one more")}
    assert max(table["normal"]) <= at_most(LEVEL)
    for shape, outside in table.items():
        if shape != "constant":
            assert outside[0] <= 0.12, shape
            assert outside[2] <= 0.065, shape


def test_the_chance_to_decide_grows_with_agreement():
    for plan in (by_evidence(majority_e, 20, SEQUENTIAL), *(by_p_value(seeds, FIXED) for seeds in SEEDS)):
        chances = [outcome(plan, agreeing).holds for agreeing in (0.5, 0.7, 0.9, 1.0)]
        assert chances == sorted(chances)
        assert chances[-1] == pytest.approx(1.0)

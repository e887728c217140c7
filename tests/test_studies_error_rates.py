"""The error rates that docs/statistics.md states are the simulated ones, and none exceeds its level."""

import re
from pathlib import Path

import pytest

from lesson_claims.deciders import LEVEL
from studies.error_rates import FAMILIES, RUNS, SEEDS, decided_share, tables

DOCUMENT = Path(__file__).parents[1] / "docs" / "statistics.md"
BEGIN, END = "<!-- simulated: begin -->\n\n", "\n<!-- simulated: end -->"


@pytest.fixture(scope="module")
def stated() -> str:
    return DOCUMENT.read_text(encoding="utf-8").partition(BEGIN)[2].partition(END)[0]


def rows(text: str, heading: str) -> list[list[str]]:
    """Return the cells of the table under a heading, without its header."""
    table = text.partition(heading)[2].partition("| --- |")[2].partition("\n\n")[0].splitlines()[1:]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table]


def rates(row: list[str]) -> list[float]:
    return [float(rate) for cell in row for rate in re.findall(r"\b\d\.\d{3}\b", cell)]


def at_most(runs: int) -> float:
    """Return the level, four standard errors of a simulation above."""
    return LEVEL + 4 * (LEVEL * (1 - LEVEL) / runs) ** 0.5


def test_the_document_states_what_is_simulated(stated):
    assert stated == tables(), "run `python -m studies.error_rates` and put its output between the markers"


@pytest.mark.parametrize(
    ("heading", "count"),
    [("False hold / false refute, each", 21), ("`share`, false hold", 3), ("`better_than_shuffled`, false hold", 1)],
)
def test_no_decider_errs_more_often_than_its_level(stated, heading, count):
    table = rows(stated, heading)
    assert len(table) == count
    for row in table:
        assert len(rates(row)) == 2 * len(SEEDS), row
        assert max(rates(row)) <= at_most(RUNS), row


def test_the_prediction_interval_covers_what_its_docs_say(stated):
    table = {row[0]: rates(row)[1::2] for row in rows(stated, "`plausible_draw`, foreign")}
    assert max(table["normal"]) <= at_most(RUNS)
    for shape, refuted in table.items():
        if shape != "constant":
            assert refuted[0] <= 0.12, shape
            assert refuted[2] <= 0.065, shape


def test_the_correction_keeps_false_verdicts_rare_over_shared_runs(stated):
    for correction, _, *cells in rows(stated, "Forty comparisons"):
        errors = [rate for cell in cells for rate in rates([cell])]
        assert len(errors) == 2 * len(SEEDS)
        assert correction == "none" or max(errors) <= at_most(FAMILIES), correction


def test_the_chance_to_decide_grows_with_agreement():
    for seeds in SEEDS:
        chances = [decided_share(seeds, agreeing) for agreeing in (0.5, 0.7, 0.9, 1.0)]
        assert chances == sorted(chances)
        assert chances[0] <= LEVEL
        assert chances[-1] == pytest.approx(1.0)

"""The promised rates and delays: a small version of the tables in docs/drift.md, at the same rates."""

import numpy as np
import pandas as pd
import pytest

from lesson_claims.command_line import main
from lesson_claims.drift.populations import shapes
from lesson_claims.drift.simulate import (
    BASELINES,
    CHANGES,
    COLLAPSES,
    delays,
    delays_text,
    false_alarms,
    false_turns,
    ideal_nights,
    oracle_nights,
    quiet_text,
    turn_delays,
)

FIGURES = 60
SHAPES = {population.figure: population for population in shapes()}


def test_a_quiet_year_is_quiet():
    rng = np.random.default_rng(0)
    populations = list(SHAPES.values())
    counts = false_alarms(rng, populations, seeds=20, years=2)
    assert (counts > 0).mean() <= 0.01
    text = quiet_text(counts, len(populations), 20, legs=4)
    assert "red nights of 730" in text
    assert "4 legs" in text


def test_quiet_verdicts_are_quiet_also_where_a_claim_is_true_in_half_of_all_seeds():
    red = false_turns(np.random.default_rng(1), [1.0, 0.9, 0.5], seeds=20, years=8, claims=FIGURES)
    assert red[0] == 0
    assert red.sum() <= 1


@pytest.mark.parametrize(
    ("figure", "change", "nights"),
    [
        ("narrow", "drop of 5 points", 1),
        ("medium", "drop of 5 points", 1),
        ("wide", "drop of 5 points", 4),
        ("bimodal", "drop of 5 points", 2),
        ("constant", "drop of 1 point", 1),
        ("rare failure", "drop of 5 points", 1),
        ("narrow", "collapsed seeds 0 → 5 %", 8),
        ("narrow", "collapsed seeds 0 → 10 %", 4),
        ("medium", "collapsed seeds 2 → 10 %", 14),
        ("constant", "collapsed seeds 0 → 5 %", 8),
    ],
)
def test_a_change_is_found_in_time(figure, change, nights):
    rng = np.random.default_rng(2)
    found = delays(rng, SHAPES[figure], (CHANGES | COLLAPSES)[change], 20, 9, FIGURES, baseline=60)
    assert np.median(found) <= nights
    assert np.isfinite(found).all()


def test_no_test_beats_the_oracle():
    rng = np.random.default_rng(3)
    for name in ("medium", "wide"):
        found = delays(rng, SHAPES[name], CHANGES["drop of 5 points"], 20, 9, FIGURES, baseline=60)
        assert oracle_nights(rng, SHAPES[name], 5, 20, FIGURES) <= np.max(found)
        assert np.median(found) <= ideal_nights(SHAPES[name], 5, 20, FIGURES) + 1


def test_a_verdict_that_turns_is_found():
    rng = np.random.default_rng(4)
    assert np.median(turn_delays(rng, 0.9, 0.1, 20, 9, FIGURES, baseline=1)) == 1
    assert np.median(turn_delays(rng, 1.0, 0.5, 20, 9, FIGURES, baseline=3)) <= 2


def test_the_ideal_test_needs_what_the_normal_formula_says():
    assert ideal_nights(SHAPES["wide"], 5, seeds=20, figures=FIGURES) == 3
    assert ideal_nights(SHAPES["wide"], 10, seeds=20, figures=FIGURES) == 1


def test_what_is_missed_is_said():
    rows = [{"change": "x", "baseline": b, "delay": d} for b in BASELINES for d in (2.0, 3.0, 4.0, np.inf)]
    assert "| x | 4; 25% missed |" in delays_text(pd.DataFrame(rows)).replace("3.5", "4")


def test_bad_numbers_are_one_line(capsys):
    assert main(["simulate", "--legs", "0"]) != 0
    assert "--legs 0: must be at least 1" in capsys.readouterr().err

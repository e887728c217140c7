"""The verdict of a claim, night by night."""

import numpy as np
import pandas as pd
import pytest

from lesson_claims.drift.verdicts import claims_over_seeds, judge_verdict
from lesson_claims.results.vocabulary import DriftState

NIGHTS = 40


def nights(verdicts, wins=None, *, seeds=20, first_seeds=None, kind="ordering", facts=""):
    """Return rows of a claim and their runs."""
    count = len(verdicts)
    won = [np.nan] * count if wins is None else wins
    rows = pd.DataFrame({
        "run": range(count), "claim": "a.b", "figure": "", "kind": kind, "verdict": verdicts, "wins": won,
        "seeds": np.where(np.isnan(won), np.nan, seeds), "facts": facts,
    })  # fmt: skip
    runs = pd.DataFrame({
        "name": [f"n{night}" for night in range(count)],
        "started": pd.date_range("2026-01-01", periods=count, tz="UTC"),
        "commit": "c0ffee", "dirty": False, "seeds": seeds,
        "first_seed": range(0, 100 * count, 100) if first_seeds is None else first_seeds, "environment": [{}] * count,
    })  # fmt: skip
    return rows, runs


def judged(rows, runs, claims=60):
    return judge_verdict(rows, runs, np.full(len(runs), claims))


def red(rows, runs, start=1):
    """Return the nights that are new."""
    return [end - 1 for end in range(start, len(rows) + 1) if judged(rows[:end], runs[:end]).new]


def words(wins, seeds=20):
    return ["holds" if w >= 15 else "refuted" if w <= 5 else "inconclusive" for w in wins]


@pytest.mark.parametrize("kind", ["ordering", "trained", "behaviour", "exact"])
def test_a_verdict_over_seeds_is_judged_by_its_wins_whatever_its_kind(kind):
    wins = [20] * 10 + [3] * 5
    assert red(*nights(words(wins), wins, kind=kind)) == [10]
    judgement = judged(*nights(words(wins), wins, kind=kind))
    assert judgement.state is DriftState.DRIFTED
    assert judgement.sentence.startswith("agrees in 100% → 15% of seeds")
    assert judgement.since == "n10"


def test_a_claim_true_in_half_of_all_seeds_is_quiet():
    for draw in range(10):
        wins = np.random.default_rng(draw).binomial(20, 0.5, NIGHTS)
        rows, runs = nights(words(wins), wins)
        assert judged(rows, runs).state is not DriftState.DRIFTED


def test_a_turn_that_is_no_drift_is_named():
    wins = [15, 16, 14, 15, 17, 14]
    judgement = judged(*nights(words(wins), wins))
    assert judgement.state is DriftState.WITHIN
    assert judgement.sentence == "verdict holds → inconclusive, 14 of 20 seeds agree"


def test_what_no_seed_decides_is_red_at_once():
    """A printed figure that does not come out, or a property that is gone, turns no seed."""
    facts = ["holds"] * 6 + ["refuted"] * 2
    wins = [20] * 8
    rows, runs = nights(facts, wins, facts=facts)
    assert red(rows, runs) == [6]
    judgement = judged(rows, runs)
    assert judgement.state is DriftState.DRIFTED
    assert judgement.sentence == "what no seed decides: holds → refuted"
    assert judgement.since == "n6"
    assert judged(*nights(["holds"] * 8, wins, facts=["refuted"] * 4 + ["holds"] * 4)).since == "n4"


def test_facts_that_no_earlier_run_knows_are_no_change():
    rows, runs = nights(["holds"] * 4, [20] * 4, facts=[None, "", None, "refuted"])
    assert not red(rows, runs)
    rows, runs = nights(["holds", "refuted", "refuted"], facts=["holds", "refuted", "refuted"])
    rows["seeds"] = 20
    assert red(rows, runs) == [1], "also where how many seeds agree is not known"


def test_nights_are_pooled():
    """No night tells alone, and undecided nights count."""
    wins = [18, 19, 17, 18, 19, 18, *[11] * 6]
    (first,) = red(*nights(words(wins), wins))
    assert 7 <= first <= 9


def test_further_changes_and_the_way_back():
    wins = [20] * 10 + [12] * 6 + [1] * 4
    rows, runs = nights(words(wins), wins)
    assert red(rows, runs) == [10, 16]
    wins = [20] * 10 + [3] * 5 + [20]
    judgement = judged(*nights(words(wins), wins))
    assert judgement.state is DriftState.WITHIN
    assert judgement.sentence.startswith("came back: 20 of 20 seeds agree")


def test_the_same_seeds_twice_are_no_second_night():
    wins = [20] * 3 + [15] * 20
    first_seeds = [0, 100, 200, *[300] * 20]
    rows, runs = nights(words(wins), wins, first_seeds=first_seeds)
    assert judged(rows, runs).state is not DriftState.DRIFTED
    assert red(*nights(words(wins), wins)), "other seeds are"


def test_an_error_is_red_at_once():
    wins = [20.0, 20, 20, np.nan, np.nan]
    rows, runs = nights(["holds"] * 3 + ["error"] * 2, wins)
    assert red(rows, runs) == [3]
    assert judged(rows, runs).sentence == "verdict holds → error"


def test_no_baseline_from_fewer_seeds_than_are_needed():
    wins = [10, 10]
    assert judged(*nights(["holds"] * 2, wins, seeds=10)).state is DriftState.NO_BASELINE


def test_a_verdict_that_no_seed_decides_is_compared_as_it_is():
    rows, runs = nights(["holds", "holds", "refuted", "refuted", "holds"])
    assert red(rows, runs) == [2]
    assert judged(rows, runs).state is DriftState.REPRODUCED


def test_nights_that_kept_no_wins_are_quiet():
    wins = [np.nan, np.nan, np.nan, 20, 20]
    rows, runs = nights(["holds", "refuted", "holds", "holds", "holds"], wins)
    rows["seeds"] = 20.0
    assert red(rows, runs) == []
    assert "is not known" in judged(rows[:2], runs[:2]).sentence
    assert judged(rows, runs).state is DriftState.REPRODUCED


def test_claims_over_seeds_are_counted():
    rows, _ = nights(["holds"] * 3, [20.0, np.nan, 20])
    assert claims_over_seeds(rows, 4).tolist() == [1, 0, 1, 0]

"""A single number or text, night by night."""

import pandas as pd
import pytest

from lesson_claims.drift.values import beyond, judge_value
from lesson_claims.results.vocabulary import DriftState


def nights(texts, numerics=None, kind="float", type_=""):
    count = len(texts)
    rows = pd.DataFrame({
        "run": range(count), "claim": "a.b", "figure": "f", "kind": kind, "measured": texts, "tolerance": 1e-3,
        "type": type_, "unit": "",
    })  # fmt: skip
    runs = pd.DataFrame({
        "name": [f"n{night}" for night in range(count)],
        "started": pd.date_range("2026-01-01", periods=count, tz="UTC"),
        "commit": "c0ffee", "dirty": False, "numerics": list(numerics or "a" * count), "environment": [{}] * count,
    })  # fmt: skip
    return rows, runs


def states(rows, runs, start=0):
    """Return a letter for each night: N new, O open, a dot for quiet; its baseline begins at `start`."""
    signs = ""
    for end in range(start + 1, len(rows) + 1):
        judgement = judge_value(rows[start:end], runs, rows[:start])
        signs += "." if judgement.state is not DriftState.DRIFTED else "N" if judgement.new else "O"
    return signs


@pytest.mark.parametrize(
    ("texts", "wanted"),
    [
        ("1 1 2 2 2", "..NOO"),
        ("1 1 2 1 1", "..N.."),
        ("1 2 3 3", ".NNO"),
        ("1 2 3 2 1", ".NNO."),
        ("1 2 1 2", ".N.N"),
    ],
)
@pytest.mark.parametrize("kind", ["float", "exact"])
def test_a_change_is_new_once_and_open_until_it_is_back(texts, wanted, kind):
    assert states(*nights(texts.split(), kind=kind)) == wanted


def test_two_processors_that_alternate_are_red_once():
    assert states(*nights(["1", "1", "2", "1", "2", "1", "2", "1"], "aabababa")) == "..NOOOOO"
    rows, runs = nights(["1", "1", "2", "1", "2", "1", "2"], "aababab")
    assert judge_value(rows[:4], runs).sentence == "with other numerics, 1 → 2"
    assert states(rows, runs, start=2) == ".....", "accepted with one, both are known"
    assert states(*nights(["1", "1", "2", "1", "3", "1", "3"], "aababab")) == "..NONOO", "one changes again"


def test_numerics_that_follow_others_go_on_where_those_were():
    assert states(*nights(["1", "2", "2", "2"], "aabb")) == ".NOO"
    assert states(*nights(["1", "2", "1", "1"], "aabb")) == ".N..", "new numerics may be back, too"


def test_an_exact_figure_has_one_level_for_all():
    assert states(*nights(["1", "2", "1", "2"], "abab", kind="exact")) == ".N.N"


def test_texts_are_compared_as_texts():
    assert beyond("float", "1e3", "1000.0", 1e-3, "text")
    assert not beyond("float", "1e3", "1000.0", 1e-3, "number")
    assert not beyond("float", "1e3", "1000.0", 1e-3), "where nothing is known, as numbers"
    assert beyond("float", "True", "False", 1e-3, "truth")
    assert states(*nights(["1e3", "1000.0"], type_="text")) == ".N"

"""Drift: a red night means something, a quiet one too, and what is known stays quiet."""

import csv
import json

import pandas as pd
import pytest
from reports_nights import night, written

from lesson_claims.command_line import main
from lesson_claims.drift.compare import _samples_to_test
from lesson_claims.drift.text import markdown, terminal
from lesson_claims.drift.tonight import drift_of
from lesson_claims.results import history
from lesson_claims.results.tables import Run
from lesson_claims.results.vocabulary import DriftState

FIGURE = ("b.accuracy", "accuracy")


@pytest.fixture
def nights(tmp_path):
    """Keep runs in a history; `nights(run, …)` adds runs to it and returns the drift of the last."""

    def go(*runs):
        for run in runs:
            history.append(go.history, run)
        go.folder = written(runs[-1], tmp_path / runs[-1].name)
        drift, go.trend = drift_of(go.history, go.folder)
        return drift

    go.history = tmp_path / "history"
    return go


def quiet(count=4, **changes):
    return [night(number, **changes) for number in range(count)]


def found(drift, claim, figure=""):
    (judgement,) = [f for f in drift.judgements if (f.claim, f.figure) == (claim, figure)]
    return judgement


def test_no_run_one_run_two_runs(nights):
    first = nights(night(0))
    assert first.compared == 0
    assert not first.new
    second = nights(night(1))
    assert second.compared == 1
    assert {f.state for f in second.judgements} == {DriftState.REPRODUCED}


def test_few_seeds_are_no_baseline_yet(nights):
    drift = nights(night(0, seeds=5), night(1, seeds=5))
    assert found(drift, *FIGURE).state is DriftState.NO_BASELINE


@pytest.mark.parametrize("shift", [-0.05, 0.05])
def test_a_moved_distribution_is_found_at_once_and_told_once(nights, shift):
    drift = nights(*quiet(), night(4, shift=shift))
    judgement = found(drift, *FIGURE)
    assert (judgement.state, judgement.new, judgement.since) == (DriftState.DRIFTED, True, drift.run)
    assert [f.name for f in drift.new] == ["b.accuracy/accuracy"]
    again = nights(night(5, shift=shift))
    assert not again.new
    assert [f.since for f in again.open] == [drift.run]


def test_a_slow_drift_is_found_once_and_dated(nights):
    runs = [night(number, shift=-0.002 * max(number - 10, 0)) for number in range(24)]
    red = [number for number, run in enumerate(runs) if nights(run).new]
    assert 11 < red[0] < 22
    assert len(red) <= 2, "what goes on is told again from the new level, not every night"


def test_a_tiny_move_is_no_drift_however_certain(nights):
    drift = nights(*[night(n, sample=[0.9] * 20) for n in range(9)], night(9, sample=[0.9001] * 20))
    assert not drift.new


def test_a_constant_that_moves_is_drift(nights):
    drift = nights(*[night(n, sample=[1.0] * 20) for n in range(5)], night(5, sample=[0.98] * 20))
    assert [f.name for f in drift.new] == ["b.accuracy/accuracy"]


@pytest.mark.parametrize("value", ["19267", "19265", "None", "nan"])
def test_an_exact_figure_that_changes_is_drift_the_same_night(nights, value):
    drift = nights(*quiet(2), night(2, exact=value))
    assert [f.name for f in drift.new] == ["a.sizes/parameters"]
    assert f"19266 → {value}" in found(drift, "a.sizes", "parameters").sentence
    assert not nights(night(3, exact=value)).new
    assert found(nights(night(4)), "a.sizes", "parameters").state is DriftState.REPRODUCED
    assert nights(night(5, exact=value)).new


@pytest.mark.parametrize(
    ("value", "numerics", "state"),
    [
        ("0.25", "bb", DriftState.REPRODUCED),
        ("0.2505", "aa", DriftState.NUMERICS),
        ("0.2505", "bb", DriftState.WITHIN),
        ("0.252", "aa", DriftState.DRIFTED),
        ("0.248", "bb", DriftState.DRIFTED),
        ("nan", "aa", DriftState.DRIFTED),
        ("inf", "aa", DriftState.DRIFTED),
    ],
)
def test_states_of_a_float_figure(nights, value, numerics, state):
    drift = nights(night(0), night(1, single=value, environment={"numerics": numerics, "torch": numerics}))
    judgement = found(drift, "a.mean", "mean")
    assert judgement.state is state
    assert judgement.new is (state is DriftState.DRIFTED)
    if judgement.sentence and numerics == "bb":
        assert "coincides with" in judgement.cause
        assert drift.environment == ["torch 2.13.0 → bb"]


def test_creeping_within_tolerance_is_measured_from_the_baseline(nights):
    values = ["0.25", "0.2506", "0.2509", "0.2512"]
    red = [bool(nights(night(n, single=value)).new) for n, value in enumerate(values)]
    assert red == [False, False, False, True]


@pytest.mark.parametrize(("numerics", "state"), [("aa", DriftState.NUMERICS), ("bb", DriftState.WITHIN)])
def test_another_value_at_the_pages_own_seed_is_numerics(nights, numerics, state):
    drift = nights(*quiet(), night(4, page="0.9005", environment={"numerics": numerics}))
    assert found(drift, *FIGURE).state is state
    assert not drift.new


def test_what_changed_is_named(nights):
    drift = nights(*quiet(), night(4, shift=-0.1, commit="decade", environment={"torch": "2.14.0", "numerics": "bb"}))
    assert found(drift, *FIGURE).cause == ("coincides with torch 2.13.0 → 2.14.0, commit c0ffee → decade")


@pytest.mark.parametrize("drop", ["a.mean", "mean"])
def test_what_vanished_is_red_once_and_open_until_it_is_back(nights, drop):
    drift = nights(*quiet(2), night(2, drop=(drop,)))
    (gone,) = drift.new
    assert (gone.claim, gone.state) == ("a.mean", DriftState.VANISHED)
    assert gone.sentence == ("verdict holds → not run" if drop == "a.mean" else "0.25 → not measured")
    for later in (night(3, drop=(drop,)), night(4, selected="b", drop=(drop,)), night(5, drop=(drop,))):
        after = nights(later)
        assert not after.new
        assert [(f.name, f.since) for f in after.open] == [(gone.name, drift.run)]
    back = nights(night(6))
    assert not back.new
    assert not back.open
    assert found(back, gone.claim, gone.figure).sentence == f"came back: it was not measured since {drift.run}"


def test_a_figure_says_that_it_vanished_unless_its_claim_does(nights):
    drift = nights(*quiet(2), night(2, drop=("a.mean", "parameters")))
    assert {f.name for f in drift.new} == {"a.mean", "a.sizes/parameters"}
    assert found(drift, "a.mean", "mean").state is DriftState.NOT_MEASURED
    crashed = nights(night(3, drop=("accuracy",), sample=[], kind="exact", verdict="error"))
    assert "b.accuracy" in {f.name for f in crashed.new}
    assert "b.accuracy/accuracy" not in {f.name for f in crashed.new}


def test_what_a_run_left_out_stays_open(nights):
    drift = nights(*quiet(2), night(2, exact="7"))
    partial = nights(night(3, selected="a.mean", drop=("a.sizes",)))
    assert not partial.new
    assert [(f.name, f.sentence, f.since) for f in partial.open] == [("a.sizes/parameters", "19266 → 7", drift.run)]


def test_what_a_partial_run_leaves_out_did_not_vanish(nights):
    for state in ({"selected": "-k x"}, {"complete": False}, {"partial": True}):
        assert not nights(*quiet(2), night(2, drop=("a.mean",), **state)).new


def test_clocks_are_judged_by_nothing(nights):
    def timed(number, seconds, kind, unit):
        run = night(number, sample=[1.5] * 20 if number < 4 else [80.5] * 20)
        run.measurements["unit"] = ""
        rows = run.measurements["claim"] == "b.accuracy"
        run.measurements.loc[rows, ["measured", "kind", "unit"]] = (seconds, kind, unit)
        return run

    for kind, unit in (("clock", ""), ("trained", "s")):
        drift = nights(*(timed(number, "1.5", kind, unit) for number in range(4)), timed(4, "80.5", kind, unit))
        assert not drift.new
        assert "b.accuracy/accuracy" not in {f.name for f in drift.judgements}


def test_many_figures_without_a_baseline_are_one_line(nights):
    def wide(number):
        run = night(number, seeds=5)
        tables = {name: table.to_dict("records") for name, table in run.tables().items()}
        for table in ("measurements", "samples"):
            rows = [row for row in tables[table] if row["figure"] == "accuracy"]
            tables[table] += [{**row, "figure": f"accuracy {n}"} for n in range(59) for row in rows]
        return Run.from_rows(run.info, **tables)

    drift = nights(wide(0), wide(1))
    for text in (terminal(drift), markdown(drift)):
        (line,) = [line for line in text.splitlines() if "no baseline yet for" in line]
        assert line.strip(" -") == "no baseline yet for 60 figures over seeds: 5 values so far, 20 are needed"
        assert len(text.splitlines()) < 15


def test_a_weak_baseline_says_what_it_would_miss(nights):
    for number, words in ((1, "20 values so far, of 60; a drop of 5 points would be missed in 22%"), (2, "40 values")):
        drift = nights(night(number - 1), night(number))
        assert any(note.startswith("weak baseline for 1 figure over seeds: " + words) for note in drift.notes)
    assert not any("weak" in note for note in nights(night(3)).notes)


def test_what_appeared_is_named_and_quiet(nights):
    drift = nights(*quiet(2, drop=("a.mean",)), night(2))
    assert not drift.new
    assert found(drift, "a.mean", "mean").sentence == "appeared"


def test_nan_tonight_is_red_once_and_nan_in_the_history_hurts_nobody(nights):
    bad = [*night(50).samples["value"][1:], float("nan")]
    drift = nights(*quiet(), night(4, sample=bad))
    assert [f.name for f in drift.new] == ["b.accuracy/accuracy"]
    assert "NaN" in found(drift, *FIGURE).sentence
    assert not nights(night(5, sample=bad)).new
    assert found(nights(night(6)), *FIGURE).state is DriftState.REPRODUCED


@pytest.mark.parametrize("left", [0, 13, 19])
def test_lost_seeds_are_open_until_they_are_back(nights, left):
    few = night(4).samples["value"][:left]
    drift = nights(*quiet(), night(4, sample=few))
    assert [f.sentence for f in drift.new] == [f"{left} of 20 seeds left"]
    assert drift.new[0].state is DriftState.SEEDS_LOST
    again = nights(night(5, sample=few))
    assert not again.new
    assert [(f.sentence, f.since) for f in again.open] == [(f"{left} of 20 seeds left", drift.run)]
    back = nights(night(6))
    assert not back.new
    assert not back.open
    assert found(back, *FIGURE).sentence == f"came back: {left} of 20 seeds left before"


def test_more_lost_seeds_are_new(nights):
    nights(*quiet(), night(4, sample=night(4).samples["value"][:13]))
    assert [f.sentence for f in nights(night(5, sample=night(5).samples["value"][:7])).new] == ["7 of 20 seeds left"]


def test_a_run_that_wanted_fewer_seeds_lost_none(nights):
    assert not nights(*quiet(), night(4, seeds=6)).new
    assert not nights(night(5, sample=night(5).samples["value"], seeds=6)).new


def test_verdicts(nights):
    drift = nights(night(0), night(1, kind="exact", verdict="refuted"))
    assert [(f.name, f.sentence) for f in drift.new] == [("b.accuracy", "verdict holds → refuted")]
    assert not nights(night(2, kind="exact", verdict="refuted")).new


def test_a_verdict_over_seeds_is_judged_by_the_seeds_that_agree(nights):
    drift = nights(*quiet(3, wins=20), night(3, verdict="inconclusive", wins=16))
    assert not drift.new
    assert found(drift, "b.accuracy").sentence == "verdict holds → inconclusive, 16 of 20 seeds agree"
    drift = nights(night(4, verdict="refuted", wins=2))
    assert [f.name for f in drift.new] == ["b.accuracy"]
    assert not nights(night(5, verdict="refuted", wins=2)).new
    assert [f.name for f in nights(night(6, verdict="error")).new] == ["b.accuracy"]


def test_too_few_seeds_for_a_verdict_is_no_drift(nights):
    drift = nights(*quiet(2), night(2, verdict="inconclusive"), night(3))
    assert not drift.new
    assert not drift.open


def test_accepting_makes_a_new_baseline(nights, capsys):
    nights(*quiet(), night(4, shift=-0.1, exact="7"))
    arguments = ["accept", "--history", str(nights.history), str(nights.folder), "--reason", "the lesson\nwas mended"]
    assert main([*arguments, "--claim", "b.*"]) == 0
    drift = nights(night(5, shift=-0.1, exact="7"))
    assert [f.name for f in drift.open] == ["a.sizes/parameters"]
    assert any("the lesson was mended" in note for note in drift.notes)
    assert "the lesson was mended" in capsys.readouterr().out
    assert "the lesson was mended" in set(nights.trend["accepted"])
    assert main(arguments) == 0
    assert not nights(night(6, shift=-0.1, exact="7")).open
    assert nights(night(7)).new


@pytest.mark.parametrize(
    ("extra", "message"),
    [(["--reason", " "], "--reason is empty"), (["--reason", "x", "--claim", "zzz"], "no claim or figure matches")],
)
def test_bad_acceptance_is_one_line(nights, capsys, extra, message):
    nights(night(0))
    assert main(["accept", "--history", str(nights.history), str(nights.folder), *extra]) == 2
    assert message in capsys.readouterr().err


def test_an_incomplete_run_is_no_baseline(nights, capsys):
    nights(night(0))
    info = nights.folder / "run.json"
    info.write_text(info.read_text(encoding="utf-8").replace('"complete": true', '"complete": false'), encoding="utf-8")
    assert main(["accept", "--history", str(nights.history), str(nights.folder), "--reason", "x"]) == 2
    assert "an incomplete run is no baseline" in capsys.readouterr().err
    main(["drift", "--history", str(nights.history), str(nights.folder)])
    assert "the run is incomplete" in capsys.readouterr().out


def test_nothing_is_accepted_into_a_history_that_is_not_there(nights, tmp_path, capsys):
    nights(night(0))
    assert main(["accept", "--history", str(tmp_path / "new"), str(nights.folder), "--reason", "x"]) == 2
    assert "no such history" in capsys.readouterr().err
    assert not (tmp_path / "new").exists()


def test_a_damaged_decision_is_named(nights):
    nights(night(0))
    (nights.history / "cpu-x86_64" / "20260101T000000.000000Z-00.json").write_text('{"schema": 1}')
    assert any("not an acceptance" in note for note in nights(night(1)).notes)


def test_a_renamed_claim_keeps_its_history(nights):
    nights(*quiet())
    run = night(4, shift=-0.1)
    run.claims["claim"] = run.claims["claim"].replace("b.accuracy", "b.new")
    for table in (run.measurements, run.samples):
        table["claim"] = table["claim"].replace("b.accuracy", "b.new")
        table["figure"] = table["figure"].replace("accuracy", "share")
    (nights.history / "aliases.toml").write_text(
        '[claims]\n"b.accuracy" = "b.new"\n[figures."b.new"]\n"accuracy" = "share"\n'
    )
    assert [f.name for f in nights(run).new] == ["b.new/share"]


@pytest.mark.parametrize("text", ["[claims", "[other]\n", "[claims]\na = 1\n", '[claims]\na = "b"\nb = "c"\n'])
def test_bad_aliases_are_one_line(nights, capsys, text):
    nights(*quiet(2))
    (nights.history / "aliases.toml").write_text(text)
    assert main(["drift", "--history", str(nights.history), str(nights.folder)]) == 2
    assert "aliases.toml" in capsys.readouterr().err


def test_a_clock_that_went_backwards_is_named(nights):
    nights(*[night(number) for number in range(3, 8)])
    drift = nights(night(1, shift=-0.1))
    assert drift.compared == 5
    assert drift.new
    assert any("clock that went backwards" in note for note in drift.notes)


def test_exit_statuses_and_files(nights, capsys, tmp_path):
    nights(night(0))
    call = ["drift", "--history", str(nights.history), "--markdown", str(tmp_path / "drift.md")]
    assert main([*call, str(nights.folder)]) == 3
    nights(night(1))
    assert main([*call, str(nights.folder)]) == 0
    nights(night(2, exact="7"))
    assert main([*call, str(nights.folder)]) == 1
    assert "a.sizes/parameters" in capsys.readouterr().out
    assert "19266 → 7" in (tmp_path / "drift.md").read_text()
    rows = list(csv.DictReader((nights.folder / "drift.csv").open()))
    assert [row["figure"] for row in rows if row["new"] == "True"] == ["parameters"]
    trend = list(csv.DictReader((nights.folder / "trends.csv").open()))
    assert {row["figure"] for row in trend} == {"accuracy", "parameters"}
    assert [row["value"] for row in trend if row["figure"] == "parameters"] == ["19266.0", "19266.0", "7.0"]
    assert [row["drifted"] for row in trend if row["figure"] == "parameters"] == ["False", "False", "True"]
    for file in (nights.history / "cpu-x86_64").iterdir():
        file.write_bytes(b"")
    assert main([*call, str(nights.folder)]) == 2
    assert main([*call, str(tmp_path / "nowhere")]) == 2


def test_a_missing_history_is_nothing_to_compare_with(nights, tmp_path, capsys):
    nights(night(0))
    assert main(["drift", "--history", str(tmp_path / "new"), str(nights.folder)]) == 3
    assert "nothing is there yet" in capsys.readouterr().out


def test_markdown_is_escaped(nights):
    drift = nights(night(0, exact="<b>|`"), night(1, exact="@someone [x](y)"))
    text = markdown(drift)
    assert "<b>" not in text
    assert "@someone" not in text
    assert "\\|" in text


def test_the_trend_of_a_figure(nights, capsys):
    nights(*quiet(), night(4, environment={"torch": "2.14.0"}))
    assert main(["trend", "--history", str(nights.history), "b.accuracy/*"]) == 0
    out = capsys.readouterr().out
    assert out.count("2026-01") == 5
    assert "torch 2.13.0 → 2.14.0" in out
    assert main(["trend", "--history", str(nights.history), "b.acuracy/accuracy"]) == 2
    assert "did you mean b.accuracy/accuracy" in capsys.readouterr().err
    assert main(["trend", "--history", str(nights.history / "empty"), "x"]) == 2


def test_a_trend_tells_of_an_acceptance_where_it_holds(nights):
    nights(*quiet(2), night(2, exact="7"))
    accept = ["accept", "--history", str(nights.history), str(nights.folder), "--reason", "r", "--claim", "a.sizes"]
    assert main(accept) == 0
    nights(night(3, exact="7"))
    rows = nights.trend.groupby("claim")
    assert rows.get_group("a.sizes")["accepted"].tolist() == ["", "", "r", ""]
    assert rows.get_group("b.accuracy")["accepted"].tolist() == [""] * 4
    assert rows.get_group("a.sizes")["baseline_low"].isna().tolist() == [True, True, False, False]
    assert rows.get_group("b.accuracy")["baseline_low"].notna().all()


def test_the_same_history_always_says_the_same(nights):
    nights(*quiet(), night(4, shift=-0.02))
    first, second = (drift_of(nights.history, nights.folder)[0] for _ in range(2))
    assert first == second
    assert json.dumps([vars(f) for f in first.judgements])


def test_the_same_values_under_two_names_are_one_test(nights):
    history_of = nights(*quiet(2))
    assert history_of.compared == 1
    kept = history.load(nights.history, "cpu-x86_64")
    twice = kept.samples.assign(figure="the same again")
    assert _samples_to_test(pd.concat([kept.samples, twice]), 2).tolist() == [1, 1]

"""Accepting: what moved and was measured, nothing else, and each by its name."""

import json

import pytest
from reports_nights import night, written

from lesson_claims.command_line import main
from lesson_claims.drift.tonight import drift_of
from lesson_claims.results import history
from lesson_claims.results.acceptance import read_acceptances

KIND = "cpu-x86_64"


@pytest.fixture
def nights(tmp_path):
    """Keep runs in a history; `nights(run, …)` adds runs to it and returns the drift of the last."""

    def go(*runs):
        for run in runs:
            history.append(go.history, run)
        go.folder = written(runs[-1], tmp_path / runs[-1].name)
        return drift_of(go.history, go.folder)[0]

    go.history = tmp_path / "history"
    return go


@pytest.fixture
def accept(nights, capsys):
    """Accept the last run, or the runs in folders; return the exit status and what was said."""

    def go(*arguments, runs=()):
        capsys.readouterr()
        folders = [str(folder) for folder in runs or [nights.folder]]
        status = main(["accept", "--history", str(nights.history), *folders, "--reason", "why not", *arguments])
        said = capsys.readouterr()
        return status, said.out + said.err

    return go


def moved(number, **changes):
    """Return a night on which the distribution, the exact and the float figure are others."""
    return night(number, **{"shift": -0.1, "exact": "7", "single": "0.3", **changes})


def names(drift):
    return sorted(each.name for each in drift.new + drift.open)


def test_without_claim_all_that_moved_is_listed_and_accepted(nights, accept):
    nights(*(night(n) for n in range(4)), moved(4))
    status, said = accept()
    assert status == 0
    listed, done = said.split("\n2026")
    assert listed.splitlines()[0] == "moved, and accepted:"
    for name in ("a.sizes/parameters: 19266 → 7", "a.mean/mean: 0.25 → 0.3", "b.accuracy/accuracy: mean 0."):
        assert name in listed
    assert "is the baseline of a.sizes/parameters, a.mean/mean, b.accuracy/accuracy: why not" in done
    assert not names(nights(moved(5)))


def test_what_did_not_move_keeps_its_baseline(nights, accept):
    """A slow drift that no night has shown yet is not hidden by the acceptance of something else."""
    nights(night(0), night(1, single="0.2506"), night(2, single="0.2509", exact="7"))
    assert accept()[0] == 0
    assert names(nights(night(3, single="0.2512", exact="7"))) == ["a.mean/mean"]


def test_a_run_of_some_claims_covers_those_alone(nights, accept):
    nights(*(night(n) for n in range(4)), moved(4))
    nights(moved(5, selected="a.sizes", drop=("a.mean", "accuracy"), sample=[], verdict="not run"))
    status, said = accept()
    assert status == 0
    assert "moved, and not accepted:\n  a.mean/mean: 0.25 → 0.3 (the run did not measure it)" in said
    assert names(nights(moved(6))) == ["a.mean/mean", "b.accuracy/accuracy"]


def test_one_figure(nights, accept):
    nights(*(night(n) for n in range(4)), moved(4))
    status, said = accept("--claim", "a.mean/mean")
    assert status == 0
    assert "a.sizes/parameters: 19266 → 7 (not among those of --claim)" in said
    assert names(nights(moved(5))) == ["a.sizes/parameters", "b.accuracy/accuracy"]


@pytest.mark.parametrize("pattern", ["*", "**", "?*", "*/*"])
def test_everything_by_a_pattern_is_refused(nights, accept, pattern):
    nights(night(0), moved(1))
    status, said = accept("--claim", pattern)
    assert status == 2
    assert said.startswith(f"error: --claim '{pattern}': ")
    assert "leave --claim out" in said
    assert said.count("\n") == 1
    assert not read_acceptances(nights.history, KIND)[0]


def test_nothing_moved_nothing_accepted(nights, accept):
    nights(night(0), night(1))
    assert accept() == (2, f"error: {nights.history}: nothing moved, so there is nothing to accept\n")
    assert accept("--claim", "a.mean")[0] == 2
    assert not read_acceptances(nights.history, KIND)[0]


def test_a_run_from_before_the_change_accepts_nothing(nights, accept):
    nights(night(0), night(1))
    before = nights.folder
    drift = nights(night(2, exact="7"))
    status, said = accept(runs=[before])
    assert status == 2
    assert f"a.sizes/parameters: 19266 → 7 (it moved with {drift.run}, after the run)" in said
    assert names(nights(night(3, exact="7"))) == ["a.sizes/parameters"]


def test_an_older_run_after_the_change_accepts_it_and_keeps_the_nights_since(nights, accept):
    nights(night(0), night(1, exact="7"))
    first = nights.folder
    nights(night(2, exact="7"), night(3, exact="7"))
    assert accept(runs=[first])[0] == 0
    drift = nights(night(4, exact="8"))
    assert [each.sentence for each in drift.new] == ["7 → 8"]


def test_several_runs_in_one_call(nights, accept):
    nights(*(night(n) for n in range(4)), moved(4))
    first = nights.folder
    nights(moved(5))
    status, said = accept(runs=[nights.folder, first])
    assert status == 0
    assert "(and 1 more) is the baseline of" in said
    (acceptance,), _ = read_acceptances(nights.history, KIND)
    assert acceptance.run == first.name
    assert not names(nights(moved(6)))


@pytest.mark.parametrize("drop", ["a.mean", "mean"])
def test_what_is_gone_is_accepted_by_its_name_alone(nights, accept, drop):
    (gone,) = nights(night(0), night(1), night(2, drop=(drop,))).new
    status, said = accept()
    assert status == 2
    assert f"{gone.name}: {gone.sentence} (it is gone; name it with --claim to accept that)" in said
    assert accept("--claim", gone.name)[0] == 0
    assert not names(nights(night(3, drop=(drop,))))
    back = nights(night(4))
    assert not names(back)


def test_lost_seeds_are_accepted(nights, accept):
    few = night(4).samples["value"][:13]
    nights(*(night(n) for n in range(4)), night(4, sample=few))
    assert accept()[0] == 0
    assert not names(nights(night(5, sample=few)))


def test_a_partial_run_cannot_say_that_something_is_gone(nights, accept):
    nights(night(0), night(1), night(2, drop=("a.mean",)))
    nights(night(3, selected="a.sizes", drop=("a.mean", "accuracy"), sample=[], verdict="not run"))
    assert accept("--claim", "a.mean")[0] == 2
    assert names(nights(night(4, drop=("a.mean",)))) == ["a.mean"]


def test_an_acceptance_goes_with_a_renamed_claim(nights, accept):
    nights(night(0), night(1), night(2, exact="7"))
    assert accept()[0] == 0
    run = night(3, exact="7")
    for table in (run.claims, run.measurements):
        table["claim"] = table["claim"].replace("a.sizes", "a.counts")
    (nights.history / "aliases.toml").write_text('[claims]\n"a.sizes" = "a.counts"\n')
    assert not names(nights(run))


def test_acceptances_of_schema_1_are_read(nights):
    nights(night(0), night(1))
    kept = {"schema": 1, "run": nights.folder.name, "claims": ["a.*"], "reason": "old", "when": "2026-01-02T05:00:00"}
    nights(night(2, exact="7"))
    kept["run"] = nights.folder.name
    (nights.history / KIND / "20260103T050000.000000Z-00.json").write_text(json.dumps(kept))
    drift = nights(night(3, exact="7", shift=0.1))
    assert names(drift) == ["b.accuracy/accuracy"]
    assert any("accepted with" in note and "for a.*: old" in note for note in drift.notes)

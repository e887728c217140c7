"""The nightly job: its seeds, its exit status, the last seeds under new versions, and its one issue."""

import json
from datetime import date, timedelta
from itertools import pairwise, product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reports_nights import START, night, written
from scipy.stats import rankdata

from lesson_claims.command_line import main
from lesson_claims.commands import night as nightly
from lesson_claims.commands import rolling_issue
from lesson_claims.drift.revisions import holm
from lesson_claims.drift.upgrade import LEVEL, signed_rank_p
from lesson_claims.results.history import append
from lesson_claims.results.tables import Run
from lesson_claims.results.vocabulary import OPEN

LINK = "https://example.invalid/run/1"


def test_no_two_nights_share_a_seed_and_none_is_the_pages():
    days = [date(2026, 1, 1) + timedelta(days=day) for day in range(800)]
    seeds = [range(nightly.first_seed(day), nightly.first_seed(day) + nightly.APART) for day in days]
    assert seeds[0].start == 2000
    assert all(before.stop == after.start for before, after in pairwise(seeds))


class Nights:
    """Nights without pytest: what the next calls would write is given, as runs in order, or as no run at all."""

    def __init__(self, monkeypatch, folder):
        self.history, self.report, self.calls, self.runs = folder / "history", folder / "report", [], []
        self.keep = True
        monkeypatch.setattr(nightly.subprocess, "run", self._pytest)

    def _pytest(self, command, **_):
        self.calls.append(command[1:])
        run, status = self.runs.pop(0)
        if run is not None:
            options = dict(option.split("=", 1) for option in command if "=" in option)
            written(run, Path(options["--report-dir"]))
            if "--history" in options and self.keep:
                append(options["--history"], run)
        return type("Done", (), {"returncode": status})

    def __call__(self, *runs, status=0):
        """Spend a night in which pytest writes these runs, the last with `status`, and return the exit status."""
        self.runs = [*((run, 0) for run in runs[:-1]), (runs[-1], status)]
        return main(["night", "--history", str(self.history), "--report-dir", str(self.report)])


@pytest.fixture
def nights(monkeypatch, tmp_path):
    return Nights(monkeypatch, tmp_path)


def seeded(number, **changes):
    """Return a night that says which seeds it had."""
    return night(number, **{"options": {"first_seed": 1000 * (number + 1)}, **changes})


def test_a_first_night_a_quiet_one_a_red_one_and_the_next(nights):
    assert nights(seeded(0)) == 3
    assert nights(seeded(1)) == 0
    assert nights(seeded(2), status=1) == 0  # a failed check alone is known, or is drift
    assert nights(seeded(3, exact="7")) == 1
    assert nights(seeded(4, exact="7")) == 0


def crashed(run):
    """Return a run in which every check raised."""
    run.claims["verdict"] = "error"
    return Run.from_rows(run.info, claims=run.claims.to_dict("records"), measurements=[], samples=[])


def test_every_check_crashes(nights, capsys):
    nights(seeded(0))
    nights(seeded(1))
    assert nights(crashed(seeded(2)), status=1) == 4
    assert "not one claim came to a verdict" in capsys.readouterr().out
    assert nights(crashed(seeded(3)), status=1) == 4  # and it stays so


@pytest.mark.parametrize("status", [0, 1, 2, 4, 5, -9])
def test_a_night_that_wrote_nothing_compares_nothing(nights, capsys, status):
    """The report that is there is of the night before."""
    nights(seeded(0))
    nights(seeded(1))
    capsys.readouterr()
    assert nights(None, status=status) == 4
    said = capsys.readouterr()
    assert f"pytest wrote no report into {nights.report} (exit status {status}): nothing was measured" in said.err
    assert not said.out
    assert not list(nights.report.glob("drift*"))


@pytest.mark.parametrize("status", [2, 3, -9])
def test_a_night_that_was_stopped(nights, capsys, status):
    nights(seeded(0))
    assert nights(seeded(1), status=status) == 4
    assert f"pytest stopped with exit status {status}" in capsys.readouterr().out


def test_checks_that_were_lost(nights, capsys):
    nights(seeded(0))
    lost = "2 checks never came back, the first of them claims/test_a.py::test_b"
    assert nights(seeded(1, complete=False, problems=[lost]), status=1) == 4
    assert lost in capsys.readouterr().out
    assert json.loads((nights.report / "drift.json").read_text())["failures"] == [f"the run is incomplete; {lost}"]


def test_a_history_that_cannot_be_written(nights, capsys):
    nights(seeded(0))
    nights.keep = False
    assert nights(seeded(1), status=1) == 4
    assert "does not have this run" in capsys.readouterr().out


def test_a_report_that_cannot_be_written(nights, capsys):
    nights(seeded(0))
    (nights.report / "drift.csv").unlink()
    (nights.report / "drift.csv").mkdir()
    assert nights(seeded(1)) == 4
    assert capsys.readouterr().err.startswith(f"error: {nights.report / 'drift.csv'}: cannot be deleted")


def test_a_night_that_is_run_again_is_the_same_night(nights, capsys):
    nights(seeded(0))
    nights(seeded(1))
    assert nights(seeded(2, exact="7")) == 1
    again = seeded(2, exact="7", seconds=9.0)
    again.info["started"] = (START + timedelta(days=2, hours=3)).isoformat()
    assert nights(again) == 1
    assert "against 2 earlier runs" in capsys.readouterr().out
    assert nights(seeded(3, exact="7")) == 0


def test_a_first_night_twice_is_one_night(nights):
    assert nights(seeded(0)) == 3
    again = seeded(0)
    again.info["started"] = (START + timedelta(hours=1)).isoformat()
    assert nights(again) == 3


def test_a_part_of_a_night_run_again_does_not_replace_it(nights):
    nights(seeded(0))
    nights(seeded(1))
    part = seeded(1, selected="a.sizes", drop=("a.mean", "accuracy"), sample=[], verdict="not run")
    part.info["started"] = (START + timedelta(days=1, hours=1)).isoformat()
    assert nights(part) == 0
    assert nights(seeded(2, single="0.3")) == 1


# New versions ----------------------------------------------------------------------------------------------------

NEW = {"torch": "2.14.0", "numerics": "bb"}


def values(number, shift=0.0):
    """Return what the seeds of a night give, each moved by as much."""
    return [value + shift for value in night(number).samples["value"]]


def under_new_versions(nights, tonight, again, status=0):
    nights(seeded(0))
    nights(seeded(1))
    return nights(tonight, again, status=status)


def test_the_last_nights_seeds_are_run_again(nights, capsys):
    status = under_new_versions(nights, seeded(2, environment=NEW), seeded(1, environment=NEW))
    assert status == 0
    assert nights.calls[-1][nights.calls[-1].index("--seeds") :] == [
        *("--seeds", "20", "--first-seed", "2000", f"--report-dir={nights.report / 'earlier-seeds'}"),
    ]
    said = capsys.readouterr().out
    assert "3 figures the same to the last bit, 0 within what is allowed or by chance, 0 moved" in said
    assert "torch 2.13.0 → 2.14.0: seeds 2000 to 2019 of 20260102T03" in said
    assert len(list((nights.history / "cpu-x86_64").glob("*.parquet"))) == 3  # the rerun is no night


def test_what_moved_with_them_is_red_and_open_until_accepted(nights, capsys):
    """A shift that the night's own seeds are too few to show is plain on the same seeds."""
    shift = -0.006
    status = under_new_versions(
        nights, seeded(2, shift=shift, environment=NEW), seeded(1, sample=values(1, shift), environment=NEW)
    )
    assert status == 1
    said = capsys.readouterr().out
    assert "b.accuracy/accuracy: drifted; mean 0." in said
    assert "over the same 20 seeds (p = 2e-06)" in said
    assert nights(seeded(3, shift=shift, environment=NEW)) == 0
    assert "1 older change is not accepted yet" in capsys.readouterr().out
    accept = ["accept", "--history", str(nights.history), str(nights.report), "--reason", "torch 2.14"]
    assert main(accept) == 0
    assert nights(seeded(4, shift=shift, environment=NEW)) == 0
    assert "not accepted" not in capsys.readouterr().out


def test_what_moved_is_looked_at_again_once_the_code_changes(nights, capsys):
    shift = -0.006
    moved = seeded(1, sample=values(1, shift), environment=NEW)
    assert under_new_versions(nights, seeded(2, shift=shift, environment=NEW), moved) == 1
    assert nights(seeded(3, shift=shift, environment=NEW)) == 0
    still = seeded(1, sample=values(1, shift), environment=NEW, seconds=9.0)
    assert nights(seeded(4, shift=shift, environment=NEW, commit="no cure"), still) == 0
    assert "1 older change is not accepted yet" in capsys.readouterr().out
    assert nights(seeded(5, environment=NEW, commit="mended"), seeded(1, environment=NEW)) == 0
    said = capsys.readouterr().out
    assert "torch 2.13.0 → 2.14.0, commit c0ffee → mended: seeds 2000 to 2019 of 20260102T03" in said
    assert "b.accuracy/accuracy: came back: mean 0." in said
    assert "not accepted" not in said
    assert nights(seeded(6, environment=NEW, commit="mended")) == 0
    assert len(nights.calls) == 10


def test_seed_luck_is_told_apart(nights, capsys):
    unlucky = seeded(2, shift=-0.05, environment=NEW)
    assert under_new_versions(nights, unlucky, seeded(1, environment=NEW)) == 1
    assert (
        "b.accuracy/accuracy: drifted tonight, and on these seeds it did not move beyond chance"
        in capsys.readouterr().out
    )


def test_rounding_that_takes_other_ways_is_no_shift(nights, capsys):
    rng = np.random.default_rng(0)
    other = [value + 0.01 * rng.standard_normal() for value in values(1)]
    assert under_new_versions(nights, seeded(2, environment=NEW), seeded(1, sample=other, environment=NEW)) == 0
    assert "2 figures the same to the last bit, 1 within what is allowed or by chance" in capsys.readouterr().out


def test_a_single_number_that_moved_is_named(nights, capsys):
    tonight, again = (seeded(number, exact="7", environment=NEW) for number in (2, 1))
    assert under_new_versions(nights, tonight, again) == 1
    assert "\n  a.sizes/parameters: 19266 → 7\n" in capsys.readouterr().out


def test_seeds_that_the_history_does_not_have(nights, capsys):
    assert nights(night(0)) == 3
    assert nights(night(1, environment=NEW)) == 0
    said = capsys.readouterr().out
    assert "torch 2.13.0 → 2.14.0: the history does not have the seeds of 20260101T03" in said
    assert len(nights.calls) == 2


def test_new_versions_on_a_night_that_was_stopped_are_looked_at_the_next(nights, capsys):
    nights(seeded(0))
    nights(seeded(1))
    assert nights(seeded(2, environment=NEW, complete=False), status=2) == 4
    assert nights(seeded(3, environment=NEW), seeded(1, environment=NEW)) == 0
    assert "torch 2.13.0 → 2.14.0: seeds 2000 to 2019 of 20260102T03" in capsys.readouterr().out


def test_another_machine_is_no_new_version(nights):
    nights(seeded(0))
    nights(seeded(1, environment={"processor": "other", "numerics": "cc", "workers": 9, "ATEN_CPU_CAPABILITY": "avx2"}))
    assert len(nights.calls) == 2


@pytest.mark.parametrize("status", [0, 2])
def test_seeds_that_cannot_be_run_again(nights, capsys, status):
    assert under_new_versions(nights, seeded(2, environment=NEW), None, status) == 4
    assert "seeds of an earlier night could not be run again" in capsys.readouterr().out


def test_a_damaged_file_of_shifts_is_named(nights, capsys):
    nights(seeded(0))
    (nights.history / "cpu-x86_64" / "20260101.shifts").write_text("{")
    assert nights(seeded(1)) == 0
    assert "20260101.shifts: not what moved with new versions" in capsys.readouterr().out


@given(st.lists(st.sampled_from([-2.0, -1.0, -0.5, 0.0, 0.5, 1.0, 3.0]), min_size=1, max_size=9))
def test_the_signed_rank_test_is_exact_with_ties_and_zeros(differences):
    x = np.array([value for value in differences if value])
    if not len(x):
        assert signed_rank_p(np.array(differences)) == 1
        return
    ranks = rankdata(np.abs(x))
    sums = [sum(rank for rank, up in zip(ranks, ups, strict=True) if up) for ups in product([0, 1], repeat=len(x))]
    seen = ranks[x > 0].sum()
    low, high = (np.mean([each <= seen for each in sums]), np.mean([each >= seen for each in sums]))
    assert signed_rank_p(np.array(differences)) == pytest.approx(min(1, 2 * min(low, high)))


def test_versions_that_change_nothing_are_seldom_said_to_move_a_figure():
    """With 10 figures whose seeds go other ways, any is called moved in at most the level's share of upgrades."""
    rng = np.random.default_rng(0)
    moved = 0
    for _ in range(400):
        p_values = {("c", str(n)): signed_rank_p(rng.normal(0, 0.1, 20) - rng.normal(0, 0.1, 20)) for n in range(10)}
        moved += bool(holm(p_values, LEVEL))
    assert moved / 400 <= 2 * LEVEL


def test_a_night_runs_pytest_with_its_seeds(nights, tmp_path):
    nights.runs = [(None, 4)]
    folder = str(tmp_path / "report")
    assert main(["night", "--date", "2026-01-03", "--history", "h", "--report-dir", folder, "--", "-k", "day3"]) == 4
    assert nights.calls[0] == [
        *("-m", "pytest", "-n", "auto", "--seeds", "20", "--first-seed", "4000", "--history=h"),
        *(f"--report-dir={folder}", "-k", "day3"),
    ]


@pytest.mark.parametrize("arguments", [["--seeds", "0"], ["--seeds", "1001"], ["--date", "2025-12-31"]])
def test_a_night_that_cannot_be_is_one_line(arguments, capsys):
    assert main(["night", *arguments]) == 2
    error = capsys.readouterr().err
    assert error.startswith(f"error: {' '.join(arguments)}: must ")
    assert error.count("\n") == 1


@pytest.fixture
def github():
    """A stand-in for `gh` that has, or has not, an open issue; `github.calls` are what it was asked."""

    def fake(*arguments, body=None):
        fake.calls.append((*arguments[:2], body))
        if arguments[:2] == ("issue", "list"):
            return fake.open
        return "17"

    fake.calls, fake.open = [], ""
    return fake


def leg(folder, state, new, failures=(), compared=3):
    folder.mkdir(parents=True)
    (folder / "drift.json").write_text(json.dumps({"compared": compared, "failures": list(failures)}))
    (folder / "drift.csv").write_text(f"claim,state,new\na,{state},{new}\n")
    (folder / "drift.md").write_text("what moved")


@pytest.mark.parametrize(
    ("state", "new", "open_issue", "done"),
    [
        ("drifted", True, "", ["label create", "issue create"]),
        ("drifted", True, "17", ["issue edit", "issue comment"]),
        ("drifted", False, "17", ["issue edit"]),
        ("vanished", False, "17", ["issue edit"]),
        ("seeds lost", False, "17", ["issue edit"]),
        ("reproduced", False, "17", ["issue close"]),
        ("reproduced", False, "", []),
        (None, False, "", ["label create", "issue create"]),
    ],
)
def test_one_rolling_issue(github, tmp_path, state, new, open_issue, done):
    github.open = open_issue
    if state:
        leg(tmp_path / "cpu", state, new)
    rolling_issue.update(tmp_path, ["cpu"], LINK, github)
    assert [" ".join(call[:2]) for call in github.calls[1:]] == done
    bodies = [call[2] for call in github.calls if call[2]]
    assert all(LINK in body and ("what moved" in body or state is None) for body in bodies)


def test_a_quiet_leg_is_left_out(tmp_path):
    leg(tmp_path / "cpu", "drifted", True)
    leg(tmp_path / "gpu", "reproduced", False)
    night = rolling_issue.found_by(tmp_path, ["cpu", "gpu"], LINK)
    assert (night.bad, night.new, night.unknown) == (True, True, False)
    assert "gpu" not in night.text


def test_a_night_that_did_not_measure_closes_nothing(github, tmp_path):
    github.open = "17"
    leg(tmp_path / "cpu", "reproduced", False, ["the run is incomplete"])
    assert rolling_issue.update(tmp_path, ["cpu"], LINK, github) == "updated 17"


@pytest.mark.parametrize(("open_issue", "said"), [("17", "updated 17"), ("", "quiet, and no issue is open")])
def test_a_first_night_opens_nothing_and_closes_nothing(github, tmp_path, open_issue, said):
    """Where a history was lost, its first night knows nothing of what was open."""
    github.open = open_issue
    leg(tmp_path / "cpu", "no baseline yet", False, compared=0)
    assert rolling_issue.update(tmp_path, ["cpu"], LINK, github) == said


def test_the_states_that_keep_the_issue_open_are_those_of_drift():
    assert tuple(OPEN) == rolling_issue.OPEN


def test_the_issue_says_what_was_and_what_is(nights, tmp_path, github):
    nights(seeded(0))
    nights(seeded(1, exact="7"))
    rolling_issue.update(tmp_path, ["report"], LINK, github)
    (body,) = [call[2] for call in github.calls if call[2]]
    assert "19266 → 7" in body


def test_no_gh_is_one_line(monkeypatch, capsys, tmp_path):
    monkeypatch.setenv("PATH", "")
    assert rolling_issue.main(["--results", str(tmp_path), "--link", LINK, "cpu"]) == 2
    assert capsys.readouterr().err.startswith("error: ")

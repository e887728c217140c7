"""The nightly job: its seeds, its exit status, and its one issue."""

from datetime import date, timedelta
from itertools import pairwise

import pytest

from lesson_claims.command_line import main
from lesson_claims.commands import night as nightly
from lesson_claims.commands import rolling_issue

LINK = "https://example.invalid/run/1"


def test_no_two_nights_share_a_seed_and_none_is_the_pages():
    days = [date(2026, 1, 1) + timedelta(days=day) for day in range(800)]
    seeds = [range(nightly.first_seed(day), nightly.first_seed(day) + nightly.APART) for day in days]
    assert seeds[0].start == 2000
    assert all(before.stop == after.start for before, after in pairwise(seeds))


@pytest.mark.parametrize(
    ("tests", "drift", "status"), [(0, 0, 0), (1, 0, 0), (0, 1, 1), (1, 1, 1), (3, 0, 3), (0, 3, 0), (1, 3, 1)]
)
def test_exit_status(tests, drift, status):
    assert nightly.exit_status(tests, drift) == status


def test_a_night_runs_pytest_with_its_seeds(monkeypatch, capsys, tmp_path):
    calls = []
    monkeypatch.setattr(
        nightly.subprocess, "run", lambda command, **_: calls.append(command) or type("Done", (), {"returncode": 4})
    )
    folder = str(tmp_path / "no run came of it")
    assert main(["night", "--date", "2026-01-03", "--history", "h", "--report-dir", folder, "--", "-k", "day3"]) == 4
    assert calls[0][1:] == [
        *("-m", "pytest", "-n", "auto", "--seeds", "20", "--first-seed", "4000", "--history", "h"),
        *("--report-dir", folder, "-k", "day3"),
    ]
    assert capsys.readouterr().err.startswith("error: ")


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


def leg(folder, state, new):
    folder.mkdir(parents=True)
    (folder / "drift.csv").write_text(f"claim,state,new\na,{state},{new}\n")
    (folder / "drift.md").write_text("what moved")


@pytest.mark.parametrize(
    ("state", "new", "open_issue", "done"),
    [
        ("drifted", True, "", ["label create", "issue create"]),
        ("drifted", True, "17", ["issue edit", "issue comment"]),
        ("drifted", False, "17", ["issue edit"]),
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
    body, bad, new = rolling_issue.body_of(tmp_path, ["cpu", "gpu"], LINK)
    assert (bad, new) == (True, True)
    assert "gpu" not in body


def test_no_gh_is_one_line(monkeypatch, capsys, tmp_path):
    monkeypatch.setenv("PATH", "")
    assert rolling_issue.main(["--results", str(tmp_path), "--link", LINK, "cpu"]) == 2
    assert capsys.readouterr().err.startswith("error: ")

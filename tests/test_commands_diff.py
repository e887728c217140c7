"""The baseline at a git revision against the working tree's, in words."""

import shutil
import subprocess
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from reports_nights import night
from test_results_baseline import KIND, place, seeded, with_platforms  # noqa: F401  the fixture, too

from lesson_claims.command_line import main
from lesson_claims.drift.revisions import LEVEL, _compare_samples, holm


def git(*arguments):
    identity = ["-c", "user.name=A", "-c", "user.email=a@example.invalid", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", *identity, *arguments], check=True, capture_output=True)


@pytest.fixture
def committed(place):  # noqa: F811
    """Make a baseline and commit it; `committed(run, …)` accepts other runs into the working tree."""
    git("init", "--quiet", ".")
    place(*(seeded(number) for number in range(3)))
    git("add", "reports")
    git("commit", "--quiet", "-m", "baseline")
    return place


def diff(capsys, *arguments):
    capsys.readouterr()
    status = main(["diff", *arguments])
    said = capsys.readouterr()
    return status, said.out or said.err


def test_nothing_changed(committed, capsys):
    status, said = diff(capsys, "HEAD")
    assert status == 0
    assert "0 moved" in said
    assert "3 unchanged" in said
    assert "3 runs, 60 seeds → 3 runs, 60 seeds" in said


def test_each_change_is_in_its_section(committed, capsys):
    runs = [seeded(number, exact="19300", single="0.2505", verdict="refuted", shift=-0.05) for number in range(3)]
    committed(*runs)
    status, said = diff(capsys, "HEAD")
    assert status == 0
    sections = {part.splitlines()[0]: part for part in said.split("\n\n")}
    assert "b.accuracy: holds → refuted" in sections["Another verdict"]
    assert "a.sizes/parameters: 19266 → 19300" in sections["Moved"]
    assert "b.accuracy/accuracy: mean 0." in sections["Moved"]
    assert "(n = 60, 60; p = " in sections["Moved"]
    assert "a.mean/mean: 0.25 → 0.2505" in sections["Within noise"]
    assert not {"Added", "Gone"} & set(sections)


def test_other_seeds_are_within_noise(committed, capsys):
    committed(*(seeded(number) for number in range(5, 8)))
    _, said = diff(capsys, "HEAD")
    assert "0 moved, 1 within noise" in said


def test_added_and_gone(committed, capsys):
    committed(*(seeded(number, drop=("a.mean", "parameters")) for number in range(3)))
    _, said = diff(capsys, "HEAD")
    assert "a.mean: a claim, holds, 1 figure" in said
    assert "a.sizes/parameters: a figure" in said
    assert "2 gone" in said
    git("add", "reports")
    git("commit", "--quiet", "-m", "without")
    committed(*(seeded(number) for number in range(3)))
    assert "2 added, 0 gone" in diff(capsys, "HEAD")[1]
    assert "0 added, 0 gone" in diff(capsys, "HEAD~1")[1]


def test_a_renamed_claim_is_no_new_one(committed, capsys):
    for file in committed.folder.rglob("*.csv"):
        file.write_text(file.read_text().replace("a.mean", "a.average"))
    assert "1 added, 1 gone" in diff(capsys, "HEAD")[1]
    (committed.folder / "aliases.toml").write_text('[claims]\n"a.mean" = "a.average"\n')
    assert "0 added, 0 gone" in diff(capsys, "HEAD")[1]


def test_values_that_turned_nan_moved(committed, capsys):
    values = night(0).samples["value"].tolist()
    committed(seeded(0, sample=[float("nan"), *values[1:]]), seeded(1), seeded(2))
    _, said = diff(capsys, "HEAD")
    assert "1 moved" in said
    assert "1 of 60 values are NaN or infinite now" in said


def test_the_platform_spread(committed, capsys):
    committed(with_platforms(5, 0.9, 0.95), platforms=True)
    assert "b.accuracy/accuracy: none → 0.05 (0.9 to 0.95, 2 platforms)" in diff(capsys, "HEAD")[1]


def test_another_kind_of_device_is_added(committed, capsys):
    committed(seeded(0, environment={"device": "cuda", "device name": "X"}))
    _, said = diff(capsys, "HEAD")
    assert "cuda-X: nothing → 1 run, 20 seeds" in said
    assert "3 added" in said


def test_a_revision_without_a_baseline(committed, capsys):
    git("rm", "-r", "--quiet", "--cached", "reports")
    git("commit", "--quiet", "-m", "without")
    status, said = diff(capsys, "HEAD")
    assert status == 0
    assert f"{KIND}: nothing → 3 runs, 60 seeds" in said


def test_the_working_tree_may_lack_it(committed, capsys):
    shutil.rmtree("reports")
    status, said = diff(capsys, "HEAD")
    assert status == 0
    assert f"{KIND}: 3 runs, 60 seeds → nothing" in said


def test_from_below_the_top_of_the_repository(committed, capsys, monkeypatch):
    monkeypatch.chdir("reports")
    status, said = diff(capsys, "--baseline", "baseline", "HEAD")
    assert status == 0
    assert "3 unchanged" in said


@pytest.mark.parametrize("revision", ["nonsense", "", "-x", "--output=stolen", "HEAD:reports", "HEAD --", "$(touch x)"])
def test_a_bad_revision_is_2_and_one_line(committed, capsys, revision):
    status, said = diff(capsys, "--", revision)
    assert status == 2
    assert said.startswith("error: ")
    assert said.count("\n") == 1
    assert sorted(path.name for path in Path().iterdir() if not path.name.startswith("run ")) == [".git", "reports"]


def test_no_repository_is_2(place, capsys, monkeypatch, tmp_path):  # noqa: F811
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    place(seeded(0))
    status, said = diff(capsys, "HEAD")
    assert status == 2
    assert "not a git repository" in said


def test_no_git_is_2(place, capsys, monkeypatch):  # noqa: F811
    monkeypatch.setenv("PATH", "")
    status, said = diff(capsys, "HEAD")
    assert status == 2
    assert "git cannot be run" in said


def test_a_link_in_the_repository_is_not_followed(committed, capsys):
    secret = Path("secret.csv").absolute()
    secret.write_text("claim\n")
    (committed.folder / KIND / "platforms.csv").symlink_to(secret)
    git("add", "reports")
    git("commit", "--quiet", "-m", "link")
    (committed.folder / KIND / "platforms.csv").unlink()
    assert diff(capsys, "HEAD")[0] == 0


def test_chance_alone_is_seldom_called_moved():
    """Where nothing but the seeds changed, the share of comparisons with any moved figure is at most the level."""
    rng = np.random.default_rng(0)
    seeds = np.arange(20)
    moved = 0
    for _ in range(60):
        samples = [[pd.DataFrame({"seed": seeds, "value": rng.normal(0.9, 0.02, 20)}) for _ in "ab"] for _ in range(10)]
        p_values = {("claim", str(n)): _compare_samples(*pair)[0] for n, pair in enumerate(samples)}
        moved += bool(holm(p_values, LEVEL))
    assert moved / 60 <= 2 * LEVEL

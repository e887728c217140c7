"""The baseline in git: whole, sorted and small; read as a history; renewed in place by what is accepted."""

import csv
import json
import shutil
from pathlib import Path

import pytest
from reports_nights import night, written

from lesson_claims.command_line import main
from lesson_claims.drift.tonight import drift_of
from lesson_claims.results import history
from lesson_claims.results.acceptance import accept_claims, read_acceptances, runs_to_accept
from lesson_claims.results.baseline import COLUMNS, is_baseline, read_platforms, run_folders
from lesson_claims.results.columns import KEYS
from lesson_claims.results.errors import ReportError
from lesson_claims.results.tables import Run, read_run
from lesson_claims.results.vocabulary import DriftState

ROOT = Path(__file__).parent.parent
COMMITTED = ROOT / "reports" / "baseline"
KIND = "cpu-x86_64"
FEW = [0.89, 0.9, 0.92, 0.91, 0.9]


def rows(file):
    with file.open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))


def seeded(number, **changes):
    """Return a night that says which seeds it had."""
    run = night(number, **changes)
    run.info["options"] = {"first_seed": 1000 * (number + 1)}
    return run


def with_platforms(number, *values):
    """Return a night that also has the picture of a platform spread."""
    run = seeded(number)
    picture = {"claim": "b.accuracy", "picture": "accuracy by platform", "mark": "bar"}
    tables = {name: table.to_dict("records") for name, table in run.tables().items()}
    tables["curves"] = [{**picture, "x": f"setting {x}", "y": y} for x, y in enumerate(values)]
    return Run.from_rows({**run.info, "environment": {**run.info["environment"], "processor": "P"}}, **tables)


@pytest.fixture
def place(tmp_path, monkeypatch):
    """Go to an empty folder; `place(run, …)` makes these runs the baseline, `place.folder`."""
    monkeypatch.chdir(tmp_path)

    def go(*runs, **options):
        folders = [written(run, tmp_path / f"run {run.name}") for run in runs]
        reason = "it is right"
        return accept_claims("reports/baseline", runs_to_accept(folders, reason), reason, **options)

    go.folder = Path("reports/baseline")
    return go


# The committed one -----------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def committed():
    if not is_baseline(COMMITTED):
        pytest.skip("the suite was installed without its baseline")
    return COMMITTED


def test_the_committed_baseline_is_small(committed):
    assert sum(file.stat().st_size for file in committed.rglob("*") if file.is_file()) < 1_000_000


def test_the_committed_baseline_is_readable_and_has_its_reason(committed):
    for kind in history.device_kinds(committed):
        kept = history.load(committed, kind)
        decisions, problems = read_acceptances(committed, kind)
        assert not [*kept.problems, *problems]
        assert len(kept.runs) > 1
        assert decisions[0].reason


def test_the_committed_baseline_is_sorted_and_has_nothing_but_what_is_compared(committed):
    for folder in (folder for kind in history.device_kinds(committed) for folder in run_folders(committed, kind)):
        run = read_run(folder)
        assert sorted(file.name for file in folder.iterdir()) == sorted(
            [*(f"{name}.csv" for name in COLUMNS), "run.json"]
        )
        for name, columns in COLUMNS.items():
            assert tuple(rows(folder / f"{name}.csv")[0]) == columns
            keys = list(getattr(run, name)[list(KEYS[name])].itertuples(index=False))
            assert keys == sorted(keys)


def test_the_committed_baseline_has_every_claim_and_figure(committed):
    # Not each of its runs: a claim that changes is measured anew, and `accept` drops what older runs say of it.
    from lesson_claims.project import read_project
    from lesson_claims.registry import load_registry

    registry = load_registry(read_project(ROOT))
    figures = {(claim, figure) for claim, known in registry.figures.items() for figure in known}
    for kind in history.device_kinds(committed):
        runs = [read_run(folder) for folder in run_folders(committed, kind)]
        assert set(registry.claims) == {claim for run in runs for claim in run.claims["claim"]}
        assert figures <= {
            pair for run in runs for pair in zip(run.measurements["claim"], run.measurements["figure"], strict=True)
        }


def test_the_committed_baseline_is_quiet_about_one_of_its_own_runs(committed, tmp_path):
    kind = history.device_kinds(committed)[0]
    fullest = max(run_folders(committed, kind), key=lambda folder: len(rows(folder / "claims.csv")))
    run = shutil.copytree(fullest, tmp_path / "run")
    drift, _ = drift_of(committed, run)
    assert drift.compared
    assert not drift.new


# Accepting -------------------------------------------------------------------------------------------------------


def test_runs_become_a_baseline_that_is_read_as_a_history(place):
    decision = place(seeded(1), seeded(0))
    assert is_baseline(place.folder)
    assert sorted(path.name for path in (place.folder / KIND).iterdir() if path.is_dir()) == [
        "seeds-1000-1019", "seeds-2000-2019",
    ]  # fmt: skip
    assert history.device_kinds(place.folder) == [KIND]
    kept = history.load(place.folder, KIND)
    assert kept.runs["started"].is_monotonic_increasing
    assert kept.runs["name"][0] == decision.run
    assert kept.samples["value"].tolist() == [*night(0).samples["value"], *night(1).samples["value"]]
    assert read_acceptances(place.folder, KIND) == ([decision], [])


def test_what_moves_is_a_changed_line_and_nothing_else(place):
    place(seeded(0), seeded(1))
    before = {file: file.read_text().splitlines() for file in place.folder.rglob("*.csv")}
    place(seeded(0, exact="19300"), seeded(1), patterns=["a.*"])
    for file, lines in before.items():
        after = file.read_text().splitlines()
        changed = [(old, new) for old, new in zip(lines, after, strict=True) if old != new]
        if file.parent.name == "seeds-1000-1019" and file.name == "measurements.csv":
            ((old, new),) = changed
            assert old.replace("19266", "19300") == new
        else:
            assert not changed


def test_accepting_some_claims_leaves_the_others(place):
    place(seeded(0), seeded(1))
    place(seeded(2, exact="19300"), patterns=["a.sizes"])
    kept = history.load(place.folder, KIND)
    figures = kept.figures[kept.figures["measured"].notna() & (kept.figures["figure"] != "")]
    assert figures[figures["claim"] == "a.sizes"]["measured"].tolist() == ["19300"]
    assert len(figures[figures["claim"] == "a.mean"]) == 2
    assert kept.runs["partial"].tolist() == [False, False, True]


def test_a_run_of_other_claims_in_the_same_seeds_is_named(place):
    place(seeded(0))
    place(seeded(0, exact="19300", commit="later"), patterns=["a.sizes"])
    info = json.loads((place.folder / KIND / "seeds-1000-1019" / "run.json").read_text())
    assert info["commit"] == "c0ffee"
    assert [(note["claims"], note["commit"]) for note in info["renewed"]] == [(["a.sizes"], "later")]


def test_a_claim_that_was_not_run_stays(place):
    place(seeded(0))
    partial = seeded(1, exact="19300", selected="a.sizes", verdict="not run", drop=("accuracy",), sample=[])
    place(partial)
    claims = {row["claim"]: row["verdict"] for row in rows(place.folder / KIND / "seeds-1000-1019" / "claims.csv")}
    assert claims == {"b.accuracy": "holds"}


def test_a_claim_that_is_gone_goes(place):
    place(seeded(0))
    place(seeded(1, drop=("a.mean",)))
    assert [folder.name for folder in run_folders(place.folder, KIND)] == ["seeds-2000-2019"]
    assert "a.mean" not in (place.folder / KIND / "seeds-2000-2019" / "claims.csv").read_text()


def test_decisions_that_decide_nothing_any_more_go(place):
    place(seeded(0))
    place(seeded(0), patterns=["a.*"])
    assert len(read_acceptances(place.folder, KIND)[0]) == 2
    place(seeded(1))
    assert [decision.claims for decision in read_acceptances(place.folder, KIND)[0]] == [("*",)]


def test_the_platform_spread_alone(place):
    place(seeded(0))
    before = [file.read_bytes() for file in sorted(place.folder.rglob("seeds-*/*"))]
    place(with_platforms(5, 0.9, 0.95), platforms=True)
    assert before == [file.read_bytes() for file in sorted(place.folder.rglob("seeds-*/*"))]
    assert read_platforms(place.folder, KIND).to_dict("records") == [
        {"claim": "b.accuracy", "figure": "accuracy", "platform": f"setting {x}", "value": y,
         "machine": "P, torch 2.13.0"}
        for x, y in enumerate((0.9, 0.95))
    ]  # fmt: skip
    place(with_platforms(6, 0.8, 0.85), platforms=True)
    assert read_platforms(place.folder, KIND)["value"].tolist() == [0.8, 0.85]
    place(seeded(1))  # a run without platforms says nothing about them
    assert len(read_platforms(place.folder, KIND)) == 2


@pytest.mark.parametrize(
    ("runs", "options", "said"),
    [
        ([night(0, complete=False)], {}, "incomplete"),
        ([night(0)], {"patterns": ["nothing.*"]}, "no claim of"),
        ([night(0)], {"platforms": True}, "no such claim has a platform spread"),
        ([seeded(0), seeded(0, exact="1")], {}, "two of the runs have the seeds"),
        ([night(0), night(1, environment={"device": "cuda", "device name": "X"})], {}, "each kind of device"),
    ],
)
def test_what_cannot_be_accepted_leaves_nothing(place, runs, options, said):
    with pytest.raises(ReportError, match=said):
        place(*runs, **options)
    assert not place.folder.exists()


def test_a_history_keeps_no_platform_spread(tmp_path, capsys):
    history.append(tmp_path / "history", night(0))
    run = written(night(1), tmp_path / "run")
    arguments = ["accept", "--history", str(tmp_path / "history"), str(run), "--reason", "why", "--platforms"]
    assert main(arguments) == 2
    assert "keeps no platform spread" in capsys.readouterr().err


def test_a_baseline_is_accepted_by_the_command_and_never_by_a_pattern_for_everything(place, capsys):
    run = str(written(seeded(0), Path("run")))
    assert main(["accept", run, "--reason", "the first", "--claim", "*"]) == 2
    assert "leave --claim out" in capsys.readouterr().err
    assert not place.folder.exists()
    assert main(["accept", run, "--reason", "the first"]) == 0
    assert "is the baseline of all claims that they measured: the first" in capsys.readouterr().out
    assert main(["accept", run, "--reason", "again", "--claim", "a.*"]) == 0


def test_pytest_adds_no_run_to_a_baseline(place):
    place(seeded(0))
    with pytest.raises(ReportError, match="lesson-claims accept"):
        history.append(place.folder, night(1))


def test_a_damaged_run_is_named_and_costs_itself_alone(place):
    place(seeded(0), seeded(1))
    (place.folder / KIND / "seeds-1000-1019" / "claims.csv").write_text("")
    kept = history.load(place.folder, KIND)
    assert len(kept.runs) == 1
    (problem,) = kept.problems
    assert "seeds-1000-1019" in problem
    (place.folder / KIND / "seeds-2000-2019" / "run.json").write_text("{")
    with pytest.raises(ReportError, match="not one of 2 runs"):
        history.load(place.folder, KIND)


# Drift against it ------------------------------------------------------------------------------------------------


def drift(capsys, run, *arguments):
    """Return the exit status and the text of `lesson-claims drift` for a run in `reports/latest`."""
    written(run, Path("reports/latest"))
    capsys.readouterr()
    return main(["drift", *arguments]), capsys.readouterr().out


def test_without_arguments_the_latest_run_is_compared_with_the_baseline(place, capsys):
    place(*(seeded(number) for number in range(3)))
    files = {file: file.read_bytes() for file in place.folder.rglob("*") if file.is_file()}
    status, said = drift(capsys, night(9, sample=FEW, seeds=5))
    assert status == 0
    assert "reports/baseline: 3 runs, 60 seeds, measured on an unknown machine (cpu-x86_64)" in said
    status, said = drift(capsys, night(9, exact="19300", seeds=5, sample=[0.5, 0.51, 0.52, 0.53, 0.54]))
    assert status == 1
    assert "a.sizes/parameters: drifted; 19266 → 19300" in said
    assert "b.accuracy/accuracy: drifted; mean 0." in said
    assert files == {file: file.read_bytes() for file in place.folder.rglob("*") if file.is_file()}


def test_nothing_to_compare_with_is_3(place, capsys):
    assert drift(capsys, night(0))[0] == 3


def test_no_run_is_2(place, capsys):
    place(seeded(0))
    assert main(["drift"]) == 2
    assert "no such report directory" in capsys.readouterr().err


def test_a_claim_that_an_older_run_renewed_did_not_vanish_in_between(place, capsys):
    """The runs of a baseline lack what another of them has: that is no night without it."""
    place(seeded(3), seeded(4))
    place(seeded(1), patterns=["a.sizes"])
    status, said = drift(capsys, night(9, sample=FEW, seeds=5))
    assert status == 0
    assert "came back" not in said
    partial = night(9, selected="b", seeds=5, sample=FEW, drop=("a.sizes",))
    status, said = drift(capsys, partial)
    assert status == 0
    assert "vanished" not in said
    assert drift(capsys, night(9, seeds=5, sample=FEW, drop=("a.sizes",)))[0] == 1


def test_a_run_of_some_claims_makes_nothing_vanish(place, capsys):
    place(*(seeded(number) for number in range(3)))
    run = night(9, selected="a.sizes", seeds=5, sample=[], drop=("a.mean", "accuracy"), verdict="not run")
    status, said = drift(capsys, run)
    assert status == 0
    assert "vanished" not in said


@pytest.mark.parametrize(
    ("changes", "status"),
    [
        ({}, 0),
        ({"single": "0.2509"}, 0),
        ({"single": "0.26"}, 1),
        ({"exact": "19300"}, 1),
        ({"verdict": "refuted", "kind": "behaviour"}, 1),
        ({"sample": [0.5, 0.51, 0.52, 0.53, 0.54]}, 1),
    ],
)
def test_on_another_kind_of_device_what_can_be_judged_is(place, capsys, changes, status):
    place(*(seeded(number, kind=changes.get("kind", "trained")) for number in range(3)))
    device = {"device": "cuda", "device name": "X", "numerics": "other"}
    found, said = drift(capsys, night(9, seeds=5, environment=device, **{"sample": FEW, **changes}))
    assert found == status
    assert "devices differ: the baseline was measured on cpu-x86_64, this run on cuda-X" in said


def test_without_a_printed_tolerance_another_kind_of_device_is_not_judged(place, capsys):
    def loose(run, value):
        run.measurements["tolerance"] = None
        run.measurements.loc[run.measurements["claim"] == "a.mean", "measured"] = value
        return run

    place(*(loose(seeded(number), "0.25") for number in range(3)))
    assert drift(capsys, loose(night(9, sample=FEW, seeds=5), "0.26"))[0] == 1
    device = {"device": "cuda", "device name": "X"}
    status, said = drift(capsys, loose(night(9, sample=FEW, seeds=5, environment=device), "0.26"))
    assert status == 0
    assert "a.mean/mean: within tolerance; 0.25 → 0.26; not judged, devices differ" in said


def test_fewer_seeds_may_leave_a_claim_undecided(place, capsys):
    place(*(seeded(number, kind="behaviour") for number in range(3)))
    sample = {"sample": FEW, "kind": "behaviour", "verdict": "inconclusive"}
    assert drift(capsys, night(9, seeds=5, **sample))[0] == 0
    assert drift(capsys, night(9, seeds=20, **{**sample, "sample": None}))[0] == 1


def test_seconds_are_the_clocks(place, capsys):
    def timed(run, seconds):
        run.measurements.loc[run.measurements["claim"] == "a.mean", ["measured", "unit"]] = (seconds, "s")
        return run

    place(*(timed(seeded(number), "1.5") for number in range(3)))
    assert drift(capsys, timed(night(9, sample=FEW, seeds=5), "80.5"))[0] == 0


def test_the_pages_own_seed_is_no_extreme_by_its_number(tmp_path):
    """A value at seed 0 that is a little beyond all others is nothing: its tie is broken like any other's."""
    for number in range(3):
        history.append(tmp_path / "history", night(number))
    lowest = min(night(number).samples["value"].min() for number in range(3)) - 0.001
    run = night(9, seeds=5, sample=[lowest, 0.89, 0.9, 0.91, 0.92])
    run.samples["seed"] = range(5)
    found, _ = drift_of(tmp_path / "history", written(run, tmp_path / "run"))
    (judgement,) = [each for each in found.judgements if each.figure == "accuracy"]
    assert judgement.state is not DriftState.DRIFTED

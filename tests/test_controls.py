"""`lesson-claims controls`: what becomes of each control of a small project, and of the table of results."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import pytest
from controls_project import CONTROLS, claims_file, results, write_project

from lesson_claims.command_line import main
from lesson_claims.project import read_project
from lesson_claims.registry import load_registry
from lesson_claims.results.columns import CONTROLS as COLUMNS
from lesson_claims.results.vocabulary import ControlOutcome
from lesson_claims.sabotage.libraries import libraries
from lesson_claims.sabotage.outcomes import Decided, found
from lesson_claims.sabotage.results import key_of
from lesson_claims.traceability import read_checks

ENDLESS = "does not end"


def controls(root: Path, *arguments: str) -> int:
    return main(["controls", "--root", str(root), "--jobs", "2", *arguments])


@pytest.fixture(scope="module")
def tried(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str, int]:
    """Try all controls of the small project once; return its folder, what was printed, and the exit status."""
    root = write_project(tmp_path_factory.mktemp("project"), claims_file(CONTROLS))
    (root / "reports").mkdir()
    rows = "a.after,is gone,caught,,,1.0,2026-01-01T00:00Z,0\na.after,is the same,caught,,,1.0,2026-01-01T00:00Z,0\n"
    header = ",".join(column.name for column in COLUMNS)
    (root / "reports" / "controls.csv").write_text(f"{header}\n{rows}", encoding="utf-8")
    printed = root / "printed.txt"
    with printed.open("w", encoding="utf-8") as file, pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.stdout", file)
        status = controls(root, "--minutes", "0.5")
    return root, printed.read_text(encoding="utf-8"), status


@pytest.mark.parametrize(
    ("claim", "breaks", "outcome", "by"),
    [
        ("after", "is one too little", "caught", "test_after test_more"),
        ("after", "is the same", "missed", ""),
        ("after", "breaks down", "error", ""),
        ("after", "cannot be imported", "error", ""),
        ("after", ENDLESS, "error", ""),
        ("after", "is one too much", "missed", "test_after"),  # the other claim does not notice
        ("always", "is two", "caught", "test_always"),  # it holds then, whatever the page prints in the world as it is
        ("always.corrected", "is two", "caught", "test_always__corrected"),
        ("wins", "loses", "caught", "test_wins"),
        ("wins", "is as good", "inconclusive", ""),
        ("draw", "wins", "caught", "test_draw"),
        ("draw", "is as before", "missed", ""),
        ("printed", "is a third", "caught", "test_printed"),
        ("run", "is another number", "caught", "test_run"),
        ("both", "is another number", "missed", ""),  # the printed number is no decision of its own
        ("root", "the root is half as long", "caught", "test_root"),
        ("root", "there is no such function", "error", ""),
    ],
)
def test_a_verdict_turns_by_the_decision_of_a_check_or_does_not(
    tried: tuple[Path, str, int], claim: str, breaks: str, outcome: str, by: str
) -> None:
    row = results(tried[0] / "reports" / "controls.csv")[claim, breaks]
    assert row["outcome"] == outcome
    assert row["by"].split() == [f"claims/test_a.py::{name}" for name in by.split()]


def test_other_claims_that_must_notice_are_named(tried: tuple[Path, str, int]) -> None:
    rows = results(tried[0] / "reports" / "controls.csv")
    assert rows["after", "is one too little"]["also"] == "a.more=caught"
    assert rows["after", "is one too much"]["also"] == "a.printed=missed"
    assert "missed a.after: is one too much" in tried[1]
    assert "a.after caught; a.printed missed" in tried[1]


def test_what_went_wrong_is_told_in_a_line(tried: tuple[Path, str, int]) -> None:
    for said in (
        "breaks down  [claims/test_a.py::test_after: TypeError: unsupported operand",
        "cannot be imported  [SyntaxError",
        f"{ENDLESS}  [stopped after 0.5 minutes]",
        "there is no such function  [stand_in 'math.no_such.function': there is no such attribute here",
    ):
        assert said in tried[1]


def test_the_end_says_how_many_were_caught_and_which_claims_have_none(tried: tuple[Path, str, int]) -> None:
    root, printed, status = tried
    assert "no control: a.more, a.never\n" in printed
    assert "9 of 11 claims have a control; 8 of 17 controls caught" in printed
    assert "1/18 " in printed, "the claim that rests on a printed number of a run is tried as it is, too"
    assert status == 1
    told = printed.split("\n\n", 1)[1].splitlines()[:17]
    places = [line.split()[1] for line in told]
    names = ["after"] * 6 + ["always", "always.corrected"] + ["wins"] * 2 + ["draw"] * 2
    assert places == [f"a.{name}:" for name in (*names, "printed", "run", "both", "root", "root")]
    assert [path.name for path in root.iterdir() if "__pycache__" in path.name] == []


def test_rows_are_replaced_and_those_of_controls_that_are_gone_are_dropped(tried: tuple[Path, str, int]) -> None:
    rows = results(tried[0] / "reports" / "controls.csv")
    assert len(rows) == 17
    assert rows["after", "is the same"]["key"] != "0"


@pytest.fixture
def small(tmp_path: Path) -> Path:
    few = {"after": CONTROLS["after"][-1:], "more": CONTROLS["after"][1:2], "wins": CONTROLS["wins"][:1]}
    return write_project(tmp_path / "small", claims_file(few, stand_in=""))


def test_all_is_well_where_every_control_is_caught(small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    elsewhere = small / "elsewhere" / "found.csv"
    assert controls(small, "--claim", "a.after", "--results", str(elsewhere)) == 0
    assert "1 of 1 claims have a control; 1 of 1 controls caught" in capsys.readouterr().out
    assert set(results(elsewhere)) == {("after", "is one too little")}
    before = results(elsewhere)
    assert controls(small, "--claim", "a.more", "--results", str(elsewhere)) == 1
    assert results(elsewhere)["after", "is one too little"] == before["after", "is one too little"]
    assert results(elsewhere)["more", "is the same"]["outcome"] == "missed"
    assert not (small / "reports").exists()


def test_a_list_runs_nothing_and_quick_leaves_out_claims_with_runs(
    small: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert controls(small, "--list") == 0
    assert capsys.readouterr().out.splitlines() == [
        "a.after: is one too little: lessons/code.py (also a.more)",
        "a.more: is the same: lessons/code.py",
        "a.wins: loses: lessons/code.py",
        "3 of 11 claims have a control",
    ]
    assert controls(small, "--list", "--quick") == 0
    assert capsys.readouterr().out.splitlines()[2:] == ["2 of 7 claims have a control"]
    assert controls(small, "--list", "--claim", "a.wins", "--claim", "a.af*") == 0
    assert "2 of 2 claims" in capsys.readouterr().out
    assert not (small / "reports").exists()


@pytest.mark.parametrize(
    ("arguments", "claims", "said"),
    [
        (["--claim", "a.zfter"], {}, "--claim 'a.zfter' matches no claim.*a.after"),
        (["--jobs", "-1"], {}, "--jobs -1 --minutes 30: both must be more than 0"),
        (
            ["--list"],
            {"after": [("is gone", "x + 7", "x", "")]},
            "a.after, control 'is gone': 'x \\+ 7' stands 0 times in lessons/code.py",
        ),
        ([], {"after": [("is twofold", "return x", "x", "")]}, "'return x' stands 2 times in lessons/code.py"),
        ([], {"after": [("is the same", "x", "x", "")]}, "changes nothing"),
    ],
)
def test_what_cannot_be_tried_is_bad_input(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    claims: dict[str, list[tuple[str, str, str, str]]],
    said: str,
) -> None:
    root = write_project(tmp_path, claims_file(claims, stand_in=""))
    assert controls(root, *arguments) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert re.search(said, error), error


def test_a_damaged_table_of_results_is_bad_input(small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    damaged = small / "found.csv"
    damaged.write_text("claim\n", encoding="utf-8")
    assert controls(small, "--claim", "a.more", "--results", str(damaged)) == 2
    assert "'breaks' is missing; restore it, or delete it" in capsys.readouterr().err


def test_the_runs_of_a_stand_in_are_kept_apart(small: Path) -> None:
    stand_in = 'stand_in = "math.fabs"\nwith = "claims.stand_ins:nothing"\n'
    more = f'[[claim.control]]\nbreaks = "the library gives nothing"\n{stand_in}'
    text = claims_file({"wins": CONTROLS["wins"][:1]}, stand_in="")
    place = text.index('[[claim]]\nid = "a.draw"')
    (small / "claims" / "a.toml").write_text(text[:place] + more + text[place:], encoding="utf-8")
    store = small / "store"
    assert controls(small, "--claim", "a.wins", "--run-store", str(store)) == 0
    kept = [path.read_text(encoding="utf-8") for path in store.rglob("*.json")]
    assert kept
    assert all('"pattern": "-"' in each for each in kept), "of the edit alone: its code is another recipe's"


def test_a_key_stands_for_the_declaration_the_checks_and_the_edited_code(small: Path) -> None:
    def key() -> str:
        project = read_project(small)
        registry = load_registry(project)
        checks = read_checks(project.root, project.claims, registry)
        claim = registry.claims["a.after"]
        return key_of(project, registry, checks, claim, claim.controls[0])

    def changed(name: str, old: str, new: str) -> str:
        path = small / name
        text = path.read_text(encoding="utf-8")
        path.write_text(text.replace(old, new, 1), encoding="utf-8")
        found = key()
        path.write_text(text, encoding="utf-8")
        return found

    before = key()
    keys = {
        before,
        changed("lessons/code.py", "half", "a_half"),
        changed("claims/test_a.py", "It is more.", "It is."),
        changed("claims/a.toml", "x - 1", "x - 2"),
        changed("claims/a.toml", "too little", "too few"),
    }
    assert len(keys) == 5
    assert key() == before == changed("claims/stand_ins.py", "halved", "half")


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_an_interrupt_ends_all_processes_and_leaves_no_folder(tmp_path: Path) -> None:
    endless = {"after": [each for each in CONTROLS["after"] if each[0] == ENDLESS]}
    root = write_project(tmp_path / "project", claims_file(endless, stand_in=""))
    # Not in tmp_path, which may be too long for a socket.
    temporary = Path(tempfile.mkdtemp(prefix="claims-"))
    engine = tmp_path / "engine"  # alone, because the root of this repository has a package `lessons` of its own
    engine.mkdir()
    (engine / "lesson_claims").symlink_to(Path(__file__).parent.parent / "lesson_claims")
    process = subprocess.Popen(
        [sys.executable, "-m", "lesson_claims", "controls", "--claim", "a.after"],
        cwd=root,
        env={**os.environ, "PYTHONPATH": str(engine), "TMPDIR": str(temporary)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    deadline = time.monotonic() + 60
    while not list(temporary.glob("lesson-claims-controls-*/0/log.txt")) and time.monotonic() < deadline:
        time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    _, error = process.communicate(timeout=30)
    assert process.returncode == 130, error
    assert error == "interrupted: 1 of 1 trials did not end\n"
    assert not list(temporary.glob("lesson-claims-controls-*"))
    shutil.rmtree(temporary)


def test_a_temporary_folder_with_too_long_a_path_is_refused(
    small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / ("x" * 80)))
    assert controls(small) == 2
    assert "too long a path for a socket; set TMPDIR to another" in capsys.readouterr().err


DEPENDS = [("depends", "inconclusive", False), ("depends", "holds", True), ("depends", "refuted", True),
           ("holds", "holds", False), ("holds", "refuted", True), ("holds", "inconclusive", False)]  # fmt: skip


@pytest.mark.parametrize(("expected", "verdict", "turned"), DEPENDS)
def test_a_claim_that_depends_turns_when_it_is_decided(small: Path, expected: str, verdict: str, turned: bool) -> None:
    claim = load_registry(read_project(small)).claims["a.draw"]
    decided = Decided("claims/test_a.py::test_draw[n=1]", claim.id, expected, verdict)
    outcome = found(claim, [decided, replace(decided, claim="a.wins", verdict="refuted")])
    assert (outcome.outcome == ControlOutcome.CAUGHT) is turned
    assert outcome.by == (("claims/test_a.py::test_draw",) if turned else ())


def test_a_check_that_turns_counts_whatever_else_went_wrong(small: Path) -> None:
    claim = load_registry(read_project(small)).claims["a.wins"]
    decided = [Decided("t::a", claim.id, "holds", "error", "E"), Decided("t::b", claim.id, "holds", "refuted")]
    assert found(claim, decided).by == ("t::b",)
    assert found(claim, decided[:1]).reason == "t::a: E"
    assert found(claim, []).reason == "none of its checks was run"


def test_libraries_are_loaded_beforehand_and_nothing_of_the_project(small: Path) -> None:
    (small / "lessons" / "numbers.py").write_text("x = 1\n", encoding="utf-8")
    text = "import hypothesis\nimport numpy.linalg\nimport numbers\nimport no_such_library\nfrom lessons import code\n"
    (small / "claims" / "more.py").write_text(text, encoding="utf-8")
    names = libraries(read_project(small))
    assert "numpy.linalg" in names
    assert not {"hypothesis", "numbers", "no_such_library", "lessons", "lessons.code"} & set(names)
    assert not [name for name in names if name.startswith("lesson_claims.plugin")]


def test_code_that_is_imported_from_the_project_itself_is_an_error(
    small: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = (small / "conftest.py").read_text(encoding="utf-8")
    (small / "conftest.py").write_text(f'import sys\nsys.path.insert(0, "{small}")\n{text}', encoding="utf-8")
    assert controls(small, "--claim", "a.after", "--results", str(small / "found.csv")) == 1
    assert "lessons was imported from the project and not from the copy" in capsys.readouterr().out

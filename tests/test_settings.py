"""What a page states of its runs is compared with how they were made, and every claim on such a run is red."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from plugin_project import LESSON, Project, toy_check

from lesson_claims.report.html import html
from lesson_claims.report.merge import merge
from lesson_claims.results.errors import ReportError
from lesson_claims.results.tables import Run, read_run
from lesson_claims.settings import SettingsError, Statement, agrees, compare, load_settings, refuse_others, stated_of

pytest_plugins = ["pytester"]

HEADER = "run,setting,stated,where\n"


def statement(run: str = "a", setting: str = "epochs", stated: str = "10", place: str = "s.csv:2") -> Statement:
    return Statement(run, setting, stated, "the recipe", place)


# The file -----------------------------------------------------------------------------------------------------------


def loaded(tmp_path: Path, text: str) -> list[Statement]:
    path = tmp_path / "page_settings.csv"
    path.write_text(text, encoding="utf-8")
    return load_settings(path, "claims/page_settings.csv")


def test_a_file_of_settings_is_read_with_its_lines(tmp_path: Path) -> None:
    text = HEADER + '"day 3, *",learning rate,3e-3,the recipe\n"day 3, a",head,"32 → 64, ReLU",the model\n'
    assert loaded(tmp_path, text) == [
        Statement("day 3, *", "learning rate", "3e-3", "the recipe", "claims/page_settings.csv:2"),
        Statement("day 3, a", "head", "32 → 64, ReLU", "the model", "claims/page_settings.csv:3"),
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", r"csv:1: the header must be run,setting,stated,where; got $"),
        ("run,setting,stated\n", r"csv:1: the header must be run,setting,stated,where; got run,setting,stated$"),
        (HEADER + "a,epochs,10\n", r"csv:2: 3 fields where 4 are needed; quote a text with a comma$"),
        (HEADER + "a,epochs,,recipe\n", r"csv:2: the field 'stated' is empty; fill it in$"),
        (HEADER + "a,epochs,10,x\n\na,epochs,10,x\n", r"csv:3: 0 fields where 4 are needed"),
        (HEADER + "a,epochs,10,x\na,epochs,12,x\n", r"csv:3: setting 'epochs' of 'a' stands on line 2 already"),
        (HEADER + "a,epochs,about 10,x\n", r"csv:2: stated 'about 10' is not exact, and a setting is; write"),
        (HEADER + "a,epochs,10 ± 1,x\n", r"csv:2: stated '10 ± 1' is not exact, and a setting is; write"),
        (HEADER + "a,epochs,1e999,x\n", r"csv:2: stated '1e999' is beyond .*; no setting could equal it$"),
        (HEADER + '"a,epochs,10,x\n', r"settings.csv: cannot be read: "),
    ],
)
def test_a_file_that_states_nothing_is_refused_with_its_line(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(SettingsError, match=message) as raised:
        loaded(tmp_path, text)
    assert str(raised.value).startswith("claims/page_settings.csv")
    assert "\n" not in str(raised.value)


# Which runs it means -------------------------------------------------------------------------------------------------


def test_a_pattern_states_a_setting_of_several_runs() -> None:
    both, one = statement("day 3, *"), statement("day 3, b", "clip", "none", "s.csv:3")
    found = stated_of(["day 3, a", "day 3, b"], [both, one], "lessons:RUNS")
    assert found == {"day 3, a": {"epochs": both}, "day 3, b": {"epochs": both, "clip": one}}


@pytest.mark.parametrize(
    ("statements", "message"),
    [
        ([statement("c")], r"^s.csv:2: 'c' means no run of lessons:RUNS; correct the name$"),
        ([statement("*"), statement("a", place="s.csv:9")],
         r"^s.csv:9: setting 'epochs' of 'a' is stated in s.csv:2 already; remove one, or let"),
        ([statement("a")], r"^lessons:RUNS: nothing is stated of the run 'b'; state its settings"),
    ],
)  # fmt: skip
def test_each_setting_of_each_run_is_stated_once(statements: list[Statement], message: str) -> None:
    with pytest.raises(SettingsError, match=message):
        stated_of(["a", "b"], statements, "lessons:RUNS")


# The comparison ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("stated", "made", "same"),
    [
        ("10", 10, True),
        ("10", 8, False),
        ("1.0", 1, True),
        ("3e-3", 0.003, True),
        (".2", 0.2, True),
        ("0.2", 0.2 + 1e-12, False),
        ("1.0", "none", False),
        ("none", "none", True),
        ("none", None, False),
        ("Adam", "adam", False),
        ("True", True, True),
        ("1", True, False),
        ("0", float("nan"), False),
        ("8,000", 8000, True),
    ],
)
def test_numbers_agree_as_numbers_and_texts_as_texts(stated: str, made: object, same: bool) -> None:
    assert agrees(stated, made) == same


def test_what_was_made_otherwise_is_told_in_one_line() -> None:
    stated = {"epochs": statement(), "clip": statement(setting="clip", stated="1.0", place="s.csv:3")}
    rows = compare("a", stated, {"settings": {"epochs": 8, "clip": "none", "rate": 0.1}})
    assert [(row["setting"], row["stated"], row["measured"], row["agreement"]) for row in rows] == [
        ("epochs", "10", "8", "otherwise"),
        ("clip", "1.0", "none", "otherwise"),
    ]
    with pytest.raises(SettingsError) as raised:
        refuse_others(rows)
    assert str(raised.value) == (
        "a: epochs was 8, and the page states 10 (s.csv:2); a: clip was none, and the page states 1.0 (s.csv:3)"
    )


@pytest.mark.parametrize(
    ("outcome", "message"),
    [
        ({"accuracy": 1.0}, r"^a: the outcome of its recipe has no 'settings', and the page states some"),
        ({"settings": 3}, r"^a: the outcome of its recipe has no 'settings'"),
        ({"settings": {"clip": 1.0}}, r"^s.csv:2: the outcome of 'a' has no setting 'epochs'; it has clip$"),
    ],
)
def test_an_outcome_without_a_stated_setting_is_refused(outcome: dict[str, Any], message: str) -> None:
    with pytest.raises(SettingsError, match=message):
        compare("a", {"epochs": statement()}, outcome)


# In a session --------------------------------------------------------------------------------------------------------

RECIPES = """
from dataclasses import dataclass

@dataclass(frozen=True)
class Fit:
    epochs: int = 10
    rate: float = 0.1

    def run(self, seed):
        settings = {"epochs": self.epochs, "rate": self.rate, "rows": 100 + seed}
        return {"value": 0.9 + seed / 1000, **({"settings": settings} if seed == 0 else {})}

PAGE_RUNS = {"slow": Fit(), "same as slow": Fit(), "fast": Fit(rate=1.0)}
"""
SETTINGS = HEADER + "*,epochs,10,the recipe\n*slow,rate,.1,the recipe\nfast,rate,1,the recipe\n*,rows,100,the data\n"
CHECKS = (
    'from lesson_claims import claim, refuted, that\nfrom fits import Fit\n\n'
    + toy_check("alone", 'decide(that(True, "It needs no run."))')
    + toy_check("slow", 'decide(that(evidence(Fit())["value"].page > 0.5, "It fits."))')
    + toy_check("fast", 'decide(that(evidence(Fit(rate=1.0))["value"].page > 0.95, "It fits better."))', "@refuted\n")
)  # fmt: skip


@pytest.fixture
def fits(project: Project) -> Project:
    """A project whose page makes three runs, two of them the same, and states how."""
    project.toy({"alone": "holds", "slow": "holds", "fast": "refuted"}, "")
    checks = (project.pytester.path / "claims" / "test_course_day1.py").read_text(encoding="utf-8")
    corrected = checks[checks.index('@claim("course.day1.fast.corrected")') :]
    project.write("claims/test_course_day1.py", CHECKS + corrected)
    project.write("claims/course.toml", LESSON + 'page_runs = "fits:PAGE_RUNS"\n')
    project.write("claims/course_settings.csv", SETTINGS)
    project.write("lessons/fits.py", RECIPES)
    return project


@pytest.fixture(autouse=True)
def _forget_the_recipes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(__import__("sys").modules, "fits", raising=False)


def states(project: Project) -> dict[tuple[str, str], str]:
    return {(row["run"], row["setting"]): row["agreement"] for row in project.rows("settings")}


def test_a_run_made_as_stated_leaves_the_verdicts_alone(fits: Project) -> None:
    assert fits.run("--seeds", "5").ret == 0
    assert fits.verdicts()["course.day1.fast"] == "refuted"
    assert set(states(fits).values()) == {"as stated"}
    assert len(states(fits)) == 9
    row = fits.rows("settings")[0]
    assert row == {
        "run": "slow", "setting": "epochs", "stated": "10", "measured": "10", "agreement": "as stated",
        "where": "the recipe", "source": "claims/course_settings.csv:2",
    }  # fmt: skip


@pytest.mark.parametrize("arguments", [(), ("-n", "2"), ("--claim", "course.day1.fast")])
def test_every_claim_on_a_run_made_otherwise_is_red_by_name(fits: Project, arguments: tuple[str, ...]) -> None:
    fits.replace("lessons/fits.py", 'return {"value"', 'settings["epochs"] = 8\n        return {"value"')
    result = fits.run_apart("--seeds", "5", *arguments)
    assert result.ret == 1
    verdicts = fits.verdicts()
    assert verdicts["course.day1.fast"] == "error", "a refuted claim does not pass for it"
    if "--claim" not in arguments:
        assert verdicts["course.day1.alone"] == "holds"
        assert verdicts["course.day1.slow"] == "error"
    message = "fast: epochs was 8, and the page states 10 (claims/course_settings.csv:2)"
    assert any(message in problem for problem in fits.info["problems"])
    result.stdout.fnmatch_lines([f"*{message}*"])
    assert states(fits)["fast", "epochs"] == "otherwise"


def test_runs_kept_in_a_store_keep_their_settings(fits: Project) -> None:
    assert fits.run("--seeds", "5", "--run-store", "store").ret == 0
    fits.replace("claims/course_settings.csv", "*,epochs,10", "*,epochs,11")
    assert fits.run("--seeds", "5", "--run-store", "store").ret == 1
    assert states(fits)["slow", "epochs"] == states(fits)["same as slow", "epochs"] == "otherwise"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("fast,rate", "quick,rate", "csv:4: 'quick' means no run of fits:PAGE_RUNS; correct the name"),
        ("fast,rate", "*,rate", "csv:4: setting 'rate' of 'slow' is stated in claims/course_settings.csv:3 already*"),
        ("*,rows", "*,columns", "csv:5: the outcome of 'slow' has no setting 'columns'; it has epochs, rate, rows"),
    ],
)
def test_statements_that_do_not_fit_the_runs_are_an_error(fits: Project, old: str, new: str, message: str) -> None:
    fits.replace("claims/course_settings.csv", old, new)
    result = fits.run("--seeds", "5")
    assert result.ret == 1
    assert fits.verdicts()["course.day1.slow"] == "error"
    result.stdout.fnmatch_lines([f"*claims/course_settings.{message}*"])


def test_a_run_of_which_nothing_is_stated_is_an_error(fits: Project) -> None:
    fits.write("claims/course_settings.csv", HEADER + "*slow,epochs,10,the recipe\n")
    result = fits.run("--seeds", "5")
    assert result.ret == 1
    result.stdout.fnmatch_lines(["*fits:PAGE_RUNS: nothing is stated of the run 'fast'; state its settings*"])


def test_settings_need_runs_and_lines_that_state_something(fits: Project) -> None:
    fits.write("claims/course.toml", LESSON)
    result = fits.run()
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*claims/course_settings.csv: course does not name its page's runs; add page_runs*"])
    fits.write("claims/course_settings.csv", HEADER + "*,epochs,,x\n")
    fits.write("claims/course.toml", LESSON + 'page_runs = "fits:PAGE_RUNS"\n')
    result = fits.run()
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*claims/course_settings.csv:2: the field 'stated' is empty; fill it in*"])


def test_a_setting_that_no_check_has_seen_makes_a_whole_session_red(fits: Project) -> None:
    fits.replace("claims/test_course_day1.py", 'evidence(Fit(rate=1.0))["value"].page', "0.9")
    result = fits.run("--seeds", "5")
    assert result.ret == 1
    assert states(fits)["fast", "rate"] == "not measured"
    result.stdout.fnmatch_lines(["*passed*"])
    (problem,) = fits.info["problems"]
    assert problem.startswith("3 settings that the pages state were not compared with any run, the first of them")
    assert fits.run("--seeds", "5", "--claim", "course.day1.slow").ret == 0, "a part of the checks need not see all"


def test_settings_of_a_merged_run_come_from_the_part_that_measured_them(fits: Project) -> None:
    parts = []
    for name in ("slow", "fast"):
        assert fits.run("--seeds", "5", "--claim", f"course.day1.{name}", "--report-dir", name).ret == 0
        parts.append((name, read_run(fits.pytester.path / name)))
    assert {row["agreement"] for row in parts[0][1].settings.to_dict("records")} == {"as stated", "not measured"}
    whole = merge(parts)
    assert set(whole.settings["agreement"]) == {"as stated"}
    assert whole.settings[["run", "setting"]].equals(parts[0][1].settings[["run", "setting"]])
    other = parts[0][1]
    other.settings.loc[other.settings["run"] == "slow", "measured"] = "7"
    with pytest.raises(ReportError, match=r"slow: setting .* of 'slow' is '7'"):
        merge([parts[1], ("again", read_run(fits.pytester.path / "slow")), ("slow", other)])


def shown(run: Run) -> str:
    page = html(run)
    return page[page.index('<section id="settings"') : page.index('<section id="measurements"')]


def test_the_report_shows_the_settings(fits: Project) -> None:
    fits.run("--seeds", "5")
    assert "9 of 9 settings are as the pages state them." in shown(read_run(fits.report))
    fits.replace("claims/course_settings.csv", "fast,rate,1,", "fast,rate,2,")
    fits.run("--seeds", "5")
    text = shown(read_run(fits.report))
    assert "8 of 9 settings are as the pages state them, 1 is not." in text
    assert "claims/course_settings.csv:4" in text


def test_a_report_without_settings_does_not_speak_of_them(project: Project) -> None:
    project.run()
    assert 'id="settings"' not in html(read_run(project.report))
    assert project.rows("settings") == []

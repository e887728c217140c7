"""The plugin in a small project: outcomes, verdicts, records, bad input."""

from __future__ import annotations

import os
from xml.etree import ElementTree

import pytest
from plugin_project import CHECKS, CLAIMS, Project

from lesson_claims.command_line import main
from lesson_claims.results.tables import read_run

pytest_plugins = ["pytester"]

ALL = {"course.day1.sizes": "holds", "course.day1.always": "refuted", "course.day1.always.corrected": "holds"}


def check(body: str) -> str:
    """A module whose first check has this body, the others as they are."""
    kept = CHECKS[CHECKS.index('@claim("course.day1.always")') :]
    start = CHECKS[: CHECKS.index("def test_sizes")]
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    return f"{start}def test_sizes(measure, decide):\n{lines}\n{kept}"


def test_a_run_writes_every_claim_and_every_figure(project: Project) -> None:
    result = project.run()
    assert result.ret == 0
    result.assert_outcomes(passed=4, xfailed=1)
    assert project.verdicts() == ALL
    assert project.agreements() == {"rows": "reproduced", "third": "reproduced", "exception": "not printed"}
    assert project.info["complete"] is True
    assert project.info["exit_status"] == 0
    (erratum,) = project.rows("errata")
    assert erratum["suggestion"] == "It holds but at 3."
    assert erratum["remark"] == "erratum"
    assert erratum["evidence"] == "At 3 it fails."
    assert erratum["evidence_for_truth"] == "At 1 it holds. At 2 it holds. At 4 it holds."
    result.stdout.fnmatch_lines(["*report:*index.html"])


REMARKED = """
[[claim]]
id = "course.day1.added"
where = "the text"
says = "It holds."
kind = "exact"
expect = "holds"

[claim.addition]
truth = "It takes twice as long."
suggest = "It takes {times} times as long."

[[claim]]
id = "course.day1.also"
where = "the text"
says = "So does this."
kind = "exact"
expect = "holds"
ours = true

[[undecided]]
where = "the end"
says = "Everybody does it."
reason = "Nobody was asked."
"""
REMARKED_CHECKS = """
@claim("course.day1.added")
def test_added(decide):
    decide(that(True, "It is so."))

@claim("course.day1.added")
def test_added__addition(measure, decide):
    measure.also("times", 2)
    decide(that(True, "It took twice as long."))

@claim("course.day1.also")
def test_also(decide):
    decide(that(True, "This is so."))
"""


def test_additions_claims_of_ours_and_what_cannot_be_decided_reach_the_report(project: Project) -> None:
    project.write("claims/course_day1.toml", CLAIMS + REMARKED)
    project.write("claims/test_course_day1.py", CHECKS + REMARKED_CHECKS)
    assert project.run().ret == 0
    (addition,) = [row for row in project.rows("errata") if row["remark"] == "addition"]
    assert (addition["claim"], addition["truth"]) == ("course.day1.added", "It takes twice as long.")
    assert addition["evidence"] == "It took twice as long.", "and not what another check of the claim found"
    assert addition["suggestion"] == "It takes 2 times as long."
    assert [row["claim"] for row in project.rows("claims") if row["ours"] == "True"] == ["course.day1.also"]
    standing = [(row["claim"], row["standing"]) for row in project.rows("statements")]
    assert standing == [
        ("course.day1.sizes", "holds"),
        ("course.day1.always", "refuted"),
        ("course.day1.added", "holds"),
        ("", "can't be decided"),
    ]
    said = "Of 4 statements of the page, 2 hold, 1 is refuted, with its correction, and 1 can't be decided here."
    assert said in (project.report / "summary.md").read_text(encoding="utf-8")


def test_a_run_of_some_claims_says_at_how_many_statements_it_looked(project: Project) -> None:
    project.run("--claim", "course.day1.sizes")
    said = "Of 2 statements of the page, this run looked at 1: 1 holds; 1 was not run."
    assert said in (project.report / "summary.md").read_text(encoding="utf-8")


def test_a_claim_that_starts_to_hold_fails_the_run(project: Project) -> None:
    project.replace("claims/test_course_day1.py", '"n", [3]', '"n", [2]')
    result = project.run()
    assert result.ret == 1
    result.assert_outcomes(passed=4, failed=1)
    row = next(row for row in project.rows("claims") if row["claim"] == "course.day1.always")
    assert (row["verdict"], row["expected"], row["changed"]) == ("holds", "refuted", "True")


def test_a_claim_that_stops_holding_fails_the_run_and_keeps_every_figure(project: Project) -> None:
    project.replace("claims/course_figures.csv", "rows,3", "rows,4")
    result = project.run()
    result.assert_outcomes(passed=3, failed=1, xfailed=1)
    assert project.agreements() == {"rows": "outside", "third": "reproduced", "exception": "not printed"}
    row = project.rows("claims")[0]
    assert (row["verdict"], row["changed"]) == ("refuted", "True")
    result.stdout.fnmatch_lines(["*ClaimRefuted*rows is printed as 4 and comes out as 3*"])


def test_only_claim_refuted_counts_as_the_expected_failure(project: Project) -> None:
    project.replace("claims/test_course_day1.py", "decide(that(n != 3", "assert n == 4; decide(that(n != 3")
    result = project.run()
    assert result.ret == 1
    assert project.verdicts()["course.day1.always"] == "error"


def test_undecided_is_skipped_with_what_was_found(project: Project) -> None:
    body = "from lesson_claims import beats\nmeasure('rows', 3)\nmeasure('third', .33)\ndecide(beats([1, 2], [0, 0]))"
    project.write("claims/test_course_day1.py", check(body))
    result = project.run("-rs")
    assert result.ret == 0
    result.assert_outcomes(passed=3, xfailed=1, skipped=1)
    assert project.verdicts()["course.day1.sizes"] == "inconclusive"
    result.stdout.fnmatch_lines(["SKIPPED*inconclusive: A exceeds B in 2 of 2 seeds*"])


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("pass", "recorded nothing"),
        ("wrong = 'row'\nmeasure(wrong, 3)", "no figure 'row'"),
        ("measure('rows', [3, 4])", "one boolean, number or text"),
        ("measure('rows', 3)\nmeasure('rows', 3)", "recorded already"),
        ("measure.also('rows', 3)", "is a figure of the page"),
    ],
)
def test_a_check_that_records_badly_is_an_error(project: Project, body: str, said: str) -> None:
    # Written through a variable, so that the reading of the source cannot refuse the name first.
    project.write("claims/test_course_day1.py", check(f"name, third = 'rows', 'third'\n{body}\nif 0: measure(name, 0)"))
    result = project.run()
    assert result.ret == 1
    assert project.verdicts()["course.day1.sizes"] == "error"
    result.stdout.fnmatch_lines([f"*{said}*"])


def test_numbers_of_other_libraries_are_plain_in_the_report(project: Project) -> None:
    body = "import numpy, torch\nmeasure('rows', torch.tensor(3))\nmeasure('third', numpy.float32(0.33))"
    project.write("claims/test_course_day1.py", check(body))
    assert project.run_apart("-n", "1").ret == 0
    measured = {row["figure"]: row["measured"] for row in project.rows("measurements")}
    assert measured["rows"] == "3"
    assert measured["third"] == repr(float(__import__("numpy").float32(0.33)))


def test_a_nan_is_outside_and_loud(project: Project) -> None:
    project.replace("claims/test_course_day1.py", "1 / 3", 'float("nan")')
    assert project.run().ret == 1
    assert project.agreements()["third"] == "outside"
    assert project.verdicts()["course.day1.sizes"] == "refuted"


def test_a_figure_that_vanishes_fails_the_run(project: Project) -> None:
    project.replace("claims/test_course_day1.py", 'measure("third", 1 / 3)', 'n = 0\n    if n: measure("third", 1 / 3)')
    result = project.run()
    assert result.ret == 1
    assert project.agreements()["third"] == "not measured"
    assert project.info["problems"] == ["course.day1.sizes: figure 'third' was not measured"]


def test_junit_xml_carries_claim_verdict_and_figures(project: Project) -> None:
    project.run("--junitxml=junit.xml", "-o", "junit_family=xunit1")
    cases = ElementTree.parse(project.pytester.path / "junit.xml").iter("testcase")  # noqa: S314  our own file
    properties = {case.get("name"): {p.get("name"): p.get("value") for p in case.iter("property")} for case in cases}
    assert properties["test_sizes"]["claim"] == "course.day1.sizes"
    assert properties["test_sizes"]["verdict"] == "holds"
    assert properties["test_sizes"]["figure: rows"] == "3"
    assert properties["test_always[n=3]"]["verdict"] == "refuted"


def test_selecting_by_claim_leaves_the_others_not_run(project: Project) -> None:
    result = project.run("--claim", "course.day1.al*")
    assert result.ret == 0
    assert project.verdicts() == {**ALL, "course.day1.sizes": "not run"}
    assert project.agreements()["rows"] == "not measured"
    assert project.info["selected"] == "--claim course.day1.al*"


def test_a_part_of_a_claim_is_not_a_verdict_on_it(project: Project) -> None:
    project.run("-k", "corrected and 4")
    assert project.verdicts()["course.day1.always.corrected"] == "not run"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--seeds", "0"], "--seeds 0: at least one seed*"),
        (["--seeds", "99999999999"], "--seeds 99999999999: more than*"),
        (["--first-seed", "99999999999"], "*seeds must lie in 0..*"),
        (["--first-seed", "-1"], "*seeds must lie in 0..*"),
        (["--device", "gpu"], "--device gpu: unknown; use auto*"),
        (["--device", "cuda:7"], "--device cuda:7: not there*"),
        (["--claim", "course.day1.sizs"], "*matches no claim*course.day1.sizes*"),
        (["--report-dir", "pytest.ini"], "report directory pytest.ini cannot be written*"),
        (["--run-store", "pytest.ini"], "run store pytest.ini: cannot be written*"),
    ],
)
def test_bad_options_are_refused_in_one_line(project: Project, arguments: list[str], said: str) -> None:
    result = project.run("claims", *arguments)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"ERROR: {said}"])
    assert len([line for line in result.errlines if line.strip()]) == 1
    assert not (project.report / "run.json").exists()


@pytest.mark.parametrize(
    ("file", "old", "new", "said"),
    [
        ("claims/course_figures.csv", "rows,3,exact", "rows,3,exat", "*course_figures.csv:2: kind 'exat'*"),
        ("claims/course_figures.csv", "day1.sizes,rows", "day1.size,rows", "*belongs to course.day1.size*"),
        (
            "claims/course_figures.csv",
            "third,.33",
            "fourth,.33",
            "*measures 'third', and course.day1.sizes has no such figure*",
        ),
        (
            "claims/course_day1.toml",
            'expect = "holds"',
            'expect = "hold"',
            "*course.day1.sizes: Invalid enum value 'hold'*expect*one of holds, refuted, depends, open*",
        ),
        ("claims/course_day1.toml", "[[claim]]", "[[claim", "*course_day1.toml: cannot be read*"),
        ("claims/course_day1.toml", "day1.sizes", "day1.always", "*stand once only*"),
        ("claims/test_course_day1.py", '@claim("course.day1.sizes")', "", "*a check names its claim once*"),
        ("claims/test_course_day1.py", "def test_sizes", "def test_size", "*under the name test_sizes*"),
        ("claims/test_course_day1.py", '"course.day1.sizes"', '"course.day1.sizs"', "*"),
        ("claims/test_course_day1.py", "@refuted\n", "", "*on record as 'refuted', and its checks say otherwise*"),
        ("claims/test_course_day1.py", '"rows", 3', '"row", 3', "*"),
    ],
)
def test_a_registry_that_does_not_fit_is_refused_in_one_line(
    project: Project, file: str, old: str, new: str, said: str
) -> None:
    project.replace(file, old, new)
    result = project.run("claims")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"ERROR: {said}"])
    assert len([line for line in result.errlines if line.strip()]) == 1


def test_the_same_with_workers_and_without(project: Project) -> None:
    project.run()
    alone = [{**row, "seconds": ""} for row in project.rows("measurements")]
    result = project.run_apart("-n", "2")
    assert result.ret == 0
    assert [{**row, "seconds": ""} for row in project.rows("measurements")] == alone
    assert project.verdicts() == ALL
    assert project.info["environment"]["workers"] == 2


@pytest.mark.parametrize("workers", ["0", "2"])
def test_warnings_as_errors_change_nothing(project: Project, workers: str) -> None:
    """Such as that one plugin has imported another before pytest could rewrite it."""
    result = project.run_apart("-W", "error", "-n", workers)
    result.assert_outcomes(passed=4, xfailed=1)
    assert project.verdicts() == ALL


def test_a_killed_worker_costs_its_check_alone(project: Project) -> None:
    project.write(
        "claims/test_course_day1.py",
        check("import os, signal\nos.kill(os.getpid(), signal.SIGKILL)\nmeasure('rows', 3)\nmeasure('third', .33)"),
    )
    result = project.run_apart("-n", "2")
    assert result.ret == 1
    assert project.verdicts() == {**ALL, "course.day1.sizes": "error"}
    assert project.info["complete"] is False
    assert any("its worker was killed" in problem for problem in project.info["problems"])


def test_an_interrupt_keeps_what_was_measured(project: Project) -> None:
    project.replace(
        "claims/test_course_day1.py", '    decide(that(n != 3, f"At {n} it fails."))', "    raise KeyboardInterrupt"
    )
    result = project.run_apart()
    assert result.ret == pytest.ExitCode.INTERRUPTED
    assert project.info["complete"] is False
    assert project.verdicts() == {**dict.fromkeys(ALL, "not run"), "course.day1.sizes": "holds"}


def test_a_run_that_recorded_nothing_fails_and_keeps_the_good_report(project: Project) -> None:
    project.run()
    before = (project.report / "run.json").read_bytes()
    project.write(
        "claims/test_course_day1.py",
        check("measure('rows', 3)\nmeasure('third', .33)").replace("def test", "@pytest.mark.skip\ndef test"),
    )
    result = project.run()
    assert result.ret == 1
    assert (project.report / "run.json").read_bytes() == before
    result.stdout.fnmatch_lines(["no report: nothing was recorded*"])


@pytest.mark.parametrize(("printed", "measured"), [("5", "3"), ("3", 'float("nan")')])
def test_a_wrong_figure_does_not_pass_for_the_expected_failure(project: Project, printed: str, measured: str) -> None:
    figure = f"course.day1.always,limit,{printed},float,0,day 1\n"
    table = project.pytester.path / "claims" / "course_figures.csv"
    table.write_text(table.read_text(encoding="utf-8") + figure, encoding="utf-8")
    project.replace("claims/test_course_day1.py", "def test_always(decide, n)", "def test_always(decide, measure, n)")
    project.replace(
        "claims/test_course_day1.py",
        'decide(that(n != 3, f"At {n} it fails."))',
        f'decide(that(n != 3, "At 3 it fails."))\n    measure("limit", {measured} + 0.0)',
    )
    result = project.run()
    assert result.ret == 1
    assert project.verdicts()["course.day1.always"] == "error"
    result.stdout.fnmatch_lines(["*limit is printed as*"])


def test_a_nan_of_our_own_is_an_error(project: Project) -> None:
    body = "measure('rows', 3)\nmeasure('third', .33)\nmeasure.also('mine', float('nan'))"
    project.write("claims/test_course_day1.py", check(body))
    assert project.run().ret == 1
    assert project.verdicts()["course.day1.sizes"] == "error"


@pytest.mark.parametrize("option", ["--report-dir", "--run-store", "--history"])
def test_an_empty_directory_is_refused(project: Project, option: str) -> None:
    result = project.run("claims", f"{option}=")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"ERROR: {option}: the directory is empty*"])


def test_a_history_that_is_a_file_is_refused_before_anything_runs(project: Project) -> None:
    result = project.run("claims", "--history=pytest.ini")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: --history pytest.ini: is no directory*"])


def test_a_history_that_cannot_be_kept_costs_nothing_else(project: Project) -> None:
    # A place that is there when the run starts, and in which the folder of this kind of device cannot be made.
    for kind in ("cpu-x86_64", "cpu-arm64", "cpu-unknown"):
        project.write(f"history/{kind}", "a file\n")
    result = project.run("--device=cpu", "--history=history")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(
        [
            "claims: 1 hold, 1 refuted",
            "Beside them: 1 corrected claim (1 holds).",
            "printed figures: *",
            "changed: nothing",
            "report: *index.html",
            "error: history: cannot*",
        ]
    )
    assert project.verdicts() == ALL
    assert (project.report / "index.html").exists()


def test_a_report_that_cannot_be_written_still_leaves_its_tally_on_the_terminal(project: Project) -> None:
    (project.report / "index.html").mkdir(parents=True)
    result = project.run("--history=history")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["claims: 1 hold, 1 refuted", "error: *index.html: *directory*"])
    result.stdout.no_fnmatch_line("report: *")
    assert [file.name for file in project.report.iterdir()] == ["index.html"]


def test_shards_of_a_run_say_together_what_the_whole_run_says(project: Project) -> None:
    beats = "from lesson_claims import beats; decide"
    body = f"measure('rows', 3)\nmeasure('third', .33)\n{beats}(beats([1] * 9, [0] * 9))"
    undecided = f"{beats}(*[beats([1, 0], [0, 1]) for _ in range(40)])"
    checks = check(body).replace('decide(that(n != 3, f"At {n} it holds."))', undecided)
    project.write("claims/test_course_day1.py", checks)
    project.run("--report-dir=whole")
    project.run("--report-dir=one", "--claim=course.day1.sizes")
    project.run("--report-dir=other", "--claim=course.day1.always*")
    folder = project.pytester.path
    assert main(["merge", str(folder / "one"), str(folder / "other"), "--output", str(folder / "merged")]) == 0
    whole, one, merged = (read_run(folder / name) for name in ("whole", "one", "merged"))
    assert one.claims["verdict"][0] == merged.claims["verdict"][0] == "holds"
    for name in ("decisions", "errata", "samples", "curves"):
        assert merged.tables()[name].to_csv() == whole.tables()[name].to_csv()
    told = merged.claims.drop(columns="seconds").to_csv()
    assert told == whole.claims.drop(columns="seconds").to_csv()
    assert merged.info["counts"] == whole.info["counts"]
    assert (one.info["partial"], merged.info["partial"], whole.info["partial"]) == (True, False, False)


RENDEZVOUS = """
import os
import pytest
from dataclasses import dataclass
from lesson_claims import claim, refuted, that
from lesson_claims.runs.device import CPU

@dataclass(frozen=True)
class Rendezvous:
    def run(self, seed):
        # Opening one end of a pipe waits until another process opens the other.
        os.close(os.open({pipe!r}, os.O_WRONLY if seed else os.O_RDONLY))
        return {{"process": os.getpid()}}

RENDEZVOUS = Rendezvous()

@claim("course.day1.sizes")
def test_sizes(measure, run_store):
    made = [run.outcome["process"] for run in run_store.runs(RENDEZVOUS, [0, 1], CPU)]
    assert len(set(made)) == 2
    measure("rows", 3)
    measure("third", 1 / 3)
"""


def test_a_worker_without_checks_makes_runs_for_the_only_check(project: Project) -> None:
    pipe = project.pytester.path / "pipe"
    os.mkfifo(pipe)
    kept = CHECKS[CHECKS.index('@claim("course.day1.always")') :]
    project.write("claims/test_course_day1.py", RENDEZVOUS.format(pipe=str(pipe)) + kept)
    result = project.pytester.runpytest_subprocess("-n", "2", "--seeds", "2", "--claim", "*.sizes", timeout=300)
    result.assert_outcomes(passed=1)
    assert project.verdicts()["course.day1.sizes"] == "holds"


@pytest.mark.parametrize("place", ["new", "made before", "elsewhere and new"])
def test_a_directory_option_with_a_space_is_no_path_to_tests(
    project: Project, tmp_path_factory: pytest.TempPathFactory, place: str
) -> None:
    """Workers read the command line when the directory is there already, which pytest takes for a path to tests."""
    base = tmp_path_factory.mktemp("elsewhere") if "elsewhere" in place else project.pytester.path
    store, report = base / "some-store", base / "some-report"
    if place == "made before":
        store.mkdir()
        report.mkdir()
    result = project.run_apart("-n", "1", "--run-store", str(store), "--report-dir", str(report))
    result.assert_outcomes(passed=4, xfailed=1)
    assert (report / "index.html").exists()


def test_an_option_that_another_plugin_has_taken_is_named_in_one_line(project: Project) -> None:
    project.write("other.py", "def pytest_addoption(parser):\n    parser.addoption('--device')\n")
    project.pytester.syspathinsert()
    result = project.run("-p", "other")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    (line,) = [line for line in result.errlines if line.strip()]
    assert line.startswith("ERROR: --device: another plugin has taken this option")


def test_without_the_line_in_conftest_nothing_is_added(project: Project) -> None:
    project.write("conftest.py", "")
    assert "--claim" not in project.run("--help").stdout.str()


OUTSIDE = """
from dataclasses import dataclass

@dataclass(frozen=True)
class Outside:
    def run(self, seed):
        return {"value": seed}
"""


@pytest.mark.parametrize(("folder", "verdict"), [("lessons", "holds"), ("elsewhere", "error")])
def test_a_recipe_outside_the_declared_code_is_refused(project: Project, folder: str, verdict: str) -> None:
    project.write(f"{folder}/outside_{folder}.py", OUTSIDE)
    project.pytester.syspathinsert(project.pytester.path / folder)
    body = f"from outside_{folder} import Outside\nEVIDENCE\nmeasure('rows', 3)\nmeasure('third', .33)"
    checks = check(body).replace("EVIDENCE", "assert len(evidence(Outside())['value']) == 6")
    project.write("claims/test_course_day1.py", checks.replace("(measure, decide):", "(measure, decide, evidence):", 1))
    project.run()
    assert project.verdicts()["course.day1.sizes"] == verdict
    if verdict == "error":
        (row,) = [row for row in project.rows("claims") if row["claim"] == "course.day1.sizes"]
        assert "is outside the lessons' code (lessons); move it there, or add its folder in" in row["evidence"]


def test_a_check_that_needs_torch_says_so_where_it_is_missing(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lesson_claims.plugin.check.torch_is_installed", lambda: False)
    text = "raise ModuleNotFoundError(\"No module named 'torch'\")\n"
    project.write("claims/test_course_day1.py", text + CHECKS)
    result = project.run()
    assert result.ret != 0
    result.stdout.fnmatch_lines(["*test_course_day1.py: needs torch, which is not installed: pip install*"])


def test_words_of_a_claim_select_it(project: Project) -> None:
    project.run("--claim", "THIRD rows")
    assert {name for name, verdict in project.verdicts().items() if verdict != "not run"} == {"course.day1.sizes"}


def test_an_interrupted_worker_is_not_waited_for(project: Project) -> None:
    project.write(
        "claims/test_course_day1.py", check("raise KeyboardInterrupt\nmeasure('rows', 3)\nmeasure('third', 1)")
    )
    result = project.pytester.runpytest_subprocess("-n", "2", timeout=120)
    assert result.ret != 0


def test_what_is_no_decision_is_an_error_of_its_check_alone(project: Project) -> None:
    project.write("claims/test_course_day1.py", check("measure('rows', 3)\nmeasure('third', 1 / 3)\ndecide(True)"))
    result = project.run()
    result.stdout.fnmatch_lines(["*decide takes what a decider returns*not bool*"])
    assert project.verdicts() == {**ALL, "course.day1.sizes": "error"}


@pytest.mark.parametrize("workers", ["0", "2"])
def test_page_runs_that_are_not_there_are_told_in_one_line(project: Project, workers: str) -> None:
    """Alone they are looked for in the check, with workers in a fixture."""
    project.replace("claims/course.toml", "title =", 'page_runs = "nowhere:RUNS"\ntitle =')
    body = "from lessons_of_ours import R\nevidence(R())\nmeasure('rows', 3)\nmeasure('third', .33)"
    checks = check(body).replace("(measure, decide):", "(measure, decide, evidence):", 1)
    project.write("claims/test_course_day1.py", checks)
    project.write("lessons/lessons_of_ours.py", OUTSIDE.replace("Outside", "R"))
    project.replace("pytest.ini", "pythonpath =", "pythonpath = lessons")
    result = project.run_apart("-n", workers, "--seeds", "1")
    assert result.ret == 1
    result.stdout.fnmatch_lines(["*page_runs 'nowhere:RUNS': No module named 'nowhere'*"])
    result.stdout.no_fnmatch_line("*RunStoreError*")

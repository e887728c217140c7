"""What comes back of a run's checks: a part is told apart from the whole, and what is lost is never a success."""

from __future__ import annotations

import pytest
from plugin_project import Project, more_than_half, toy_check

pytest_plugins = ["pytester"]


FIRST, SECOND = "claims/test_course_day1.py", "claims/test_course_day2.py"


def two_days(project: Project, fails: bool = False) -> None:
    """A second part with a claim of its own, so that whole modules can be left out; the first check may fail."""
    project.write(
        "claims/course_day2.toml",
        """
        [part]
        lesson = "course"
        id = "day2"
        name = "Day 2"
        title = "another day"

        [[claim]]
        id = "course.day2.more"
        where = "there"
        says = "There is more."
        kind = "exact"
        expect = "holds"
        """,
    )
    project.write(
        SECOND,
        """
        from lesson_claims import claim, that

        @claim("course.day2.more")
        def test_more(decide):
            decide(that(True, "There is."))
        """,
    )
    if fails:
        project.replace(FIRST, 'measure("rows", 3)', 'measure("rows", 4)')


def caching(project: Project) -> None:
    project.replace("pytest.ini", " -p no:cacheprovider", "")


@pytest.mark.parametrize(
    ("arguments", "fails"),
    [
        (["--deselect", f"{SECOND}::test_more"], False),
        (["--deselect", f"{FIRST}::test_always__corrected[n=2]"], False),
        (["--ignore-glob", "*day2.py"], False),
        (["--ignore", SECOND], False),
        (["-k", "always"], False),
        (["-m", "refuted"], False),
        (["--claim", "course.day2.more"], False),
        ([FIRST], False),
        ([f"{FIRST}::test_always__corrected[n=2]"], False),
        ([f"{FIRST}::test_always__corrected[n=2]", f"{FIRST}::test_sizes", f"{FIRST}::test_always", SECOND], False),
        (["-x"], True),
        (["--maxfail=1"], True),
    ],
)
def test_a_run_of_some_checks_says_that_it_is_partial(project: Project, arguments: list[str], fails: bool) -> None:
    two_days(project, fails)
    result = project.run(*arguments)
    assert result.ret == int(fails)
    assert project.info["partial"] is True
    assert "not run" in project.verdicts().values()


@pytest.mark.parametrize("left_out", ["test_always__corrected[n=2]", "test_always__corrected__again"])
def test_a_claim_in_error_does_not_hide_what_was_left_out(project: Project, left_out: str) -> None:
    """Of its checks, or of the nodes of one."""
    again = '@claim("course.day1.always.corrected")\ndef test_always__corrected__again(decide):\n'
    again += '    decide(that(True, "So."))\n'
    checks = (project.pytester.path / FIRST).read_text(encoding="utf-8") + "\n" + again
    project.write(FIRST, checks.replace("    if n == 4:", "    assert n != 1\n    if n == 4:"))
    project.run()
    assert (project.verdicts()["course.day1.always.corrected"], project.info["partial"]) == ("error", False)
    project.run("--deselect", f"{FIRST}::{left_out}")
    assert (project.verdicts()["course.day1.always.corrected"], project.info["partial"]) == ("error", True)


def test_a_run_of_what_failed_last_is_partial(project: Project) -> None:
    two_days(project, fails=True)
    caching(project)
    project.run("--report-dir=first")
    project.replace(FIRST, 'measure("rows", 4)', 'measure("rows", 3)')
    assert project.run("--lf").ret == 0
    assert project.info["partial"] is True
    assert project.verdicts() == {**dict.fromkeys(project.verdicts(), "not run"), "course.day1.sizes": "holds"}


@pytest.mark.parametrize(
    "arguments", [[], ["claims"], [FIRST, SECOND], ["-k", "test"], ["-m", "claim"], ["--ff"], ["-x"]]
)
def test_a_run_of_all_checks_is_not(project: Project, arguments: list[str]) -> None:
    two_days(project)
    caching(project)
    assert project.run(*arguments).ret == 0
    assert project.info["partial"] is False
    assert "not run" not in project.verdicts().values()


@pytest.mark.parametrize(("arguments", "partial"), [([], False), (["--ignore-glob", "*day2.py"], True)])
def test_workers_tell_what_was_left_out(project: Project, arguments: list[str], partial: bool) -> None:
    two_days(project)
    assert project.run_apart("-n", "2", *arguments).ret == 0
    assert project.info["partial"] is partial


def test_a_module_that_skips_itself_leaves_its_checks_out(project: Project) -> None:
    two_days(project)
    project.replace(
        SECOND, "from lesson_claims import", "import pytest\npytest.importorskip('nowhere')\nfrom lesson_claims import"
    )
    project.run()
    assert project.info["partial"] is True
    assert project.verdicts()["course.day2.more"] == "not run"


# What is lost on its way ---------------------------------------------------------------------------------------------

LOSES = """
{kept}
import pytest

@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_makereport(item, call):
    report = yield
    if call.when == "call" and item.name == "test_sizes":
        report.user_properties = [each for each in report.user_properties if not ({lost})]
    return report
"""

RERUNS = """
{kept}
from _pytest.runner import runtestprotocol

@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item, nextitem):
    '''Run each test twice, as plugins for flaky tests do, and tell of both attempts or of the last.'''
    item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    for attempt in (1, 2):
        item._initrequest()
        for report in runtestprotocol(item, nextitem=nextitem, log=False):
            if attempt == 1 and report.when == "call":
                report.outcome = "rerun"
            if attempt == 2 or {both}:
                item.ihook.pytest_runtest_logreport(report=report)
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    return True
"""


def plugin(project: Project, source: str, **parts: str) -> None:
    conftest = project.pytester.path / "conftest.py"
    kept = conftest.read_text(encoding="utf-8").rstrip() + "\nimport pytest\n"
    conftest.write_text(source.format(kept=kept, **parts), encoding="utf-8")


LOST = {
    "a measurement": 'each[0] == "measurement" and each[1]["figure"] == "third"',
    "every measurement": 'each[0] == "measurement"',
    "a decision": 'each[0] == "decision"',
    "a curve": 'each[0] == "curve"',
    "the count": 'each[0] == "recorded"',
    "all": "True",
}


@pytest.mark.parametrize("reruns", [False, True], ids=["once", "rerun"])
@pytest.mark.parametrize("lost", LOST)
def test_a_record_lost_on_its_way_is_no_success(project: Project, lost: str, reruns: bool) -> None:
    project.replace(FIRST, 'measure("rows", 3)', 'measure.curve("p", [1], [2])\n    measure("rows", 3)')
    plugin(project, LOSES, lost=LOST[lost])
    if reruns:
        plugin(project, RERUNS, both="True")
    result = project.run()
    assert result.ret == 1
    assert project.verdicts()["course.day1.sizes"] == "error"
    assert any("records were made and" in problem for problem in project.info["problems"])
    assert project.info["exit_status"] == 1


@pytest.mark.parametrize("both", ["True", "False"], ids=["both attempts", "the last attempt"])
def test_what_runs_again_is_recorded_once(project: Project, both: str) -> None:
    plugin(project, RERUNS, both=both)
    result = project.run()
    assert result.ret == 0
    assert project.info["problems"] == []
    assert set(project.verdicts().values()) == {"holds", "refuted"}
    again = project.rows("measurements")
    assert [row["figure"] for row in again] == ["rows", "third", "exception"]
    assert len(project.rows("decisions")) == 5, "one of each node"


def test_a_record_lost_between_processes_is_no_success(project: Project) -> None:
    plugin(project, LOSES, lost=LOST["a measurement"])
    assert project.run_apart("-n", "2").ret == 1
    assert project.verdicts()["course.day1.sizes"] == "error"


def test_evidence_of_an_attempt_before_is_not_that_of_the_next(project: Project) -> None:
    """A check that runs again starts at the first look, with evidence of its own."""
    project.toy({"a": "open"}, toy_check("a", more_than_half("+-")))
    plugin(project, RERUNS, both="True")
    assert project.run("--seeds=auto:8").ret == 0
    assert len(project.rows("decisions")) == 1
    assert (project.claim("a")["wins"], project.claim("a")["seeds"]) == ("4", "8")

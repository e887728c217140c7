"""`pytest --strict-claims`: each claim needs a control, whose text stands in the code."""

from __future__ import annotations

import pytest
from plugin_project import Project

pytest_plugins = ["pytester"]

CONTROL = "[[{table}]]\nbreaks = 'there are more'\nin = 'lessons/sizes.py'\nreplace = '{text}'\nwith = '4'\n"


@pytest.fixture
def one(project: Project) -> Project:
    """Return the small project, in which one claim of three has a control."""
    project.write("lessons/sizes.py", "ROWS = 3\n")
    project.replace("claims/course_day1.toml", 'expect = "holds"\n', 'expect = "holds"\n' + control())
    return project


def control(text: str = "3", table: str = "claim.control") -> str:
    return CONTROL.format(table=table, text=text)


def complete(project: Project, text: str) -> Project:
    """Give the other two claims a control."""
    refuted = 'reason = "It does not at 3."\n'
    project.replace("claims/course_day1.toml", refuted, refuted + control())
    corrected = project.pytester.path / "claims" / "course_day1.toml"
    corrected.write_text(corrected.read_text() + control(text, "claim.corrected.control"))
    return project


def test_without_the_option_no_control_is_needed(one: Project) -> None:
    assert one.run("-n", "0").ret == 0


def test_claims_without_a_control_are_named_and_counted(one: Project) -> None:
    result = one.run("-n", "0", "--strict-claims")
    assert result.ret == 4
    (line,) = [line for line in result.stderr.lines if line]
    assert line == (
        "ERROR: --strict-claims: no control shows that the checks of these claims can fail, 2 in all:"
        " course.day1.always, course.day1.always.corrected; write [[claim.control]] for each"
    )


def test_of_many_claims_without_a_control_the_first_are_named(project: Project) -> None:
    names = [f"c{number}" for number in range(7)]
    checks = "".join(f'@claim("course.day1.{name}")\ndef test_{name}(decide): ...\n' for name in names)
    project.toy(dict.fromkeys(names, "holds"), checks)
    result = project.run("-n", "0", "--strict-claims")
    result.stderr.fnmatch_lines(["*, 7 in all: course.day1.c0, * course.day1.c4 and 2 more; write*"])


def test_a_text_that_is_not_there_any_more_is_refused(one: Project) -> None:
    result = complete(one, "7").run("-n", "0", "--strict-claims")
    assert result.ret == 4
    result.stderr.fnmatch_lines(
        ["ERROR: course.day1.always.corrected, control 'there are more': '7' stands 0 times in lessons/sizes.py*"]
    )


def test_where_all_claims_have_one_the_session_starts(one: Project) -> None:
    assert complete(one, "3").run("-n", "0", "--strict-claims").ret == 0

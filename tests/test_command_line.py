"""The command line of reports: every subcommand helps, works, and fails in one line."""

import subprocess
import sys

import pytest
import reports_fixtures

from lesson_claims.command_line import BAD_INPUT, COMMANDS, main
from lesson_claims.results.tables import write_tables


@pytest.mark.parametrize("command", COMMANDS)
def test_every_subcommand_has_help_with_an_example(command, capsys):
    with pytest.raises(SystemExit) as caught:
        main([command, "--help"])
    assert caught.value.code == 0
    assert f"lesson-claims {command}" in capsys.readouterr().out


@pytest.mark.parametrize("arguments", [[], ["nonsense"], ["build"], ["merge", "a"]])
def test_bad_usage_is_2(arguments, capsys):
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    assert caught.value.code == 2
    assert "usage" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["merge", "trend"])
def test_a_subcommand_imports_nothing_that_others_alone_need(command):
    look = f"""
import contextlib, sys
from lesson_claims.command_line import main
with contextlib.suppress(SystemExit):
    main(["{command}", "--help"])
sys.exit(" ".join(sys.modules.keys() & {{"scipy.stats", "matplotlib", "jinja2"}}))
"""
    done = subprocess.run([sys.executable, "-c", look], capture_output=True, text=True, check=False)
    assert done.stderr == "\n"


def test_build_makes_the_pages(tmp_path, capsys):
    write_tables(reports_fixtures.realistic(per_day=1), tmp_path)
    assert main(["build", str(tmp_path)]) == 0
    assert capsys.readouterr().out == f"{tmp_path / 'index.html'}\n"
    assert {"index.html", "summary.md", "errata.md"} <= {file.name for file in tmp_path.iterdir()}


def test_build_says_which_table_the_pages_go_without(tmp_path, capsys):
    write_tables(reports_fixtures.realistic(per_day=1), tmp_path)
    (tmp_path / "errata.csv").unlink()
    assert main(["build", str(tmp_path)]) == 0
    assert capsys.readouterr().err == f"note: {tmp_path} has no errata.csv; the pages go without it\n"


def test_nothing_readable_is_one_line(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "lesson_claims", "build", str(tmp_path / "nowhere")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == BAD_INPUT
    assert done.stderr == (
        f"error: {tmp_path / 'nowhere'}: no such report directory; give the directory that --report-dir named\n"
    )

"""The report of a session, written by its controller."""

from __future__ import annotations

import contextlib

import pytest

from lesson_claims.plugin.collected import Collected
from lesson_claims.plugin.options import Session, report_folder
from lesson_claims.plugin.run_tables import RunTables
from lesson_claims.report.build import write_report
from lesson_claims.report.summary import terminal_lines
from lesson_claims.results.differences import differences
from lesson_claims.results.errors import ReportError
from lesson_claims.results.history import append
from lesson_claims.results.tables import read_run


def write(config: pytest.Config, session: Session, collected: Collected, exit_status: int) -> tuple[list[str], bool]:
    """Write the report, and the run into the history if there is one.

    Returns:
        the lines for the terminal, and whether all went well: no check was lost or in error, none of its records was
        lost on its way, every figure of a decided claim was measured, every setting that a page states was compared
        with a run unless checks were left out, and what was measured could be kept.
    """
    tables = RunTables(config, session, collected)
    lost = collected.lost
    if lost:
        collected.problems.append(f"{len(lost)} checks never came back, the first of them {lost[0]}")
    claims = tables.claim_rows()
    unmeasured = tables.unmeasured(claims)
    collected.problems += [f"{claim}: figure {name!r} was not measured" for claim, name in unmeasured]
    unseen = tables.unseen_settings(claims)
    if unseen:
        run_name, setting = unseen[0]
        collected.problems.append(
            f"{len(unseen)} settings that the pages state were not compared with any run, the first of them"
            f" {setting!r} of {run_name!r}; no check asks for the evidence of that run"
        )
    in_error = any(result.verdict == "error" for result in collected.results.values())
    well = not (lost or unmeasured or unseen or in_error)
    exit_status = exit_status or int(not well)
    complete = not lost and not collected.killed and exit_status in (0, 1)
    run = tables.run(claims, complete=complete, exit_status=exit_status)
    folder = report_folder(config)
    with contextlib.suppress(ReportError):  # no run before, or none that can be read
        run.info["previous"] = differences(read_run(folder), run)
    lines = terminal_lines(run)
    # What was measured is told whatever happens to it, and each error stands beside what went well.
    try:
        write_report(run, folder)
        lines.append(f"report: {folder / 'index.html'}")
        if config.getoption("history") is not None:
            append(config.getoption("history"), run)
    except ReportError as error:
        lines.append(f"error: {error}")
        well = False
    return lines, well

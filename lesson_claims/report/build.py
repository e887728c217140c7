"""The pages of a run: made from its tables and those of drift alone, so that the same tables give the same bytes."""

from pathlib import Path

from lesson_claims.results.files import refuse_directories, write_files
from lesson_claims.results.tables import FILES, Run, read_run, write_tables

PAGES = ("statements.csv", "errata.md", "summary.md", "index.html")


def build(path: str | Path) -> None:
    """Write index.html, summary.md, errata.md and statements.csv of the run in directory `path`.

    Raises ReportError where the tables cannot be read or the pages cannot be written.
    """
    # Only here, so that the tables of a session are safe before the plotting library is even loaded.
    from lesson_claims.report.errata import errata
    from lesson_claims.report.html import html
    from lesson_claims.report.statements import table
    from lesson_claims.report.summary import summary
    from lesson_claims.results.drift_tables import read_drift_tables

    run = read_run(path)
    drift = read_drift_tables(path, run)
    pages = {
        "statements.csv": table(run),
        "errata.md": errata(run),
        "summary.md": summary(run, drift),
        "index.html": html(run, drift),
    }
    write_files(Path(path), pages)


def write_report(run: Run, path: str | Path) -> None:
    """Write tables, `run.json` and then the pages of `run` into directory `path`, made if it is not there.

    The tables are all written under temporary names before the first is renamed, so a full disk leaves an
    earlier report as it was; the pages follow the same way. Raises ReportError where the disk refuses, and before
    anything is written where a directory is in the way of a table or a page.
    """
    refuse_directories(Path(path), (*FILES, *PAGES))
    write_tables(run, path)
    build(path)

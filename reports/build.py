"""The pages of a run, made from its tables alone: the same tables always give the same bytes."""

from pathlib import Path

from reports.errata import errata
from reports.html import html
from reports.summary import summary
from reports.tables import read_run, write_files


def build(path: str | Path) -> None:
    """Write index.html, summary.md and errata.md of the run in directory `path`.

    Raises ReportError where the tables cannot be read or the pages cannot be written.
    """
    run = read_run(path)
    write_files(Path(path), {"errata.md": errata(run), "summary.md": summary(run), "index.html": html(run)})

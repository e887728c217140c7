"""A maintainer's year, told by what the commands really print; `python tests/reports_year.py` puts it into the docs.

The runs are made up: four claims of a course, a night a day for a week and then a night a week. Where `night` would run
pytest, a stand-in writes the run that pytest would have written. All else is the commands' own.
"""

import contextlib
import io
import os
import re
import subprocess
import tempfile
from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

from lesson_claims.command_line import main
from lesson_claims.commands import night as nightly
from lesson_claims.results import acceptance, history
from lesson_claims.results.tables import Run, write_tables

PAGE = Path(__file__).parent.parent / "docs" / "nights.md"
FENCE = re.compile(r"^```text\n\$ .*?^```$", re.MULTILINE | re.DOTALL)

ENVIRONMENT = {"python": "3.12.4", "torch": "2.13.0", "numpy": "2.4.1", "platform": "Linux-6.1-x86_64",
               "processor": "AMD EPYC", "device": "cpu", "numerics": "a1", "workers": 4}  # fmt: skip
OTHER_TORCH = {"torch": "2.14.0", "numerics": "b2"}
OTHER_NUMPY = {**OTHER_TORCH, "numpy": "2.5.0", "numerics": "c3"}
POOLING, CELLS = "course.day3.pooling", "course.day3.cells"


def run(
    day: date,
    seeds_of: date | None = None,
    *,
    pooling: float = 0.0,
    cells: float = 0.0,
    parameters: str = "19266",
    environment: dict[str, str] | None = None,
    name: str = POOLING,
    crash: bool = False,
    **info: Any,
) -> Run:
    """Return the run of a day, with the seeds of that day or another one; `pooling` and `cells` move the accuracies."""
    first = nightly.first_seed(seeds_of or day)
    rng = np.random.default_rng(first)
    samples = {(name, "accuracy"): 0.9 + pooling + 0.02 * rng.standard_normal(20),
               (CELLS, "GRU accuracy"): 0.95 + cells + 0.03 * rng.standard_normal(20)}  # fmt: skip
    verdict = "error" if crash else "holds"
    over_seeds = {"kind": "trained", "wins": 20, "seeds": 20}
    claims = [{"claim": "course.day1.sizes", "kind": "exact"}, {"claim": "course.day2.decay", "kind": "float"},
              {"claim": name, **over_seeds}, {"claim": CELLS, **over_seeds}]  # fmt: skip
    figures = [("course.day1.sizes", "parameters", "exact", parameters, 0.0),
               ("course.day2.decay", "half-life", "float", "0.25", 1e-3),
               *((*key, "trained", "0.91", None) for key in samples)]  # fmt: skip
    start = datetime.combine(day, time(2, 17 if seeds_of is None else 40), UTC)
    return Run.from_rows(
        info={"complete": True, "started": start.isoformat(), "seeds": 20, "options": {"first_seed": first},
              "commit": "3f0c9d1", "environment": {**ENVIRONMENT, **(environment or {})}, **info},
        claims=[{"lesson": "course", "verdict": verdict, **claim} for claim in claims],
        measurements=[] if crash else [{"claim": c, "figure": f, "kind": k, "measured": m, "tolerance": t}
                                       for c, f, k, m, t in figures],
        samples=[] if crash else [{"claim": c, "figure": f, "seed": first + s, "value": round(float(v), 4)}
                                  for (c, f), values in samples.items() for s, v in enumerate(values)],
    )  # fmt: skip


def session(command: str, *runs: Run, day: date | None = None) -> str:
    """Run a command of the year, with the runs that pytest would write meanwhile; return it and what it prints."""
    left = list(runs)

    def pytest(arguments: list[str], **_: Any) -> Any:
        made = left.pop(0)
        options = dict(argument.split("=", 1) for argument in arguments if "=" in argument)
        write_tables(made, Path(options["--report-dir"]))
        if "--history" in options:
            history.append(options["--history"], made)
        return mock.Mock(returncode=0 if "error" not in set(made.claims["verdict"]) else 1)

    said = io.StringIO()
    arguments = [part.strip("'") for part in re.findall(r"'[^']*'|\S+", command)][1:]
    with (
        mock.patch.object(acceptance, "_now", return_value=f"{day}T09:00:00+00:00"),
        mock.patch.object(subprocess, "run", pytest),
        contextlib.redirect_stdout(said),
        contextlib.redirect_stderr(said),
    ):
        status = main(arguments)
    text = re.sub(r"Z-[0-9a-f]{12}", "Z-…", said.getvalue()).rstrip("\n")
    return f"$ {command}\n{text}\n(exit status {status})"


def year() -> Iterator[str]:
    """Yield the sessions of the year, in order; the working directory is theirs."""
    night = "lesson-claims night --history history"
    nights = iter([*(date(2026, 1, day) for day in range(1, 8)),
                   *(date(2026, 1, 7) + timedelta(weeks=week) for week in range(1, 52))])  # fmt: skip

    def until(month: int, day: int, **changes: Any) -> date:
        """Spend quiet nights until a day is reached, and return the night of that day."""
        for each in nights:
            if each >= date(2026, month, day):
                return each
            history.append("history", run(each, **changes))
        raise AssertionError("the year is over")

    yield session(night, run(next(nights)))
    yield session(night, run(next(nights)))
    yield session(night, run(until(1, 7)))
    day = until(3, 11)
    torch = {"pooling": -0.02, "environment": OTHER_TORCH}
    before = day - timedelta(weeks=1)
    yield session(night, run(day, **torch), run(day, before, **torch))
    day = next(nights)
    yield session(night, run(day, **torch))
    accept = "lesson-claims accept --history history reports/latest --reason 'torch 2.14 has another dropout'"
    yield session(accept, day=day)
    yield session(night, run(next(nights), **torch))
    day = until(5, 20, **torch)
    before = day - timedelta(weeks=1)
    bug = {**torch, "cells": -0.08, "parameters": "19300", "environment": OTHER_NUMPY, "commit": "81b6e20"}
    yield session(night, run(day, **bug), run(day, before, **bug))
    mended = {**torch, "environment": OTHER_NUMPY, "commit": "c47a0f5"}
    day = next(nights)
    yield session(night, run(day, **mended), run(day, before, **mended))
    day = until(8, 5, **mended)
    yield session(night, run(day, **mended, name="course.day3.last-output"))
    Path("history/aliases.toml").write_text(f'[claims]\n"{POOLING}" = "course.day3.last-output"\n', encoding="utf-8")
    yield session("lesson-claims drift --history history")
    day = until(10, 7, **mended, name="course.day3.last-output")
    yield session(night, run(day, **mended, name="course.day3.last-output", crash=True))


def told() -> list[str]:
    """Return the sessions of the year."""
    here = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            return list(year())
        finally:
            os.chdir(here)


def in_the_docs() -> list[str]:
    """Return the sessions that the docs show."""
    return [block.removeprefix("```text\n").removesuffix("\n```") for block in
            FENCE.findall(PAGE.read_text(encoding="utf-8"))]  # fmt: skip


if __name__ == "__main__":
    sessions = iter(told())
    page = FENCE.sub(lambda _: f"```text\n{next(sessions)}\n```", PAGE.read_text(encoding="utf-8"))
    PAGE.write_text(page, encoding="utf-8")

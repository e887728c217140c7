"""How long the report of a run takes to build, and how large it is: a full run, 500 trends, and 100,000 measurements.

    python studies/report.py

Wall time and, because a busy machine stretches that, processor time of one process; the first build also pays for
loading the libraries, as `lesson-claims build` does. Where Chromium and playwright are installed, also how long a
browser takes to open the page and to filter its table.
"""

import json
import os
import random
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

import pandas as pd  # noqa: E402
import reports_fixtures  # noqa: E402

from lesson_claims.report.build import build  # noqa: E402
from lesson_claims.results.columns import JUDGEMENTS, TRENDS  # noqa: E402
from lesson_claims.results.csv_files import csv_text  # noqa: E402
from lesson_claims.results.tables import Run, read_run, write_tables  # noqa: E402

FILTER = """() => {
    const field = document.getElementById("filter-text");
    field.value = "figure 3";
    field.dispatchEvent(new Event("input", { bubbles: true }));
    return document.body.offsetHeight;
}"""
CLAIMS = 5_000
MEASUREMENTS = 100_000
NIGHTS = 90


def large(count: int = CLAIMS) -> Run:
    """Make a run of so many claims with 20 measurements each."""
    claims = [
        {
            "claim": f"lesson.day{number % 7 + 1}.claim-{number}",
            "lesson": "lesson",
            "where": f"Day {number % 7 + 1}, place {number}",
            "statement": f"Statement {number} about recurrent networks, as long as statements usually are.",
            "kind": "float",
            "verdict": "refuted" if number % 9 == 0 else "holds",
            "expected": "holds",
            "seconds": 0.1,
        }
        for number in range(count)
    ]
    measurements = [
        {
            "claim": claim["claim"],
            "figure": f"figure {number}",
            "kind": "float",
            "printed": f"{number / 7:.3f}",
            "measured": number / 7,
            "agreement": "outside" if number % 19 == 0 and place % 40 == 0 else "reproduced",
        }
        for place, claim in enumerate(claims)
        for number in range(MEASUREMENTS // CLAIMS)
    ]
    info = {"complete": True, "started": "2026-04-01T00:00:00+00:00"}
    return Run.from_rows(info=info, claims=claims, measurements=measurements)


def add_history(folder: str) -> None:
    """Write beside the tables of a run what drift leaves there: 90 nights of each figure, some on another machine."""
    run = read_run(folder)
    noise = random.Random(0)  # noqa: S311
    days = pd.date_range("2026-01-01", periods=NIGHTS, tz="UTC")
    names = [*(f"{day:%Y%m%dT%H%M%S.%fZ}-0" for day in days[1:]), run.name]
    rows = [
        (claim, figure, name, day.isoformat(), 0.9 + 0.01 * noise.gauss(), 0.8, 1.0, 0.88, 0.92,
         "processor A → B" if night % 3 == 0 else "", "", False)
        for claim, figure in zip(run.measurements["claim"], run.measurements["figure"], strict=True)
        for night, (name, day) in enumerate(zip(names, days, strict=True))
    ]  # fmt: skip
    info = {"schema": 2, "run": names[-1], "compared": NIGHTS - 1, "baseline": rows[0][3], "environment": []}
    trends = pd.DataFrame(rows, columns=[column.name for column in TRENDS])
    Path(folder, "trends.csv").write_text(csv_text(TRENDS, trends), encoding="utf-8")
    findings = pd.DataFrame(columns=[column.name for column in JUDGEMENTS])
    Path(folder, "drift.csv").write_text(csv_text(JUDGEMENTS, findings), encoding="utf-8")
    Path(folder, "drift.json").write_text(json.dumps(info), encoding="utf-8")


def seconds(work: Callable[[], Any]) -> tuple[float, float]:
    """Return the wall time and the processor time of `work`."""
    start, busy = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - start, time.process_time() - busy


def open_and_filter(page_file: Path) -> tuple[float, float]:
    """Return the seconds that Chromium takes to open a page and to filter its table."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        chromium = os.environ.get("CHROMIUM") or shutil.which("chromium")
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page()
        opened, _ = seconds(lambda: page.goto(page_file.as_uri()))
        filtered, _ = seconds(lambda: page.evaluate(FILTER))
        browser.close()
    return opened, filtered


def main() -> None:
    """Measure and print."""
    print(f"Python {sys.version.split()[0]}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
    runs = (("full run", reports_fixtures.realistic(), False), ("500 figures", large(25), False),
            (f"500 figures, {NIGHTS} nights", large(25), True), ("large run", large(), False))  # fmt: skip
    for name, run, compared in runs:
        with tempfile.TemporaryDirectory() as folder:
            written, _ = seconds(partial(write_tables, run, folder))
            if compared:
                add_history(folder)
            built, busy = seconds(partial(build, folder))
            size = (Path(folder) / "index.html").stat().st_size
            print(
                f"{name}: {len(run.claims)} claims, {len(run.measurements)} measurements:"
                f" tables written in {written:.2f} s, pages built in {built:.2f} s"
                f" (processor time {busy:.2f} s), index.html {size / 1e6:.2f} MB"
            )
            if shutil.which("chromium"):
                opened, filtered = open_and_filter(Path(folder) / "index.html")
                print(f"  Chromium opens it in {opened:.2f} s and filters it in {filtered:.2f} s")


if __name__ == "__main__":
    main()

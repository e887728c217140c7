"""How long the report of a run takes to build, and how large it is: a full run, and 100,000 measurements.

    python benchmarks/report.py

Wall time and, because a busy machine stretches that, processor time of one process; the first build also pays for
loading the libraries, as `python -m reports build` does. Where Chromium and playwright are installed, also how long a
browser takes to open the page and to filter its table.
"""

import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

import reports_fixtures  # noqa: E402

from reports.build import build  # noqa: E402
from reports.tables import Run, write_tables  # noqa: E402

FILTER = """() => {
    const field = document.getElementById("filter-text");
    field.value = "figure 3";
    field.dispatchEvent(new Event("input", { bubbles: true }));
    return document.body.offsetHeight;
}"""
CLAIMS = 5_000
MEASUREMENTS = 100_000


def large() -> Run:
    """Make a run of 5,000 claims with 20 measurements each."""
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
        for number in range(CLAIMS)
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
    return Run.from_rows(info={"complete": True}, claims=claims, measurements=measurements)


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
    for name, run in (("full run", reports_fixtures.realistic()), ("large run", large())):
        with tempfile.TemporaryDirectory() as folder:
            written, _ = seconds(lambda run=run, folder=folder: write_tables(run, folder))
            built, busy = seconds(lambda folder=folder: build(folder))
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

"""How long the pages' recipes take the plain way, and how long the whole suite takes our way, in one go.

    python studies/pages.py

The plain way: every training run of the pages one after another in one process, with a `DataLoader`, the library's
default number of threads, and nothing shared between days. Our way: `pytest -n auto --seeds 1`, all claims of both
lessons, report included, start of the processes included. Also compares the accuracies of both: they must be equal
wherever the same number of threads computes them, so runs that differ are made again the plain way with one thread.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from unittest.mock import patch

ROOT = Path(__file__).parent.parent


def plain_way(names: list[str]) -> dict[str, float]:
    """Make some of the pages' runs the plain way; returns the accuracy of each run that has one."""
    from lesson_claims.runs.device import CPU
    from lesson_claims.runs.recipe import run_together
    from lessons.recipes import PAGE_RUNS
    from studies.plain import train_each_plainly, train_plainly

    accuracies = {}
    with (
        patch("lessons.recipes.train_together", train_each_plainly),
        patch("lessons.clipping.train", train_plainly),
        patch("lessons.next_element.train", train_plainly),
    ):
        for name in names or PAGE_RUNS:
            ((_, outcome),) = run_together([PAGE_RUNS[name]], 0, CPU)
            accuracies[name] = outcome.get("accuracy", outcome.get("accuracies", [None])[-1])
    return accuracies


def training_seconds(store: Path) -> float:
    """Sum the seconds that the runs of a store took, each in a process of one thread."""
    return sum(float(json.loads(path.read_text(encoding="utf-8"))["seconds"]) for path in store.glob("*/*.json"))


def our_accuracies(store: Path) -> dict[str, float]:
    """The accuracies of the pages' runs in a store; a run that no check needed is made now, outside of the timing."""
    from lesson_claims.runs.device import CPU
    from lesson_claims.runs.store import RunStore
    from lessons.recipes import PAGE_RUNS

    runs = RunStore(store, declared=frozenset({"lessons"}))
    outcomes = {name: runs.runs(recipe, [0], CPU)[0].outcome for name, recipe in PAGE_RUNS.items()}
    return {name: outcome.get("accuracy", outcome.get("accuracies", [None])[-1]) for name, outcome in outcomes.items()}


def main() -> None:
    """Time both ways and print them with their ratio."""
    if sys.argv[1:2] == ["--plain"]:
        print(json.dumps(plain_way(sys.argv[2:])))
        return
    plain = [sys.executable, __file__, "--plain"]
    started = time.perf_counter()
    accuracies = json.loads(subprocess.run(plain, cwd=ROOT, check=True, capture_output=True, text=True).stdout)
    plain_seconds = time.perf_counter() - started
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder, "runs")
        command = [sys.executable, "-m", "pytest", "-n", "auto", "--seeds", "1", "-q"]
        started = time.perf_counter()
        ours = subprocess.run(
            [*command, f"--run-store={store}", f"--report-dir={folder}/report"],
            cwd=ROOT,
            check=False,
            capture_output=True,
            text=True,
        )
        our_seconds = time.perf_counter() - started
        least_seconds = training_seconds(store) / (os.cpu_count() or 1)
        ours_again = our_accuracies(store)
        different = [name for name, accuracy in accuracies.items() if accuracy != ours_again[name]]
    print(f"plain way: {plain_seconds:6.1f} s for {len(accuracies)} training runs")
    print(f"our way:   {our_seconds:6.1f} s for all claims (pytest exited with {ours.returncode})")
    print(f"           {least_seconds:6.1f} s of these if nothing but the training took time and no core ever waited")
    print(f"ratio:     {our_seconds / plain_seconds:6.2f}, at best {least_seconds / plain_seconds:.2f}")
    if different:
        one_thread = subprocess.run(
            [*plain, *different],
            cwd=ROOT,
            env={**os.environ, "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"},
            check=True,
            capture_output=True,
            text=True,
        )
        print(f"seed-0 accuracies that the plain way's threads move: {', '.join(different)}")
        accuracies |= json.loads(one_thread.stdout)
        different = [name for name in different if accuracies[name] != ours_again[name]]
    print("seed-0 accuracies with one thread:", "equal" if not different else f"different: {', '.join(different)}")


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    main()

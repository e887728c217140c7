"""How long a history takes to write and to read, and how much memory; and two writers at once.

python studies/history_reading.py --runs 3650 --figures 500
"""

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import numpy as np

from lesson_claims.results.history import append, device_kind, load
from lesson_claims.results.tables import Run

CLAIMS, SAMPLED, SEEDS = 90, 55, 20
ENVIRONMENT = {"device": "cpu", "platform": "x86_64", "torch": "2.13.0", "numerics": "aa"}


def synthetic(number: int, figures: int) -> Run:
    """Return a run of `figures` figures whose every number is new, which is the worst case for storage."""
    rng = np.random.default_rng(number)
    claims = [f"week07.day{i % 7 + 1}.claim-number-{i}" for i in range(CLAIMS)]
    names = [(claims[i % CLAIMS], f"figure number {i}") for i in range(figures)]
    return Run.from_rows(
        {"complete": True, "started": (datetime(2020, 1, 1, tzinfo=UTC) + timedelta(days=number)).isoformat(),
         "seeds": SEEDS, "environment": ENVIRONMENT},
        claims=[{"claim": claim, "lesson": "week07", "kind": "exact", "verdict": "holds"} for claim in claims],
        measurements=[{"claim": claim, "figure": figure, "kind": "trained", "measured": rng.random(),
                       "tolerance": 1e-4} for claim, figure in names],
        samples=[{"claim": claim, "figure": figure, "seed": number * SEEDS + seed, "value": rng.random()}
                 for claim, figure in names[:SAMPLED] for seed in range(SEEDS)],
    )  # fmt: skip


def main() -> None:
    """Write with two processes at once, read, and print what it took."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--runs", type=int, default=3650)
    parser.add_argument("--figures", type=int, default=500)
    parser.add_argument("--write", nargs=3, help=argparse.SUPPRESS)  # folder, first, last: one writer
    args = parser.parse_args()
    if args.write:
        for number in range(int(args.write[1]), int(args.write[2])):
            append(args.write[0], synthetic(number, args.figures))
        return
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, __file__, "--figures", str(args.figures), "--write", folder]
        bounds = [0, args.runs // 2, args.runs]
        start = time.perf_counter()
        writers = [subprocess.Popen([*command, str(a), str(b)]) for a, b in pairwise(bounds)]
        if any(writer.wait() for writer in writers):
            sys.exit("a writer failed")
        print(f"two writers at once, {args.runs} runs of {args.figures} figures: {time.perf_counter() - start:.1f} s")
        start = time.perf_counter()
        history = load(folder, device_kind(ENVIRONMENT))
        seconds = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"read {len(history.runs)} runs, {len(history.problems)} unreadable: {seconds:.1f} s, {peak:.0f} MiB at most")


if __name__ == "__main__":
    main()

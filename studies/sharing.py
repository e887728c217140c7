"""What the sharing of work between workers gives: the whole suite with and without it, in one go.

    python studies/sharing.py --seeds 5

Each way starts from an empty store. The order is with, without; run it on an idle machine.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parent.parent


def seconds(seeds: int, *options: str) -> float:
    """Return the seconds that a session over all claims takes, as a whole command."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "pytest", "-n", "auto", "-q", "--seeds", str(seeds), *options]
        started = time.perf_counter()
        subprocess.run([*command, f"--report-dir={folder}"], cwd=ROOT, check=False, capture_output=True)
        return time.perf_counter() - started


def main() -> None:
    """Time both ways and print them with their ratio."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seeds", type=int, default=5, metavar="N")
    args = parser.parse_args()
    shared, alone = seconds(args.seeds), seconds(args.seeds, "-p", "studies.without_sharing")
    print(f"with sharing: {shared:.1f} s; without: {alone:.1f} s; sharing saves {1 - shared / alone:.1%}")


if __name__ == "__main__":
    main()

"""Platform spread: the pages' own seed-0 runs under the instruction sets that this processor can be held to.

Each setting is a fresh process, because the libraries read their limits once, when they start:

    python -m claims.platforms STORE "week07 day 3, lstm"

What this can imitate: an older x86-64 processor, whose libraries choose other kernels and so sum in another order; and
another number of threads. What it cannot: another library version, another kind of processor (ARM, a GPU), or a newer
processor than this one; the spread over all machines is at least the one that is seen here.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from claims.run_store import RunStore, RunStoreError

PLATFORMS: Mapping[str, Mapping[str, str]] = {
    "as this machine is": {},
    "two threads": {"LESSON_CLAIMS_RUN_THREADS": "2"},
    "ATen without vectors": {"ATEN_CPU_CAPABILITY": "default"},
    "ATen AVX2": {"ATEN_CPU_CAPABILITY": "avx2"},
    "MKL SSE4.2": {"MKL_ENABLE_INSTRUCTIONS": "SSE4_2"},
    "MKL AVX2": {"MKL_ENABLE_INSTRUCTIONS": "AVX2"},
    "oneDNN SSE4.1": {"ONEDNN_MAX_CPU_ISA": "SSE41"},
    "all at their lowest": {
        "ATEN_CPU_CAPABILITY": "default",
        "MKL_ENABLE_INSTRUCTIONS": "SSE4_2",
        "ONEDNN_MAX_CPU_ISA": "SSE41",
    },
}
"""What each platform sets in the environment. A limit above what the processor has is ignored by the libraries."""


def outcomes(store: RunStore, page_run: str) -> dict[str, dict[str, Any]]:
    """Return the outcome of a page's run (seed 0, on the CPU) on every platform; runs are kept in the store.

    Args:
        store: shared with every other process.
        page_run: a name in `lessons.recipes.PAGE_RUNS`.

    Raises:
        RunStoreError: if a process fails.
    """
    result = {}
    for name, limits in PLATFORMS.items():
        command = [sys.executable, "-m", "claims.platforms", str(store.folder), page_run]
        environment = {key: value for key, value in os.environ.items() if key not in PLATFORMS["all at their lowest"]}
        process = subprocess.run(  # noqa: S603  this module, again
            command,
            env={**environment, **limits},
            cwd=Path(__file__).parent.parent,
            capture_output=True,
            text=True,
            check=False,
        )
        if process.returncode != 0:
            last = next(reversed(process.stderr.strip().splitlines()), "it said nothing")
            raise RunStoreError(f"platform {name!r}, {page_run}: the process ended with {process.returncode}: {last}")
        result[name] = json.loads(process.stdout)
    return result


def main(arguments: list[str]) -> None:
    """Print the outcome of one page's run as JSON."""
    import torch

    from lessons.recipes import PAGE_RUNS

    folder, page_run = arguments
    (run,) = RunStore(Path(folder)).runs(PAGE_RUNS[page_run], [0], torch.device("cpu"))
    print(json.dumps(run.outcome))


if __name__ == "__main__":
    main(sys.argv[1:])

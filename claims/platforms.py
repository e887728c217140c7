"""Platform spread: the pages' own seed-0 runs under the instruction sets that this processor can be held to.

Each setting is a fresh process, because the libraries read their limits once, when they start:

    python -m claims.platforms STORE "week07 day 3, lstm" SEED

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
from dataclasses import dataclass, field
from pathlib import Path

import torch

from claims.run_store import RunStore, RunStoreError
from lessons.recipes import PAGE_RUNS, Outcome, Recipe

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


@dataclass(frozen=True)
class OnPlatform:
    """A recipe that runs another one, of a page, on one platform: in a fresh process, with what that sets.

    The store keeps its run under the numerics of the process that asks, so that a kept one is found without starting
    the process that alone can tell the platform's own numerics. That process keeps the run under those as well.
    """

    recipe: Recipe
    platform: str
    page_run: str = field(compare=False)
    store: Path = field(compare=False)

    def run(self, seed: int, device: torch.device) -> Outcome:
        """Return the outcome of the recipe with this seed.

        Raises:
            RunStoreError: if the process fails.
        """
        return _run_apart(PLATFORMS[self.platform], self.platform, self.page_run, self.store, seed)


def _run_apart(limits: Mapping[str, str], platform: str, page_run: str, store: Path, seed: int) -> Outcome:
    set_by_any = {name for each in PLATFORMS.values() for name in each}
    environment = {name: value for name, value in os.environ.items() if name not in set_by_any}
    process = subprocess.run(  # noqa: S603  this module, again
        [sys.executable, "-m", "claims.platforms", str(store.absolute()), page_run, str(seed)],
        env={**environment, **limits},
        cwd=Path(__file__).parent.parent,
        capture_output=True,
        text=True,
        check=False,
    )
    if process.returncode != 0:
        last = next(reversed(process.stderr.strip().splitlines()), "it said nothing")
        raise RunStoreError(f"platform {platform!r}, {page_run}: the process ended with {process.returncode}: {last}")
    outcome: Outcome = json.loads(process.stdout)
    return outcome


def outcomes(store: RunStore, page_run: str) -> dict[str, Outcome]:
    """Return the outcome of a page's run (seed 0, on the CPU) on every platform; runs are kept in the store.

    Args:
        store: shared with every other process, which takes its part of the work.
        page_run: a name in `lessons.recipes.PAGE_RUNS`.

    Raises:
        RunStoreError: if a process fails.
    """
    wanted = [(OnPlatform(PAGE_RUNS[page_run], name, page_run, store.folder), 0) for name in PLATFORMS]
    runs = store.all_of(wanted, torch.device("cpu"))
    return {name: run.outcome for name, run in zip(PLATFORMS, runs, strict=True)}


def main(arguments: list[str]) -> None:
    """Print the outcome of one page's run as JSON."""
    folder, page_run, seed = arguments
    (run,) = RunStore(Path(folder)).runs(PAGE_RUNS[page_run], [int(seed)], torch.device("cpu"))
    print(json.dumps(run.outcome))


if __name__ == "__main__":
    main(sys.argv[1:])

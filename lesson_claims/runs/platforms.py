"""Platform spread: the page's own runs under the instruction sets that this processor can be held to.

Each setting is a fresh process, because the libraries read their limits once, when they start:

    python -m lesson_claims.runs.platforms STORE "lessons.recipes:PAGE_RUNS" "day 3, lstm" SEED

What this can imitate: an older x86-64 processor, whose libraries choose other kernels and so sum in another order; and
another number of threads. What it cannot: another library version, another kind of processor (ARM, a GPU), or a newer
processor than this one; the spread over all machines is at least the one that is seen here.
"""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from lesson_claims.runs.device import CPU
from lesson_claims.runs.numerics import THREADS_VARIABLE
from lesson_claims.runs.recipe import Outcome, Recipe
from lesson_claims.runs.store import RunStore, RunStoreError

PLATFORMS: Mapping[str, Mapping[str, str]] = {
    "as this machine is": {},
    "two threads": {THREADS_VARIABLE: "2"},
    "ATen without vectors": {"ATEN_CPU_CAPABILITY": "default"},
    "MKL SSE4.2": {"MKL_ENABLE_INSTRUCTIONS": "SSE4_2"},
    "oneDNN SSE4.1": {"ONEDNN_MAX_CPU_ISA": "SSE41"},
    "oneDNN AVX2": {"ONEDNN_MAX_CPU_ISA": "AVX2"},
    "all at AVX2": {
        "ATEN_CPU_CAPABILITY": "avx2",
        "MKL_ENABLE_INSTRUCTIONS": "AVX2",
        "ONEDNN_MAX_CPU_ISA": "AVX2",
    },
    "all at their lowest": {
        "ATEN_CPU_CAPABILITY": "default",
        "MKL_ENABLE_INSTRUCTIONS": "SSE4_2",
        "ONEDNN_MAX_CPU_ISA": "SSE41",
    },
}
"""What each platform sets in the environment. A limit above what the processor has is ignored by the libraries."""


def page_runs(where: str) -> Mapping[str, Recipe]:
    """Return the recipes that a page itself runs, by name.

    Args:
        where: "module:NAME" of the mapping, as the lesson's `page_runs` says.

    Raises:
        RunStoreError: if there is no such mapping.
    """
    module, _, name = where.partition(":")
    try:
        found = getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError) as error:
        raise RunStoreError(f"page_runs {where!r}: {error}; it names a mapping from names to recipes") from error
    if not isinstance(found, Mapping):
        raise RunStoreError(f"page_runs {where!r}: is a {type(found).__name__}, not a mapping from names to recipes")
    return found


@dataclass(frozen=True)
class PageRun:
    """A run that a page makes: its recipe, its seed, and where a fresh process finds the recipe.

    Attributes:
        recipe: what is run.
        seed: the page's.
        where: "module:NAME" of the mapping that has the recipe.
        name: its name there.
    """

    recipe: Recipe
    seed: int
    where: str
    name: str


@dataclass(frozen=True)
class OnPlatform:
    """A recipe that runs another one, of a page, on one platform: in a fresh process, with what that sets.

    The store keeps its run under the numerics of the process that asks, so that a kept one is found without starting
    the process that alone can tell the platform's own numerics. That process keeps the run under those as well.
    """

    recipe: Recipe
    platform: str
    page_run: PageRun = field(compare=False)
    store: Path = field(compare=False)

    def run(self, seed: int) -> Outcome:
        """Return the outcome of the recipe with this seed.

        Raises:
            RunStoreError: if the process fails.
        """
        return _run_apart(PLATFORMS[self.platform], self.platform, self.page_run, self.store, seed)


def _run_apart(limits: Mapping[str, str], platform: str, page_run: PageRun, store: Path, seed: int) -> Outcome:
    set_by_any = {name for each in PLATFORMS.values() for name in each}
    environment = {name: value for name, value in os.environ.items() if name not in set_by_any}
    # The fresh process finds the lesson's code where this one does.
    environment["PYTHONPATH"] = os.pathsep.join(path or str(Path.cwd()) for path in sys.path)
    command = [sys.executable, "-m", "lesson_claims.runs.platforms"]
    process = subprocess.run(  # noqa: S603  this module, again
        [*command, str(store.absolute()), page_run.where, page_run.name, str(seed)],
        env={**environment, **limits},
        capture_output=True,
        text=True,
        check=False,
    )
    if process.returncode != 0:
        last = next(reversed(process.stderr.strip().splitlines()), "it said nothing")
        raise RunStoreError(
            f"platform {platform!r}, {page_run.name}: the process ended with {process.returncode}: {last}"
        )
    outcome: Outcome = json.loads(process.stdout)
    return outcome


def outcomes(store: RunStore, page_run: PageRun) -> dict[str, Outcome]:
    """Return the outcome of a page's run, on the processor, on every platform; runs are kept in the store.

    Args:
        store: shared with every other process, which takes its part of the work.
        page_run: what the page runs.

    Raises:
        RunStoreError: if a process fails.
    """
    wanted = [(OnPlatform(page_run.recipe, name, page_run, store.folder), page_run.seed) for name in PLATFORMS]
    runs = store.all_of(wanted, CPU)
    return {name: run.outcome for name, run in zip(PLATFORMS, runs, strict=True)}


def main(arguments: list[str]) -> None:
    """Print the outcome of one page's run as JSON."""
    folder, where, name, seed = arguments
    (run,) = RunStore(Path(folder)).runs(page_runs(where)[name], [int(seed)], CPU)
    print(json.dumps(run.outcome))


if __name__ == "__main__":
    main(sys.argv[1:])

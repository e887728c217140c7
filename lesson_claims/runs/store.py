"""A store of runs that any number of processes share: each run is made once, whoever asks first.

A run's file is named by a hash of all that determines it: the recipe's content, the code it runs, the seed, the device
and the numerics. It is JSON, written to a temporary name and renamed; while a process makes a run it holds a lock that
the system drops when the process ends, however it ends. A file that cannot be read, or that is not what its name says,
is set aside and the run made again.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
import os
import tempfile
import time
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from lesson_claims.runs.device import CPU, Device
from lesson_claims.runs.fingerprint import code_of, content
from lesson_claims.runs.numerics import numerics, run_numerics
from lesson_claims.runs.recipe import Outcome, Recipe, run_together, start_together, takes_device
from lesson_claims.runs.requests import Requests

SCHEMA = 2
LARGEST_SEED = 2**31 - 1
"""Recipes double a seed to tell training from validation data; all such seeds fit what every generator takes."""

POLL_SECONDS = 0.05


class RunStoreError(RuntimeError):
    """A run could not be made or kept; one line says which, why and what to do."""


class DamagedRunWarning(UserWarning):
    """A file of the store was set aside."""


@dataclass(frozen=True)
class Run:
    """A run: its seed, what it measured, and how many seconds it took where it was made.

    Of runs that share their first steps, only the one that was finished first counts these in its seconds.
    """

    seed: int
    outcome: Outcome
    seconds: float


class RunStore:
    """The runs in one folder, made where they are missing."""

    def __init__(
        self,
        folder: Path,
        ahead: Iterable[tuple[Recipe, int]] = (),
        known: Iterable[tuple[Recipe, int]] = (),
        requests: Requests | None = None,
        declared: frozenset[str] = frozenset(),
    ) -> None:
        """Open a store, and make its folder if need be.

        Args:
            folder: where the runs are.
            ahead: recipes with a seed each, whose runs will be needed sooner or later, by this process or another, if
                all goes well; made in this order where a process would otherwise wait.
            known: recipes with a seed each that other processes may ask for.
            requests: where this process asks others for runs, and they ask it; None if it is alone.
            declared: names of the packages that are the project's own code, also where they are installed.

        Raises:
            RunStoreError: if the folder cannot be written.
        """
        self.folder = folder
        self._ahead = list(ahead)
        self._known = list(known)
        self._by_key: dict[str, tuple[Recipe, int, dict[str, Any]]] | None = None
        self._requests = requests
        self._declared = declared
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=folder):
                pass
        except OSError as error:
            raise RunStoreError(f"run store {folder}: cannot be written: {error.strerror}; give another") from error

    def runs(self, recipe: Recipe, seeds: Sequence[int], device: Device) -> list[Run]:
        """Return the runs of a recipe for all seeds, in their order, as `all_of` does."""
        return self.all_of([(recipe, seed) for seed in seeds], device)

    def all_of(self, wanted: Sequence[tuple[Recipe, int]], device: Device) -> list[Run]:
        """Return the runs of recipes with a seed each, in their order, making those that are missing.

        Processes that need the same missing runs share them out: each makes the next run that nobody is making, and
        where all that is missing is being made elsewhere, one that is needed later or that another process asks for.

        Raises:
            RunStoreError: if a seed is out of range, a run gives NaN or the store cannot be written.
        """
        for _, seed in wanted:
            if not 0 <= seed <= LARGEST_SEED:
                raise RunStoreError(f"seed {seed} is outside 0..{LARGEST_SEED}; choose fewer or other seeds")
        determinants = {(recipe, seed): self._determinants(recipe, seed, device) for recipe, seed in wanted}
        found: dict[tuple[Recipe, int], Run] = {}
        with self._requesting(determinants.values()):
            while missing := [each for each in determinants if each not in found]:
                idle = True
                for each in missing:
                    run = self._read(determinants[each])
                    if run is None:
                        run = self._make(*each, device, determinants[each], needed=[*missing, *self._ahead])
                    if run is not None:
                        found[each], idle = run, False
                if idle and not self.make_ahead(device) and not self.make_for_others(device):
                    time.sleep(POLL_SECONDS)
        return [found[each] for each in wanted]

    def make_ahead(self, device: Device) -> bool:
        """Make one of the runs that will be needed and that nobody is making; say whether there was one.

        What goes wrong with it is for the check that needs the run to say.
        """
        being_made = []
        made = False
        while self._ahead and not made:
            recipe, seed = self._ahead.pop(0)
            determinants = self._determinants(recipe, seed, device)
            if not self._path(determinants).exists():
                with contextlib.suppress(Exception):  # whatever it is, it is no fault of the check that waits here
                    made = self._make(recipe, seed, device, determinants, needed=self._ahead) is not None
                    if not made:
                        being_made.append((recipe, seed))  # its process may yet die
        self._ahead = being_made + self._ahead
        return made

    def make_for_others(self, device: Device) -> bool:
        """Make one of the runs that another process asks for and that nobody is making; say whether there was one."""
        asked = self._requests.asked() if self._requests is not None else []
        if not asked:
            return False
        if self._by_key is None:
            self._by_key = {}
            for recipe, seed in self._known:
                determinants = self._determinants(recipe, seed, device)
                self._by_key[self._path(determinants).stem] = (recipe, seed, determinants)
        needed = {key: self._by_key[key] for key in asked if key in self._by_key}
        for key, (recipe, seed, determinants) in needed.items():
            if not self._path(determinants).exists():
                try:
                    with_it = [(other, its_seed) for other, its_seed, _ in needed.values()]
                    if self._make(recipe, seed, device, determinants, needed=with_it) is not None:
                        return True
                except Exception:  # whatever it is, the process that asks will say it; to have tried once is enough
                    self._by_key.pop(key)
        return False

    def help_until_the_others_are_done(self, device: Device) -> None:
        """Make what the others need as long as one of this session is at work, and not a run longer."""
        if self._requests is not None:
            self._requests.stop()
            while self._requests.others_at_work():
                if not self.make_ahead(device) and not self.make_for_others(device):
                    time.sleep(POLL_SECONDS)

    def _requesting(self, determinants: Iterable[dict[str, Any]]) -> contextlib.AbstractContextManager[None]:
        """Ask the other processes for runs, if more than one is missing: one is made here as fast as elsewhere."""
        missing = [path.stem for path in map(self._path, determinants) if not path.exists()]
        return self._requests.ask(missing) if self._requests and len(missing) > 1 else contextlib.nullcontext()

    def _determinants(self, recipe: Recipe, seed: int, device: Device) -> dict[str, Any]:
        code = code_of(recipe, self._declared)
        on = device if takes_device(recipe) else CPU
        return {
            "schema": SCHEMA,
            "recipe": content(recipe),
            "code": code.digest,
            "seed": seed,
            "device": on.type,
            "numerics": numerics(on, code.libraries),
        }

    def _path(self, determinants: dict[str, Any]) -> Path:
        key = hashlib.sha256(json.dumps(determinants, sort_keys=True).encode()).hexdigest()
        return self.folder / key[:2] / f"{key}.json"

    def _read(self, determinants: dict[str, Any]) -> Run | None:
        path = self._path(determinants)
        try:
            kept = json.loads(path.read_text(encoding="utf-8"))
            if {name: kept[name] for name in determinants} != determinants:
                raise ValueError("it is another run than its name says")
            return Run(int(kept["seed"]), dict(kept["outcome"]), float(kept["seconds"]))
        except FileNotFoundError:
            return None
        except (ValueError, KeyError, TypeError, OSError) as error:
            aside = path.with_suffix(".damaged")
            warnings.warn(
                f"run store: {path} cannot be used ({type(error).__name__}: {error}); "
                f"set aside as {aside.name}, the run is made again",
                DamagedRunWarning,
                stacklevel=3,
            )
            with contextlib.suppress(FileNotFoundError):  # another process may have set it aside
                path.replace(aside)
            return None

    def _make(
        self,
        recipe: Recipe,
        seed: int,
        device: Device,
        determinants: dict[str, Any],
        needed: Iterable[tuple[Recipe, int]],
    ) -> Run | None:
        """Make and keep a run; None if another process is making it.

        Those of the needed runs that take the same first steps are made with it, unless another process is at them;
        whoever needs the one waits for the others as well.
        """
        with contextlib.ExitStack() as locks:
            if not self._lock(determinants, locks):
                return None
            if (run := self._read(determinants)) is not None:
                return run
            partners: dict[Recipe, dict[str, Any]] = {}
            for other in {other for other, its_seed in needed if its_seed == seed} - {recipe}:
                if start_together(recipe, other):
                    of_other = self._determinants(other, seed, device)
                    if not self._path(of_other).exists() and self._lock(of_other, locks):
                        partners[other] = of_other
            if partners:
                try:
                    return self._run_and_keep({recipe: determinants, **partners}, seed, device)
                except RunStoreError:  # of this run itself, which would only fail again
                    raise
                except Exception:  # a partner's fault, perhaps: the run alone will tell, if it was not made before
                    if (run := self._read(determinants)) is not None:
                        return run
            return self._run_and_keep({recipe: determinants}, seed, device)

    def _run_and_keep(self, recipes: dict[Recipe, dict[str, Any]], seed: int, device: Device) -> Run:
        """Make the runs of recipes that start together, with their determinants; return the first one's."""
        runs: dict[Recipe, Run] = {}
        refused: dict[Recipe, RunStoreError] = {}
        started = time.perf_counter()
        with run_numerics():
            for recipe, outcome in run_together(list(recipes), seed, device):
                runs[recipe] = Run(seed, outcome, time.perf_counter() - started)
                try:
                    self._write(recipes[recipe], runs[recipe])
                except RunStoreError as error:  # it costs that run alone
                    refused[recipe] = error
                started = time.perf_counter()
        first = next(iter(recipes))
        if first in refused:
            raise refused[first]
        return runs[first]

    def _lock(self, determinants: dict[str, Any], locks: contextlib.ExitStack) -> bool:
        """Hold a run's lock until `locks` ends, unless another process has it."""
        path = self._path(determinants)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            locks.enter_context(FileLock(path.with_suffix(".lock"), blocking=False))
        except Timeout:
            return False
        except OSError as error:
            raise self._unwritable(error) from error
        return True

    def _write(self, determinants: dict[str, Any], run: Run) -> None:
        wrong = _not_finite(run.outcome)
        if wrong:
            raise RunStoreError(
                f"run {determinants['recipe']['is']} with seed {run.seed}: {wrong} is not a finite number; "
                "find out why the training broke down, or let the recipe say so in words"
            )
        text = json.dumps({**determinants, "outcome": run.outcome, "seconds": run.seconds}, allow_nan=False)
        path = self._path(determinants)
        temporary = path.with_suffix(f".{os.getpid()}.tmp")
        try:
            temporary.write_text(text, encoding="utf-8")
            temporary.replace(path)
        except OSError as error:
            temporary.unlink(missing_ok=True)
            raise self._unwritable(error) from error

    def _unwritable(self, error: OSError) -> RunStoreError:
        return RunStoreError(
            f"run store {self.folder}: cannot be written: {error.strerror}; free some space or give another"
        )


def _not_finite(value: Any, name: str = "outcome") -> str | None:
    """Return the name of the first number that is NaN or infinite."""
    if isinstance(value, float) and not math.isfinite(value):
        return name
    if isinstance(value, dict):
        return next(filter(None, (_not_finite(item, str(key)) for key, item in value.items())), None)
    if isinstance(value, list):
        return next(filter(None, (_not_finite(item, f"{name}[{i}]") for i, item in enumerate(value))), None)
    return None

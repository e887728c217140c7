"""Runs trials, several at once, each in a process that is forked where the libraries are loaded already."""

from __future__ import annotations

import contextlib
import json
import multiprocessing
import os
import shutil
import signal
import tempfile
import time
from collections import deque
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass
from multiprocessing import connection, forkserver
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from typing import Any

from lesson_claims.controls import edited_files
from lesson_claims.project import Project
from lesson_claims.registry import Registry
from lesson_claims.sabotage import child
from lesson_claims.sabotage.copies import copy_project
from lesson_claims.sabotage.libraries import libraries
from lesson_claims.sabotage.outcomes import Decided, Result, found
from lesson_claims.sabotage.trials import Trial

ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
"""Variables that hold numerical libraries to a number of threads; several trials share the cores."""


@dataclass(frozen=True)
class _Running:
    trial: Trial
    process: ForkServerProcess
    folder: Path
    started: float


def run_trials(
    project: Project, registry: Registry, trials: Sequence[Trial], *, jobs: int, minutes: float, store: Path | None
) -> Generator[Result, None, None]:
    """Run trials and yield what became of each, as it ends; closed early, it ends all processes.

    Args:
        project: which is copied for each trial.
        registry: what its pages say.
        trials: what to run.
        jobs: how many at once.
        minutes: after which a trial is stopped; a sabotage may make a loop endless.
        store: of runs, for all trials that edit the code; None for one that goes with the rest.

    Raises:
        ControlError: if a text to replace does not stand exactly once in its file.
        OSError: if a copy cannot be made.
    """
    waiting, running = deque(trials), list[_Running]()
    with tempfile.TemporaryDirectory(prefix="lesson-claims-controls-") as place:
        # Whatever an editor saves from now on, all trials are made with what is there now.
        now = copy_project(project, Path(place, "now"), {})
        context = _context(project)
        try:
            while waiting or running:
                while waiting and len(running) < jobs:
                    folder = Path(place, str(len(trials) - len(waiting)))
                    with _uninterrupted():  # or a process that nobody knows of yet would go on
                        process = _start(context, project, now, waiting[0], folder, store or Path(place, "runs"))
                        running.append(_Running(waiting.popleft(), process, folder, time.monotonic()))
                ended = connection.wait([each.process.sentinel for each in running], timeout=1.0)
                for each in list(running):
                    late = time.monotonic() - each.started > 60 * minutes
                    if late or each.process.sentinel in ended:
                        running.remove(each)
                        _stop(each.process)
                        yield _result(each, registry, f"stopped after {minutes:g} minutes" if late else "")
                        shutil.rmtree(each.folder, ignore_errors=True)
        finally:
            for each in running:
                _stop(each.process)


@contextlib.contextmanager
def _uninterrupted() -> Iterator[None]:
    """Put off an interrupt until the end of a block."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _context(project: Project) -> multiprocessing.context.ForkServerContext:
    """Return where processes come from, with the libraries of a project loaded there."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(libraries(project))
    before = {name: os.environ.get(name) for name in ONE_THREAD}
    os.environ.update(dict.fromkeys(ONE_THREAD, "1"))
    try:
        forkserver.ensure_running()
    finally:
        for name, value in before.items():
            del os.environ[name]
            if value is not None:
                os.environ[name] = value
    return context


def _start(
    context: multiprocessing.context.ForkServerContext,
    project: Project,
    now: Project,
    trial: Trial,
    folder: Path,
    store: Path,
) -> ForkServerProcess:
    copy = folder / "project"
    texts = edited_files(trial.control, trial.place, now.root) if trial.control else {}
    copy_project(now, copy, texts)
    arguments = ["-p", "lesson_claims.plugin", "-p", "lesson_claims.plugin.sabotaged"]
    arguments += ["-n", "0", "--maxfail=0", "-k", "", "-m", "", f"--rootdir={copy}"]
    if trial.control and trial.control.stand_in:
        arguments += ["--stand-in", trial.control.stand_in.attribute, trial.control.stand_in.by]
        # The keys of kept runs stand for a library by its version, so that these runs would be taken for others'.
        store = folder / "runs"
    arguments += [f"--sabotage-results={folder / child.RESULTS}", f"--run-store={store.absolute()}", *trial.checks]
    own = [str(each) for each in (*project.code, *project.claims)]
    process = context.Process(target=child.run, args=(str(folder), str(copy), str(project.root), own, arguments))
    process.start()
    return process


def _stop(process: ForkServerProcess) -> None:
    """End a process, if it has not ended, with all that it has started."""
    if process.is_alive() and process.pid is not None:
        with contextlib.suppress(ProcessLookupError):  # it has not yet got so far as to lead a group
            os.killpg(process.pid, signal.SIGKILL)
        process.kill()
    process.join()


def _result(ended: _Running, registry: Registry, failure: str) -> Result:
    trial = ended.trial
    results, status = (_read(ended.folder / name) for name in (child.RESULTS, child.STATUS))
    decided = [Decided(**each) for each in results.get("checks", ())]
    if not failure and not status:
        failure = f"the process ended with {ended.process.exitcode}: {_last_line(ended.folder / child.LOG)}"
    if not failure and status["stray"]:
        decided = []
        failure = f"{status['stray']} was imported from the project and not from the copy, so nothing was sabotaged"
    if not failure and results.get("failures"):
        failure = results["failures"][0]
    if not failure and not decided:
        failure = _last_line(ended.folder / child.LOG)
    also = trial.control.also if trial.control else ()
    return Result(
        trial,
        found(trial.claim, decided, failure),
        {other: found(registry.claims[other], decided, failure) for other in also},
        time.monotonic() - ended.started,
    )


def _read(path: Path) -> dict[str, Any]:
    try:
        content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return content


def _last_line(log: Path) -> str:
    """Return pytest's own error, or else the last line that was printed."""
    try:
        lines = [line.strip() for line in log.read_text(encoding="utf-8", errors="replace").splitlines()]
    except OSError:
        lines = []
    errors = [line.removeprefix("ERROR: ") for line in lines if line.startswith("ERROR: ")]
    return next((line for line in (*errors[:1], *reversed(lines)) if line), "nothing was printed")

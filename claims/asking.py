"""Which runs the processes that share a store are asking for, so that one that is idle can help.

A process that is at work holds a lock, which the system drops when the process ends, however it ends; beside the lock
stands a file that names the runs that it needs and lacks. What is said here only saves time: a run is made whether or
not anybody helps.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from filelock import FileLock, Timeout

LOOKING_SECONDS = 1.0
"""Others hold a process's lock for an instant when they look whether it is at work."""


class Asking:
    """One process among those that share a folder."""

    def __init__(self, folder: Path, session: str, process: str) -> None:
        """Be at work, from now until `stop`.

        Args:
            folder: what the processes share; made if need be.
            session: a name that no other session has had, of letters and digits.
            process: the name of this process within its session, of letters and digits.

        Raises:
            OSError: if the folder cannot be written, or another process of this name is at work.
        """
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        self._session = session
        self._asks = folder / f"{session}.{process}.asks"
        self._at_work = FileLock(self._asks.with_suffix(".lock"))
        self._at_work.acquire(timeout=LOOKING_SECONDS)

    @contextlib.contextmanager
    def ask(self, runs: Sequence[str]) -> Iterator[None]:
        """Ask for runs, by their keys, as long as the block lasts."""
        temporary = self._asks.with_suffix(".tmp")
        with contextlib.suppress(OSError):
            temporary.write_text(json.dumps(runs), encoding="utf-8")
            temporary.replace(self._asks)
        try:
            yield
        finally:
            _remove(temporary, self._asks)

    def stop(self) -> None:
        """Be at work no longer."""
        self._at_work.release()
        _remove(self._at_work_file)

    def asked(self) -> list[str]:
        """Return the keys of the runs that the other processes at work ask for, of whatever session."""
        keys: list[str] = []
        for other in self._others("*"):
            with contextlib.suppress(OSError, ValueError, TypeError, RecursionError):
                keys += map(str, json.loads(other.with_suffix(".asks").read_text(encoding="utf-8")))
        return keys

    def others_at_work(self) -> bool:
        """Say whether another process of this session is at work."""
        return any(True for _ in self._others(self._session))

    @property
    def _at_work_file(self) -> Path:
        return Path(self._at_work.lock_file)

    def _others(self, session: str) -> Iterable[Path]:
        """Yield the lock files of other processes at work; what a dead one has left is removed."""
        for path in sorted(self._folder.glob(f"{session}.*.lock")):
            if path != self._at_work_file:
                try:
                    with FileLock(path, blocking=False):
                        _remove(path.with_suffix(".asks"), path)
                except Timeout:
                    yield path
                except OSError:  # somebody else's, or no file at all
                    continue


def _remove(*files: Path) -> None:
    for file in files:
        with contextlib.suppress(OSError):  # whoever finds it later removes it
            file.unlink()

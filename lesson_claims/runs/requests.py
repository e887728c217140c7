"""Which runs the processes that share a store are waiting for, so that an idle process can make some of them.

A process that may wait for runs holds a lock, which the system drops when the process ends, however it ends. Beside
the lock stands a file that names the runs that it needs and lacks. All this only saves time: a process makes its runs
whether or not another one helps.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from filelock import FileLock, Timeout

PROBE_SECONDS = 1.0
"""How long to wait for the lock: another process holds it for an instant when it looks whether this one is alive."""


class Requests:
    """The requests of one process among those that share a folder."""

    def __init__(self, folder: Path, session: str, process: str) -> None:
        """Count as at work until `stop` is called.

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
        self._asks = folder / f"{session}.{process}.requests"
        self._at_work = FileLock(self._asks.with_suffix(".lock"))
        self._at_work.acquire(timeout=PROBE_SECONDS)

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
        """No longer count as at work."""
        self._at_work.release()
        _remove(self._at_work_file)

    def asked(self) -> list[str]:
        """Return the keys of the runs that the other processes at work ask for, of whatever session."""
        keys: list[str] = []
        for other in self._others("*"):
            with contextlib.suppress(OSError, ValueError, TypeError, RecursionError):
                keys += map(str, json.loads(other.with_suffix(".requests").read_text(encoding="utf-8")))
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
                        _remove(path.with_suffix(".requests"), path)
                except Timeout:
                    yield path
                except OSError:  # somebody else's, or no file at all
                    continue


def _remove(*files: Path) -> None:
    for file in files:
        with contextlib.suppress(OSError):  # whoever finds it later removes it
            file.unlink()

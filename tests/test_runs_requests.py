"""Processes that share a store know of each other who is at work and what is asked for, and the dead do not count."""

from __future__ import annotations

import multiprocessing
import os
import signal
from pathlib import Path

import pytest

from lesson_claims.runs.requests import Requests


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "requests"


def test_what_one_asks_for_the_others_see_as_long_as_it_asks(folder: Path) -> None:
    one, two = Requests(folder, "s", "one"), Requests(folder, "s", "two")
    with one.ask(["a", "b"]):
        assert two.asked() == ["a", "b"]
        assert one.asked() == [], "nobody helps himself"
    assert two.asked() == []


def test_others_are_at_work_until_they_stop(folder: Path) -> None:
    one, two = Requests(folder, "s", "one"), Requests(folder, "s", "two")
    assert one.others_at_work()
    one.stop()
    assert not two.others_at_work()
    two.stop()
    assert list(folder.iterdir()) == []


def test_another_session_is_helped_and_not_waited_for(folder: Path) -> None:
    one, other = Requests(folder, "s", "one"), Requests(folder, "t", "one")
    with other.ask(["a"]):
        assert one.asked() == ["a"]
        assert not one.others_at_work()


def _die_while_asking(folder: Path) -> None:
    with Requests(folder, "s", "dying").ask(["a"]):
        os.kill(os.getpid(), signal.SIGKILL)


def test_a_killed_process_neither_asks_nor_works(folder: Path) -> None:
    process = multiprocessing.get_context("fork").Process(target=_die_while_asking, args=(folder,))
    process.start()
    process.join(60)
    assert process.exitcode == -signal.SIGKILL
    one = Requests(folder, "s", "one")
    assert len(list(folder.iterdir())) == 3, "what the dead one has left, and the lock"
    assert one.asked() == []
    assert not one.others_at_work()
    assert len(list(folder.iterdir())) == 1


@pytest.mark.parametrize("damage", [b"", b"{", b"7", b"\xff", b"[" * 200_000], ids=range(5))
def test_a_damaged_file_asks_for_nothing(folder: Path, damage: bytes) -> None:
    one, two = Requests(folder, "s", "one"), Requests(folder, "s", "two")
    with one.ask(["a"]):
        (asks,) = folder.glob("*.requests")
        asks.write_bytes(damage)
        assert two.asked() == []


def test_what_is_no_lock_file_is_nobody(folder: Path) -> None:
    one = Requests(folder, "s", "one")
    (folder / "s.two.lock").mkdir()
    assert one.asked() == []
    assert not one.others_at_work()


def test_a_name_that_is_taken_is_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lesson_claims.runs.requests.PROBE_SECONDS", 0)
    one = Requests(folder, "s", "one")
    with pytest.raises(OSError, match=r"s\.one\.lock"):
        Requests(folder, "s", "one")
    one.stop()
    Requests(folder, "s", "one")


def test_a_full_disk_only_means_that_nobody_helps(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one, two = Requests(folder, "s", "one"), Requests(folder, "s", "two")

    def full(self: Path, *_: object, **__: object) -> int:
        self.touch()
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_text", full)
    with one.ask(["a"]):
        assert two.asked() == []
    assert {file.suffix for file in folder.iterdir()} == {".lock"}

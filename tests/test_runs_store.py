"""The store of runs: made once, never half, never another run than its name says."""

from __future__ import annotations

import itertools
import json
import multiprocessing
import os
import signal
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import torch
from filelock import FileLock

from lesson_claims.runs.device import CPU
from lesson_claims.runs.fingerprint import code_of
from lesson_claims.runs.requests import Requests
from lesson_claims.runs.store import LARGEST_SEED, DamagedRunWarning, Run, RunStore, RunStoreError


@dataclass(frozen=True)
class Counted:
    """A recipe that leaves a trace of each time it is run."""

    trace: str
    value: float = 1.0

    def run(self, seed: int, device: torch.device) -> dict[str, Any]:
        with Path(self.trace).open("a", encoding="utf-8") as file:
            file.write(f"{seed} {os.getpid()}\n")
        return {"accuracy": seed + self.value, "drawn": torch.rand(1).item()}


@dataclass(frozen=True)
class Fatal:
    """A recipe whose process dies in the middle of it the first time."""

    once: str

    def run(self, seed: int, device: torch.device) -> dict[str, Any]:
        if not Path(self.once).exists():
            Path(self.once).touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return {"accuracy": 1.0}


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    return tmp_path / "trace"


def lines(trace: Path) -> list[str]:
    return trace.read_text(encoding="utf-8").splitlines()


def files(store: RunStore, pattern: str = "*/*.json") -> list[Path]:
    return sorted(store.folder.glob(pattern))


def test_a_run_is_made_once(tmp_path: Path, trace: Path) -> None:
    first = RunStore(tmp_path / "store").runs(Counted(str(trace)), [0, 2], CPU)
    again = RunStore(tmp_path / "store").runs(Counted(str(trace)), [2, 0, 1], CPU)
    assert [run.seed for run in again] == [2, 0, 1]
    assert again[:2] == first[::-1]
    assert len(lines(trace)) == 3


def test_another_recipe_is_another_run(tmp_path: Path, trace: Path) -> None:
    store = RunStore(tmp_path / "store")
    (one,), (two,) = (store.runs(Counted(str(trace), value), [0], CPU) for value in (1.0, 2.0))
    assert (one.outcome["accuracy"], two.outcome["accuracy"]) == (1.0, 2.0)


def test_other_numerics_are_another_run(tmp_path: Path, trace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = RunStore(tmp_path / "store")
    store.runs(Counted(str(trace)), [0], CPU)
    monkeypatch.setenv("MKL_ENABLE_INSTRUCTIONS", "SSE4_2")
    store.runs(Counted(str(trace)), [0], CPU)
    assert len(lines(trace)) == len(files(store)) == 2


def test_a_run_leaves_the_global_generator_and_the_threads_as_they_were(tmp_path: Path, trace: Path) -> None:
    before, threads = torch.random.get_rng_state(), torch.get_num_threads()
    RunStore(tmp_path / "store").runs(Counted(str(trace)), [0], CPU)
    assert torch.equal(torch.random.get_rng_state(), before)
    assert torch.get_num_threads() == threads


@pytest.mark.parametrize("damage", [b"", b"{", b"[]", b"\xff\xfe", b'{"schema": 1}'])
def test_a_damaged_file_is_named_set_aside_and_made_again(tmp_path: Path, trace: Path, damage: bytes) -> None:
    store = RunStore(tmp_path / "store")
    (good,) = store.runs(Counted(str(trace)), [0], CPU)
    (file,) = files(store)
    file.write_bytes(damage)
    with pytest.warns(DamagedRunWarning, match=file.name):
        (again,) = store.runs(Counted(str(trace)), [0], CPU)
    assert again.outcome["accuracy"] == good.outcome["accuracy"]
    assert file.with_suffix(".damaged").read_bytes() == damage


def test_a_foreign_run_under_a_right_name_is_not_taken(tmp_path: Path, trace: Path) -> None:
    store = RunStore(tmp_path / "store")
    store.runs(Counted(str(trace)), [0], CPU)
    (file,) = files(store)
    content = json.loads(file.read_text(encoding="utf-8"))
    file.write_text(json.dumps({**content, "seed": 1}), encoding="utf-8")
    with pytest.warns(DamagedRunWarning, match="another run"):
        (run,) = store.runs(Counted(str(trace)), [0], CPU)
    assert run.outcome["accuracy"] == 1.0


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_a_run_that_gives_no_number_is_refused_in_one_line(tmp_path: Path, trace: Path, value: float) -> None:
    store = RunStore(tmp_path / "store")
    with pytest.raises(RunStoreError, match=r"seed 0: accuracy is not a finite number") as raised:
        store.runs(Counted(str(trace), value), [0], CPU)
    assert "\n" not in str(raised.value)
    assert files(store) == []


@pytest.mark.parametrize("seed", [-1, LARGEST_SEED + 1])
def test_a_seed_out_of_range_is_refused(tmp_path: Path, trace: Path, seed: int) -> None:
    with pytest.raises(RunStoreError, match="outside 0"):
        RunStore(tmp_path / "store").runs(Counted(str(trace)), [seed], CPU)


def test_a_store_that_cannot_be_made_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(RunStoreError, match="cannot be written"):
        RunStore(tmp_path / "file")


def test_a_full_disk_leaves_no_half_run(tmp_path: Path, trace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = RunStore(tmp_path / "store")

    def full(self: Path, *_: object, **__: object) -> int:
        self.touch()
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(Path, "write_text", full)
        with pytest.raises(RunStoreError, match="No space left on device"):
            store.runs(Counted(str(trace)), [0], CPU)
    assert files(store, "*/*.json") == files(store, "*/*.tmp") == []
    assert store.runs(Counted(str(trace)), [0], CPU)[0].outcome["accuracy"] == 1.0


def _work(folder: str, recipe: Any, seeds: list[int]) -> list[float]:
    torch.set_num_threads(1)
    return [run.outcome["accuracy"] for run in RunStore(Path(folder)).runs(recipe, seeds, CPU)]


def test_workers_that_need_the_same_runs_share_them(tmp_path: Path, trace: Path) -> None:
    seeds = list(range(8))
    arguments = (str(tmp_path / "store"), Counted(str(trace)), seeds)
    # A field of the recipe names the trace, so its content counts: both are to know it as it is before any run.
    code_of(arguments[1])
    with multiprocessing.get_context("fork").Pool(2) as pool:
        results = [pool.apply_async(_work, arguments) for _ in range(2)]
        assert [result.get(60) for result in results] == [[seed + 1.0 for seed in seeds]] * 2
    assert sorted(int(line.split()[0]) for line in lines(trace)) == seeds


def test_a_worker_waits_for_a_run_that_another_is_making(tmp_path: Path, trace: Path) -> None:
    store = RunStore(tmp_path / "store")
    store.runs(Counted(str(trace)), [0], CPU)
    (file,) = files(store)
    made = file.read_bytes()
    file.unlink()
    lock = FileLock(file.with_suffix(".lock"))
    with lock, multiprocessing.get_context("fork").Pool(1) as pool:
        waiting = pool.apply_async(_work, (str(store.folder), Counted(str(trace)), [0]))
        file.write_bytes(made)
        assert waiting.get(60) == [1.0]
    assert len(lines(trace)) == 1


def test_a_killed_process_leaves_no_lock_and_no_half_run(tmp_path: Path) -> None:
    recipe = Fatal(str(tmp_path / "once"))
    process = multiprocessing.get_context("fork").Process(target=_work, args=(str(tmp_path / "store"), recipe, [0]))
    process.start()
    process.join(60)
    assert process.exitcode == -signal.SIGKILL
    assert _work(str(tmp_path / "store"), recipe, [0]) == [1.0]


def test_a_process_that_would_wait_makes_runs_that_are_needed_later(tmp_path: Path, trace: Path) -> None:
    now, later = Counted(str(trace)), Counted(str(trace), value=2.0)
    RunStore(tmp_path / "store").runs(now, [0], CPU)
    (made,) = files(RunStore(tmp_path / "store"))
    made.rename(made.with_suffix(".away"))
    store = RunStore(tmp_path / "store", ahead=[(now, 0), (later, 3), (later, 4)])
    with FileLock(made.with_suffix(".lock")):  # as if another process were making it
        assert store.make_ahead(CPU)
        assert [line.split()[0] for line in lines(trace)] == ["0", "3"]
        assert store.make_ahead(CPU)
        assert not store.make_ahead(CPU), "nothing is left but what is being made elsewhere"
    assert store.make_ahead(CPU), "the other process died, and its run is still needed"
    assert not store.make_ahead(CPU)
    assert [line.split()[0] for line in lines(trace)] == ["0", "3", "4", "0"]


@dataclass(frozen=True)
class Twin:
    """A recipe that starts as its twins do; one that is not to be found has a value that is no number."""

    trace: str
    value: float
    start: str = "the same"

    def run(self, seed: int, device: torch.device) -> dict[str, Any]:
        return dict(self.run_with([], seed, device))[self]

    def run_with(
        self, others: Sequence[Twin], seed: int, device: torch.device
    ) -> Iterator[tuple[Twin, dict[str, Any]]]:
        with Path(self.trace).open("a", encoding="utf-8") as file:
            file.write(f"{seed} {len(others)}\n")
        yield from ((each, {"accuracy": each.value}) for each in (*others, self))


def test_needed_runs_that_start_together_are_made_together(tmp_path: Path, trace: Path) -> None:
    one, two, three = (Twin(str(trace), value) for value in (1.0, 2.0, 3.0))
    other = Twin(str(trace), 4.0, start="another")
    store = RunStore(tmp_path / "store", ahead=[(two, 0), (two, 1), (other, 0)])
    runs = store.all_of([(one, 0), (three, 0)], CPU)
    assert [run.outcome["accuracy"] for run in runs] == [1.0, 3.0]
    assert [run.outcome["accuracy"] for run in store.runs(two, [0], CPU)] == [2.0]
    assert lines(trace) == ["0 2"], "three runs at one go, and neither another seed nor another start"


def test_a_run_that_another_process_is_at_is_left_to_it(tmp_path: Path, trace: Path) -> None:
    one, two = (Twin(str(trace), value) for value in (1.0, 2.0))
    RunStore(tmp_path / "store").runs(two, [0], CPU)
    (made,) = files(RunStore(tmp_path / "store"))
    made.unlink()
    store = RunStore(tmp_path / "store", ahead=[(two, 0)])
    with FileLock(made.with_suffix(".lock")):  # as if another process were making it
        store.runs(one, [0], CPU)
    assert lines(trace) == ["0 0", "0 0"]


def test_a_partner_that_is_there_is_not_made_again(tmp_path: Path, trace: Path) -> None:
    one, two = (Twin(str(trace), value) for value in (1.0, 2.0))
    RunStore(tmp_path / "store").runs(two, [0], CPU)
    RunStore(tmp_path / "store", ahead=[(two, 0)]).runs(one, [0], CPU)
    assert lines(trace) == ["0 0", "0 0"]


@dataclass(frozen=True)
class BrokenTwin(Twin):
    """A twin with a bug, wherever it is made."""

    def run_with(
        self, others: Sequence[Twin], seed: int, device: torch.device
    ) -> Iterator[tuple[Twin, dict[str, Any]]]:
        raise ZeroDivisionError("a bug of the lesson's")


@dataclass(frozen=True)
class Twins(Twin):
    """A twin that hands over to its first partner."""

    def run_with(
        self, others: Sequence[Twin], seed: int, device: torch.device
    ) -> Iterator[tuple[Twin, dict[str, Any]]]:
        yield from others[0].run_with([self], seed, device) if others else super().run_with(others, seed, device)


def test_a_partners_bug_is_not_laid_at_a_runs_door(tmp_path: Path, trace: Path) -> None:
    good, bad = Twins(str(trace), 1.0), BrokenTwin(str(trace), 2.0)
    store = RunStore(tmp_path / "store", ahead=[(bad, 0)])
    assert store.runs(good, [0], CPU)[0].outcome["accuracy"] == 1.0
    with pytest.raises(ZeroDivisionError):
        store.runs(bad, [0], CPU)


def test_runs_made_together_share_out_their_seconds(
    tmp_path: Path, trace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    twins = [Twin(str(trace), value) for value in (1.0, 2.0, 3.0)]
    looks = itertools.count()
    monkeypatch.setattr("lesson_claims.runs.store.time.perf_counter", lambda: float(next(looks)))
    runs = RunStore(tmp_path / "store").all_of([(twin, 0) for twin in twins], CPU)
    assert [run.seconds for run in runs] == [1.0, 1.0, 1.0], "from one look at the clock to the next"


def test_a_run_that_is_made_while_its_lock_is_taken_is_not_made_again(
    tmp_path: Path, trace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    RunStore(tmp_path / "store").runs(Counted(str(trace)), [0], CPU)
    (made,) = files(RunStore(tmp_path / "store"))
    made.rename(made.with_suffix(".away"))
    lock = RunStore._lock

    def another_was_just_done(self: RunStore, *arguments: Any) -> bool:
        made.with_suffix(".away").rename(made)
        return lock(self, *arguments)

    monkeypatch.setattr(RunStore, "_lock", another_was_just_done)
    RunStore(tmp_path / "store").runs(Counted(str(trace)), [0], CPU)
    assert len(lines(trace)) == 1


@dataclass(frozen=True)
class Bringing:
    """A recipe that, while it is run, brings a file to where another process would have put it."""

    file: str

    def run(self, seed: int, device: torch.device) -> dict[str, Any]:
        Path(self.file).with_suffix(".away").rename(self.file)
        return {}


@pytest.mark.parametrize("needed", ["ahead", "by another"])
def test_a_process_that_waits_makes_what_is_needed(
    tmp_path: Path, trace: Path, monkeypatch: pytest.MonkeyPatch, needed: str
) -> None:
    folder = tmp_path / "store"
    RunStore(folder).runs(Counted(str(trace)), [0], CPU)
    (made,) = files(RunStore(folder))
    made.rename(made.with_suffix(".away"))
    bringing = Bringing(str(made))
    if needed == "ahead":
        store = RunStore(folder, ahead=[(bringing, 0)])
    else:
        store = RunStore(folder, known=[(bringing, 0)], requests=Requests(folder / "requests", "s", "one"))
    key = store._path(store._determinants(bringing, 0, CPU)).stem

    def tired(_seconds: float) -> None:
        raise AssertionError("it waited and did nothing")

    monkeypatch.setattr("lesson_claims.runs.store.time.sleep", tired)
    with FileLock(made.with_suffix(".lock")), Requests(folder / "requests", "s", "other").ask([key]):
        store.runs(Counted(str(trace)), [0], CPU)
    assert len(lines(trace)) == 1


def test_a_process_without_others_makes_nothing_more(tmp_path: Path, trace: Path) -> None:
    """Whatever was expected to be needed: when all checks are over, nothing is."""
    folder = tmp_path / "store"
    store = RunStore(folder, ahead=[(Counted(str(trace)), 0)], requests=Requests(folder / "requests", "s", "one"))
    store.help_until_the_others_are_done(CPU)
    assert not trace.exists()


def test_a_run_made_with_another_fails_for_itself_alone(tmp_path: Path, trace: Path) -> None:
    good, bad = Twin(str(trace), 1.0), Twin(str(trace), float("nan"))
    store = RunStore(tmp_path / "store", ahead=[(bad, 0)])
    assert store.runs(good, [0], CPU)[0].outcome["accuracy"] == 1.0
    with pytest.raises(RunStoreError, match="accuracy is not a finite number"):
        store.runs(bad, [0], CPU)


@dataclass(frozen=True)
class Broken:
    """A recipe with a bug."""

    def run(self, seed: int, device: torch.device) -> dict[str, Any]:
        raise ZeroDivisionError("a bug of the lesson's")


@pytest.mark.parametrize(
    ("broken", "error", "message"),
    [
        (Counted("trace", value=float("nan")), RunStoreError, "accuracy is not a finite number"),
        (Broken(), ZeroDivisionError, "a bug of the lesson's"),
    ],
    ids=["NaN", "bug"],
)
def test_what_fails_ahead_is_left_to_the_check_that_needs_it(
    broken: Any, error: type[Exception], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    store = RunStore(tmp_path / "store", ahead=[(broken, 0), (Counted("trace"), 0)])
    assert store.make_ahead(CPU)
    assert not store.make_ahead(CPU)
    with pytest.raises(error, match=message):
        store.runs(broken, [0], CPU)


def test_an_idle_process_makes_what_another_asks_for(tmp_path: Path, trace: Path) -> None:
    folder, recipe = tmp_path / "store", Counted(str(trace))
    known = [(recipe, seed) for seed in range(6)]
    helper = RunStore(folder, known=known, requests=Requests(folder / "requests", "s", "helper"))
    other = Requests(folder / "requests", "s", "other")
    assert not helper.make_for_others(CPU), "nobody asks"
    keys = [helper._path(helper._determinants(recipe, seed, CPU)).stem for seed in (3, 4)]
    with other.ask([*keys, "a run that this process does not know"]):
        assert helper.make_for_others(CPU)
        assert helper.make_for_others(CPU)
        assert not helper.make_for_others(CPU)
    assert [line.split()[0] for line in lines(trace)] == ["3", "4"]


def test_a_run_that_fails_is_tried_once_for_another(tmp_path: Path, trace: Path) -> None:
    folder, recipe = tmp_path / "store", Counted(str(trace), value=float("nan"))
    helper = RunStore(folder, known=[(recipe, 0)], requests=Requests(folder / "requests", "s", "helper"))
    with Requests(folder / "requests", "s", "other").ask([helper._path(helper._determinants(recipe, 0, CPU)).stem]):
        assert not helper.make_for_others(CPU)
        assert not helper.make_for_others(CPU)
    assert len(lines(trace)) == 1


def test_a_process_asks_for_what_it_lacks(tmp_path: Path, trace: Path) -> None:
    folder = tmp_path / "store"
    other = Requests(folder / "requests", "s", "other")
    asked: list[int] = []

    class Watched(RunStore):
        def _make(self, *arguments: Any, **keywords: Any) -> Run | None:
            asked.append(len(other.asked()))
            return super()._make(*arguments, **keywords)

    store = Watched(folder, requests=Requests(folder / "requests", "s", "one"))
    store.runs(Counted(str(trace)), [0, 1, 2], CPU)
    store.runs(Counted(str(trace)), [2, 3], CPU)
    assert asked == [3, 3, 3, 0], "a single run is not asked for: it is made here as fast as elsewhere"
    assert other.asked() == []

"""The platform spread: a fresh process for each setting, and none for a run that is kept."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from lesson_claims.runs import platforms
from lesson_claims.runs.fingerprint import code_of, content
from lesson_claims.runs.platforms import PLATFORMS, OnPlatform, PageRun, outcomes
from lesson_claims.runs.store import RunStore, RunStoreError
from lessons.recipes import PAGE_RUNS

WHERE = "lessons.recipes:PAGE_RUNS"


def page_run(name: str) -> PageRun:
    return PageRun(PAGE_RUNS[name], 0, WHERE, name)


NAME = "week07 day 1, counts"
RUN = page_run(NAME)


class Processes:
    """Stands in for the processes: keeps what each was started with, and answers with its number."""

    def __init__(self) -> None:
        self.started: list[tuple[list[str], Mapping[str, str]]] = []

    def __call__(self, command: list[str], env: Mapping[str, str], **_: Any) -> subprocess.CompletedProcess[str]:
        self.started.append((command, env))
        return subprocess.CompletedProcess(command, 0, json.dumps({"accuracy": len(self.started) / 10}), "")


@pytest.fixture
def processes(monkeypatch: pytest.MonkeyPatch) -> Processes:
    stand_in = Processes()
    monkeypatch.setattr(platforms.subprocess, "run", stand_in)
    return stand_in


@pytest.fixture
def store(tmp_path: Path) -> RunStore:
    return RunStore(tmp_path)


def test_each_setting_is_a_process_and_a_kept_run_is_none(processes: Processes, store: RunStore) -> None:
    first = outcomes(store, RUN)
    assert list(first) == list(PLATFORMS)
    assert len(processes.started) == len(PLATFORMS)
    assert outcomes(RunStore(store.folder), RUN) == first
    assert len(processes.started) == len(PLATFORMS)
    outcomes(store, page_run("detector"))
    assert len(processes.started) == 2 * len(PLATFORMS)


def test_a_setting_is_all_that_a_process_is_held_to(
    processes: Processes, store: RunStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = {name for limits in PLATFORMS.values() for name in limits}
    for name in names:
        monkeypatch.setenv(name, "3")
    outcomes(store, RUN)
    held = [{name: env[name] for name in names if name in env} for _, env in processes.started]
    assert held == [dict(limits) for limits in PLATFORMS.values()]


def test_sessions_share_the_processes(processes: Processes, store: RunStore) -> None:
    with ThreadPoolExecutor(4) as sessions:
        found = list(sessions.map(lambda _: outcomes(RunStore(store.folder), RUN), range(4)))
    assert found == [found[0]] * 4
    assert len(processes.started) == len(PLATFORMS)


def test_where_the_store_lies_does_not_determine_a_run(tmp_path: Path) -> None:
    here, there = (OnPlatform(RUN.recipe, "two threads", RUN, tmp_path / folder) for folder in ("here", "there"))
    assert (content(here), code_of(here)) == (content(there), code_of(there))
    assert "here" not in json.dumps(content(here))
    assert content(here)["recipe"] == content(PAGE_RUNS[NAME])


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda name, seed: ("no such run", seed), "'no such run'"),
        (lambda name, seed: (name, -1), "seed -1 is outside"),
    ],
)
def test_a_process_that_fails_is_named(
    store: RunStore, change: Callable[[str, int], tuple[str, int]], said: str
) -> None:
    name, seed = change(NAME, 0)
    with pytest.raises(RunStoreError, match=f"platform 'MKL SSE4\\.2', {name}: the process ended with 1: .*{said}"):
        OnPlatform(RUN.recipe, "MKL SSE4.2", replace(RUN, name=name), store.folder).run(seed)


def test_a_process_keeps_its_run_under_its_own_numerics(store: RunStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platforms, "PLATFORMS", {"all": PLATFORMS["all at their lowest"]})
    (outcome,) = outcomes(store, RUN).values()
    kept = [json.loads(file.read_text(encoding="utf-8")) for file in store.folder.glob("*/*.json")]
    by_recipe = {run["recipe"]["is"].rsplit(".", 1)[1]: run for run in kept}
    apart = by_recipe.pop("OnPlatform")
    ((_, inside),) = by_recipe.items()
    assert apart["outcome"] == inside["outcome"] == outcome
    assert inside["numerics"]["cpu capability"] == "DEFAULT"
    assert inside["numerics"]["ONEDNN_MAX_CPU_ISA"] == "SSE41"
    assert "ONEDNN_MAX_CPU_ISA" not in apart["numerics"]

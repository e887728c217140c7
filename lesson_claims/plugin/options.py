"""Options of `pytest`, the one line that says what is wrong with them, and the threads and device that follow."""

from __future__ import annotations

import argparse
import difflib
import os
import shlex
import sys
import tempfile
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import count, islice
from pathlib import Path
from typing import Any

import psutil
import pytest
from xdist.scheduler import WorkStealingScheduling

from lesson_claims.controls import ControlError, edited_files
from lesson_claims.decisions import Levels
from lesson_claims.error_rates import levels
from lesson_claims.looks import AUTO, CAP, FIRST_LOOK, Looks, LooksError, read_looks
from lesson_claims.project import Project, ProjectError, read_project
from lesson_claims.recorded import Recorded, RecordedError, read_recorded
from lesson_claims.registry import Registry, RegistryError, load_registry
from lesson_claims.runs.device import NAMES, Device, DeviceError, resolve_device
from lesson_claims.runs.numerics import environment
from lesson_claims.runs.platforms import PageRun, page_runs
from lesson_claims.runs.recipe import Outcome, Recipe
from lesson_claims.runs.store import LARGEST_SEED, RunStore, RunStoreError
from lesson_claims.settings import Stated, Statement, compare, stated_of
from lesson_claims.traceability import Check, check_id, read_checks, verify

NAMED = 5
"""Of the claims without a control, so many are named."""

DEFAULT_REPORT = Path("reports") / "latest"
BASELINE = Path("reports") / "baseline"


@dataclass(frozen=True)
class Session:
    """What every part of the plugin needs to know of this session."""

    project: Project
    registry: Registry
    checks: dict[str, Check]
    looks: Looks
    recorded: Recorded
    sabotaged: bool = False

    @cached_property
    def levels(self) -> Levels:
        """What the p-value of a claim with a single test must reach."""
        return levels(self.registry, self.checks.values(), every_look=self.looks.every_look)

    def statistical_checks(self, claim: str) -> int:
        """Return how many checks of a claim decide by statistics, at least 1."""
        return max(1, sum(check.claim == claim and check.statistical for check in self.checks.values()))

    def seeds(self, lesson: str, first: int, number: int) -> tuple[int, ...]:
        """Return seeds to decide a lesson's claims over: from `first` on, without the seed that the page used."""
        page_seed = self.registry.lessons[lesson].page_seed
        return tuple(islice((seed for seed in count(first) if seed != page_seed), number))

    @cached_property
    def page_runs(self) -> Mapping[str, Mapping[Recipe, PageRun]]:
        """The runs that the pages themselves make, by lesson and recipe; empty for a lesson that names none.

        Imports the lessons' code, so only a process that runs checks asks for it.
        """
        return {
            name: {
                recipe: PageRun(recipe, lesson.page_seed, lesson.page_runs, run)
                for run, recipe in (page_runs(lesson.page_runs) if lesson.page_runs else {}).items()
            }
            for name, lesson in self.registry.lessons.items()
        }

    def made_by_page(self, recipe: Recipe, lesson: str) -> bool:
        """Say whether a page itself makes this run; of a lesson that does not name its runs, all are."""
        return not self.page_runs[lesson] or recipe in self.page_runs[lesson]

    @cached_property
    def stated(self) -> Mapping[str, Stated]:
        """What the pages state of their runs, by the `page_runs` of their lessons; imports the lessons' code.

        Raises:
            SettingsError: if the runs and what is stated of them do not fit together.
            RunStoreError: if there are no such runs.
        """
        statements: dict[str, list[Statement]] = {}
        for name, stated in self.registry.settings.items():
            statements.setdefault(self.registry.lessons[name].page_runs, []).extend(stated)
        return {where: stated_of(page_runs(where), each, where) for where, each in statements.items()}

    def made_as_stated(self, recipe: Recipe, lesson: str, outcome: Outcome) -> list[dict[str, str]]:
        """Compare how a run was made with what the page states of it, under every name that the page's run has.

        Args:
            recipe: what was run.
            lesson: whose claim it is run for.
            outcome: at the page's seed.

        Raises:
            SettingsError: as `compare` does, or because of what is stated.
        """
        where = self.registry.lessons[lesson].page_runs
        if where not in self.stated:
            return []
        names = [name for name, each in page_runs(where).items() if each == recipe]
        return [row for name in names for row in compare(name, self.stated[where][name], outcome)]


SESSION = pytest.StashKey[Session]()
SABOTAGED = pytest.StashKey[bool]()
"""Set where the code is sabotaged: then there is no report, and others share the cores."""
SESSION_NAME = pytest.StashKey[str]()
ADDED = "PYTEST_ADDOPTS"
ADDED_BEFORE = pytest.StashKey[str | None]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the engine's options to pytest's.

    Raises:
        pytest.UsageError: if another plugin has one of the names.
    """
    group = parser.getgroup("lesson-claims", "claims of the lessons (lesson-claims)")
    for name, settings in OPTIONS.items():
        try:
            group.addoption(name, **settings)
        except (ValueError, argparse.ArgumentError) as error:
            raise pytest.UsageError(
                f"{name}: another plugin has taken this option, and lesson_claims.plugin needs it; find it in"
                f" `pytest --help` without the line in conftest.py, and leave it out with `-p no:ITS_NAME` ({error})"
            ) from error


OPTIONS: dict[str, dict[str, Any]] = {
    "--seeds": {
        "default": AUTO,
        "metavar": "N",
        "help": f"seeds over which claims about runs are decided: a number; or auto, from {FIRST_LOOK} on until each"
        f" claim is decided, and at most {CAP}; or auto:CAP, with another limit (default: auto)",
    },
    "--first-seed": {
        "type": int,
        "default": 0,
        "metavar": "K",
        "help": "first of these seeds (default: 0); the page's own seed is run too, and is none of them",
    },
    "--device": {
        "default": "auto",
        "metavar": "DEVICE",
        "help": f"device of the recipes that take one: {NAMES} (default: auto, a GPU where there is one)",
    },
    "--report-dir": {
        "default": None,
        "metavar": "DIR",
        "help": f"where the report goes (default: {DEFAULT_REPORT.as_posix()})",
    },
    "--run-store": {
        "default": None,
        "metavar": "DIR",
        "help": "keep runs here and reuse those that are there (default: a fresh store per session); a folder outside"
        " the project is written --run-store=DIR, because pytest takes a word that is a folder for a path to tests",
    },
    "--history": {
        "default": None,
        "metavar": "DIR",
        "help": "also append this session's results to the history there: a folder or an fsspec URL",
    },
    "--platforms": {
        "action": "store_true",
        "help": "also repeat the pages' own runs with the instruction sets that this processor's libraries can be"
        " held to",
    },
    "--strict-claims": {
        "action": "store_true",
        "help": "refuse to start if a claim has no control, or a control edits a text that is not there (any more)",
    },
    "--claim": {
        "action": "append",
        "default": [],
        "metavar": "PATTERN",
        "help": "check only these claims: an id, an id with * and ?, such as 'page.loss.*', or words of the claim in"
        " any order, such as 'packed final state'; may be given several times",
    },
}


def is_worker(config: pytest.Config) -> bool:
    """Say whether this process is a worker of pytest-xdist."""
    return hasattr(config, "workerinput")


def has_workers(config: pytest.Config) -> bool:
    """Say whether this process leaves the checks to workers of pytest-xdist."""
    return bool(getattr(config.option, "tx", None))


def pytest_configure(config: pytest.Config) -> None:
    """Read the registry and refuse what cannot be run, before anything is.

    Raises:
        pytest.UsageError: in one line.
    """
    config.addinivalue_line("markers", "claim(id): this check is one of the claim's")
    config.addinivalue_line("markers", "refuted: this check asserts what the evidence on record refutes")
    config.addinivalue_line("markers", "depends_on_seed: this check is on record as undecided")
    if config.getoption("help", False):
        return
    try:
        project = read_project(config.rootpath)
        if not _concerned(config, project):
            return
        registry = load_registry(project)
        checks = read_checks(config.rootpath, project.claims, registry)
        verify(registry, checks)
        recorded = read_recorded(config.rootpath / BASELINE)
        looks = read_looks(str(config.getoption("seeds")))
    except (ProjectError, RegistryError, RecordedError, LooksError) as error:
        raise pytest.UsageError(str(error)) from error
    by_id = {check.id: check for check in checks}
    config.stash[SESSION] = Session(project, registry, by_id, looks, recorded, config.stash.get(SABOTAGED, False))
    if is_worker(config):
        config.option.run_store = config.workerinput["run_store"]  # type: ignore[attr-defined]
        return
    _refuse_bad_options(config, registry, looks)
    if config.getoption("run_store") is None:
        config.option.run_store = tempfile.mkdtemp(prefix="lesson-claims-runs-")
        config.stash[OWN_STORE] = Path(config.option.run_store)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_setupnodes(config: pytest.Config) -> None:
    """Tell workers, which parse the same command line, of this plugin and of the root before they look for either.

    Without that, a folder that is an option's value and was made in the meantime would be taken for a path to tests.
    """
    if SESSION in config.stash:
        root = ["-p", "lesson_claims.plugin", f"--rootdir={config.rootpath}"]
        root += ["-c", str(config.inipath)] if config.inipath is not None else []
        config.stash[ADDED_BEFORE] = os.environ.get(ADDED)
        os.environ[ADDED] = " ".join(filter(None, (shlex.join(root), os.environ.get(ADDED))))


def pytest_unconfigure(config: pytest.Config) -> None:
    """Put the environment back."""
    if ADDED_BEFORE in config.stash:
        del os.environ[ADDED]
        if (before := config.stash[ADDED_BEFORE]) is not None:
            os.environ[ADDED] = before


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Tell a worker, which parses its own options, of the store that was made for this session."""
    node.workerinput["run_store"] = node.config.getoption("run_store")
    node.workerinput["claims_session"] = node.config.stash.setdefault(SESSION_NAME, uuid.uuid4().hex)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Let idle workers take over what others have queued: checks differ a thousandfold in how long they take."""
    if config.getoption("dist") != "load" or SESSION not in config.stash:
        return None  # the user's own choice
    return WorkStealingScheduling(config, log)


OWN_STORE = pytest.StashKey[Path]()


def _concerned(config: pytest.Config, project: Project) -> bool:
    """Say whether the arguments reach the checks at all; the project's other tests run without them."""
    for argument in config.args:
        path = Path(os.path.abspath(config.invocation_params.dir / str(argument).split("::", 1)[0]))  # noqa: PTH100
        for folder in project.claims:
            if path == folder or folder in path.parents or path in folder.parents:
                return True
    return False


def _refuse_bad_options(config: pytest.Config, registry: Registry, looks: Looks) -> None:
    first = config.getoption("first_seed")
    if first < 0 or first + looks.most > LARGEST_SEED:
        raise pytest.UsageError(
            f"--first-seed {first}, --seeds {config.getoption('seeds')}: seeds must lie in 0..{LARGEST_SEED}"
        )
    device = config.getoption("device")
    if device not in ("auto", "cpu"):
        try:
            resolve_device(device)
        except DeviceError as error:
            raise pytest.UsageError(str(error)) from error
    if config.getoption("platforms") and not any(lesson.page_runs for lesson in registry.lessons.values()):
        raise pytest.UsageError(
            '--platforms: no lesson names its page\'s runs; add page_runs = "module:NAME" to its table [lesson]'
        )
    for pattern in config.getoption("claim"):
        if not registry.matching(pattern):
            near = difflib.get_close_matches(pattern, registry.claims, n=3) or registry.nearest(pattern)
            raise pytest.UsageError(
                f"--claim {pattern!r} matches no claim, neither as an id nor by its words, all of which must be there;"
                f" the nearest are {', '.join(near or list(registry.claims)[:3])}; take fewer words"
            )
    if config.getoption("strict_claims") and not config.stash.get(SABOTAGED, False):
        _refuse_without_controls(registry, config.rootpath)
    for option in ("report_dir", "run_store", "history"):
        if config.getoption(option) == "":
            name = f"--{option.replace('_', '-')}"
            raise pytest.UsageError(f"{name}: the directory is empty; name one, or leave the option out")
    history = config.getoption("history")
    if history is not None and "://" not in history and Path(history).exists() and not Path(history).is_dir():
        raise pytest.UsageError(f"--history {history}: is no directory; name another")
    folder = report_folder(config)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise pytest.UsageError(
            f"report directory {folder} cannot be written: {error.strerror}; give another with --report-dir"
        ) from error
    store = config.getoption("run_store")
    if store is not None:
        try:
            RunStore(Path(store))
        except RunStoreError as error:
            raise pytest.UsageError(str(error)) from error


def _refuse_without_controls(registry: Registry, root: Path) -> None:
    """Ask for a control of each claim that has a verdict on record, and for each text that a control edits."""
    without = [claim.id for claim in registry.claims.values() if claim.expect != "open" and not claim.controls]
    if without:
        more = f" and {len(without) - NAMED} more" if len(without) > NAMED else ""
        raise pytest.UsageError(
            f"--strict-claims: no control shows that the checks of these claims can fail, {len(without)} in all:"
            f" {', '.join(without[:NAMED])}{more}; write [[claim.control]] for each"
        )
    for claim in registry.claims.values():
        for control in claim.controls:
            try:
                edited_files(control, f"{claim.id}, control {control.breaks!r}", root)
            except ControlError as error:
                raise pytest.UsageError(str(error)) from error


def report_folder(config: pytest.Config) -> Path:
    """Return the directory of this run's report."""
    chosen = config.getoption("report_dir")
    return Path(chosen) if chosen is not None else config.rootpath / DEFAULT_REPORT


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselect what `--claim` does not match."""
    patterns = config.getoption("claim")
    session = config.stash.get(SESSION, None)
    if not patterns or session is None:
        return
    wanted = {identity for pattern in patterns for identity in session.registry.matching(pattern)}
    kept: list[pytest.Item] = []
    dropped: list[pytest.Item] = []
    for item in items:
        check = session.checks.get(check_id(item.nodeid))
        (kept if check is None or check.claim in wanted else dropped).append(item)
    if dropped:
        config.hook.pytest_deselected(items=dropped)
        items[:] = kept


def worker_threads(config: pytest.Config) -> int:
    """Return how many threads this process may use within one operation: cores / workers, at least 1."""
    if SESSION in config.stash and config.stash[SESSION].sabotaged:
        return 1
    workers = int(getattr(config, "workerinput", {}).get("workercount", 1))
    cores = len(psutil.Process().cpu_affinity()) if hasattr(psutil.Process, "cpu_affinity") else os.cpu_count() or 1
    return max(1, cores // workers)


def device_with_its_settings(config: pytest.Config) -> Device:
    """Return the device of a session, and set up what this process computes with there."""
    if "torch" in sys.modules:
        import torch
        from torch.backends import cudnn

        torch.set_num_threads(worker_threads(config))
        # Recurrent layers on a GPU would otherwise round every product to 10 bits, which no tolerance here allows for.
        cudnn.allow_tf32 = False
    return resolve_device(config.getoption("device"))


def environment_of(config: pytest.Config) -> dict[str, str | int]:
    """Describe where this process measures."""
    return environment(resolve_device(config.getoption("device")))

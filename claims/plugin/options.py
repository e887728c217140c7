"""Options of `pytest`, the one line that says what is wrong with them, and the threads and device that follow."""

from __future__ import annotations

import difflib
import fnmatch
import os
import tempfile
import uuid
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psutil
import pytest

from claims.registry import Registry, RegistryError, load_registry
from claims.traceability import Check, check_id, read_checks, verify

if TYPE_CHECKING:
    import torch

DEFAULT_SEEDS = 5
DEFAULT_REPORT = Path("reports") / "latest"


@dataclass(frozen=True)
class Session:
    """What every part of the plugin needs to know of this session."""

    registry: Registry
    checks: dict[str, Check]


SESSION = pytest.StashKey[Session]()
SESSION_NAME = pytest.StashKey[str]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the suite's options to pytest's."""
    group = parser.getgroup("claims", "claims of the lessons")
    group.addoption(
        "--seeds",
        type=int,
        default=DEFAULT_SEEDS,
        metavar="N",
        help=f"seeds over which trained claims are decided (default: {DEFAULT_SEEDS})",
    )
    group.addoption(
        "--first-seed",
        type=int,
        default=0,
        metavar="K",
        help="first of these seeds (default: 0, the page's own; which is always run as well)",
    )
    group.addoption("--device", default="auto", metavar="DEVICE", help="auto, cpu, cuda, cuda:K or mps (default: auto)")
    group.addoption(
        "--report-dir",
        default=None,
        metavar="DIR",
        help=f"where the report goes (default: {DEFAULT_REPORT.as_posix()})",
    )
    group.addoption(
        "--run-store",
        default=None,
        metavar="DIR",
        help="keep training runs here and reuse those that are there (default: a fresh store per session)",
    )
    group.addoption("--history", default=None, metavar="DIR", help="also append this run to the history there")
    group.addoption(
        "--platforms",
        action="store_true",
        help="also repeat the pages' own runs with the instruction sets that this processor's libraries can be held to",
    )
    group.addoption(
        "--claim",
        action="append",
        default=[],
        metavar="PATTERN",
        help="check only the claims whose id matches, such as 'week07.day5.*'; may be given several times",
    )


def is_worker(config: pytest.Config) -> bool:
    """Say whether this process is a worker of pytest-xdist."""
    return hasattr(config, "workerinput")


def pytest_configure(config: pytest.Config) -> None:
    """Read the registry and refuse what cannot be run, before anything is.

    Raises:
        pytest.UsageError: in one line.
    """
    config.addinivalue_line("markers", "claim(id): this check is one of the claim's")
    config.addinivalue_line("markers", "refuted: this check asserts what the evidence on record refutes")
    claims_folder = config.rootpath / "claims"
    if not _concerned(config, claims_folder):
        return
    try:
        registry = load_registry(claims_folder, config.rootpath / "lessons")
        checks = read_checks(config.rootpath, claims_folder)
        verify(registry, checks)
    except RegistryError as error:
        raise pytest.UsageError(str(error)) from error
    config.stash[SESSION] = Session(registry, {check.id: check for check in checks})
    if is_worker(config):
        config.option.run_store = config.workerinput["run_store"]  # type: ignore[attr-defined]
        return
    _refuse_bad_options(config, registry)
    if config.getoption("run_store") is None:
        config.option.run_store = tempfile.mkdtemp(prefix="lesson-claims-runs-")
        config.stash[OWN_STORE] = Path(config.option.run_store)


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
    from xdist.scheduler import WorkStealingScheduling

    return WorkStealingScheduling(config, log)


OWN_STORE = pytest.StashKey[Path]()


def _concerned(config: pytest.Config, claims_folder: Path) -> bool:
    """Say whether the arguments reach the checks at all; the tests of the suite run without them."""
    if config.getoption("help", False) or not claims_folder.is_dir():
        return False
    for argument in config.args:
        path = Path(os.path.abspath(config.invocation_params.dir / str(argument).split("::", 1)[0]))  # noqa: PTH100
        if path == claims_folder or claims_folder in path.parents or path in claims_folder.parents:
            return True
    return False


def _refuse_bad_options(config: pytest.Config, registry: Registry) -> None:
    from claims.run_store import LARGEST_SEED

    seeds, first = config.getoption("seeds"), config.getoption("first_seed")
    if seeds < 1:
        raise pytest.UsageError(
            f"--seeds {seeds}: at least one seed is needed; 5 is the default, 20 decides everything"
        )
    if first < 0 or first + seeds - 1 > LARGEST_SEED:
        raise pytest.UsageError(f"--first-seed {first}, --seeds {seeds}: seeds must lie in 0..{LARGEST_SEED}")
    device = config.getoption("device")
    if device not in ("auto", "cpu"):
        from claims.numerics import DeviceError, resolve_device

        try:
            resolve_device(device)
        except DeviceError as error:
            raise pytest.UsageError(str(error)) from error
    for pattern in config.getoption("claim"):
        if not matching(pattern, registry.claims):
            close = difflib.get_close_matches(pattern, registry.claims, n=3) or list(registry.claims)[:3]
            raise pytest.UsageError(f"--claim {pattern!r} matches no claim; there are for example {', '.join(close)}")
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
        from claims.run_store import RunStore, RunStoreError

        try:
            RunStore(Path(store))
        except RunStoreError as error:
            raise pytest.UsageError(str(error)) from error


def report_folder(config: pytest.Config) -> Path:
    """Return the directory of this run's report."""
    chosen = config.getoption("report_dir")
    return Path(chosen) if chosen is not None else config.rootpath / DEFAULT_REPORT


def matching(pattern: str, claims: Iterable[str]) -> list[str]:
    """Return the claim ids that a pattern of `--claim` matches; a claim's corrected sibling goes with it."""
    return [
        identity
        for identity in claims
        if fnmatch.fnmatchcase(identity, pattern) or fnmatch.fnmatchcase(identity, pattern + ".corrected")
    ]


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselect what `--claim` does not match."""
    patterns = config.getoption("claim")
    session = config.stash.get(SESSION, None)
    if not patterns or session is None:
        return
    wanted = {identity for pattern in patterns for identity in matching(pattern, session.registry.claims)}
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
    workers = int(getattr(config, "workerinput", {}).get("workercount", 1))
    cores = len(psutil.Process().cpu_affinity()) if hasattr(psutil.Process, "cpu_affinity") else os.cpu_count() or 1
    return max(1, cores // workers)


def device_with_its_settings(config: pytest.Config) -> torch.device:
    """Return the device of a session, and set up what this process computes with there."""
    import torch
    from torch.backends import cudnn

    from claims.numerics import resolve_device

    torch.set_num_threads(worker_threads(config))
    # Recurrent layers on a GPU would otherwise round every product to 10 bits, which no tolerance here allows for.
    cudnn.allow_tf32 = False
    return resolve_device(config.getoption("device"))

"""The package as its users get it: built, installed without torch, and used in repositories that are not ours.

Here sdist and wheel are built and installed offline, over the packages that are there, with torch hidden. `tox run -e
package` has built them with what the registry has, and installed the wheel and all that it asks for, and nothing else;
it says in BUILT_PACKAGE where they are.
"""

from __future__ import annotations

import csv
import importlib.util
import os
import shutil
import subprocess
import sys
import tarfile
import textwrap
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from email import message_from_bytes
from pathlib import Path

import pytest
from filelock import FileLock
from packaging.metadata import Metadata
from packaging.requirements import Requirement

ROOT = Path(__file__).parent.parent
EXAMPLE = ROOT / "examples" / "gradient-descent"
BUILT = os.environ.get("BUILT_PACKAGE")

SOURCES = ("lesson_claims", "tests", "pyproject.toml", "MANIFEST.in", "README.md", "LICENSE")

BUILD_SDIST = "import sys; from setuptools import build_meta; build_meta.build_sdist(sys.argv[1])"

WITHOUT_TORCH = '''
"""Python runs this at its start: torch, which is there, is not found."""

import sys
from importlib.machinery import PathFinder


class WithoutTorch(PathFinder):
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        return None if name.partition(".")[0] == "torch" else super().find_spec(name, path, target)

    @classmethod
    def find_distributions(cls, *context, **named):
        return (found for found in super().find_distributions(*context, **named) if found.name != "torch")


sys.meta_path[sys.meta_path.index(PathFinder)] = WithoutTorch
'''


@dataclass(frozen=True)
class Installed:
    """An environment with the wheel in it and without torch."""

    environment: dict[str, str]

    def run(self, *arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
        """Run `python -m ARGUMENTS` in a folder."""
        return subprocess.run(
            [sys.executable, "-m", *arguments],
            cwd=folder,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )

    def pytest(self, *arguments: str, folder: Path) -> str:
        """Run pytest in a folder, where it must succeed, and return what it prints."""
        done = self.run("pytest", "-p", "no:cacheprovider", *arguments, folder=folder)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout


def done(*command: str | Path, cwd: Path) -> str:
    """Run a command, which must succeed, and return what it prints."""
    completed = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)
    assert completed.returncode == 0, completed.stdout + completed.stderr
    return completed.stdout


@pytest.fixture(scope="session")
def made_once(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, Callable[[Path], None]], Path]:
    """Make a folder in the first worker that needs it, for all of them."""
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base

    def folder_of(name: str, make: Callable[[Path], None]) -> Path:
        folder, unfinished = shared / name, shared / f"{name}-unfinished"
        with FileLock(shared / f"{name}.lock"):
            if not folder.exists():
                shutil.rmtree(unfinished, ignore_errors=True)
                unfinished.mkdir()
                make(unfinished)
                unfinished.rename(folder)
        return folder

    return folder_of


@pytest.fixture(scope="session")
def built(made_once: Callable[[str, Callable[[Path], None]], Path]) -> Path:
    """The folder with the sdist and the wheel that was built from it."""

    def build(folder: Path) -> None:
        tree = folder / "tree"
        tree.mkdir()
        for name in SOURCES:
            if (ROOT / name).is_dir():
                shutil.copytree(ROOT / name, tree / name, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                shutil.copy(ROOT / name, tree / name)
        done(sys.executable, "-c", BUILD_SDIST, folder, cwd=tree)
        (sdist,) = folder.glob("*.tar.gz")
        offline = ("--no-build-isolation", "--no-deps", "--no-index")
        done(sys.executable, "-m", "pip", "wheel", *offline, "--wheel-dir", folder, sdist, cwd=folder)

    return Path(BUILT) if BUILT else made_once("built", build)


@pytest.fixture(scope="session")
def wheel(built: Path) -> Path:
    (path,) = built.glob("*.whl")
    return path


@pytest.fixture(scope="session")
def installed(wheel: Path, made_once: Callable[[str, Callable[[Path], None]], Path]) -> Installed:
    def install(folder: Path) -> None:
        offline = ("--no-deps", "--no-index", "--target")
        done(sys.executable, "-m", "pip", "install", *offline, folder, wheel, cwd=folder)
        (folder / "sitecustomize.py").write_text(WITHOUT_TORCH, encoding="utf-8")

    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "PYTHONPATH"))}
    if not BUILT:
        environment["PYTHONPATH"] = str(made_once("installed", install))
    return Installed(environment)


@pytest.fixture
def example(tmp_path: Path) -> Path:
    folder = tmp_path / "a lesson"
    shutil.copytree(EXAMPLE, folder, ignore=shutil.ignore_patterns("__pycache__", "history", "reports"))
    return folder


def column(folder: Path, table: str, key: str, value: str) -> dict[str, str]:
    """One column of a table of the report in a folder, by another."""
    with (folder / "reports" / "latest" / f"{table}.csv").open(newline="", encoding="utf-8") as file:
        return {row[key]: row[value] for row in csv.DictReader(file)}


def test_the_wheel_has_the_engine_alone_and_all_of_it(wheel: Path) -> None:
    there = {path for path in (ROOT / "lesson_claims").rglob("*") if path.is_file() and "__pycache__" not in path.parts}
    with zipfile.ZipFile(wheel) as archive:
        packed = {name for name in archive.namelist() if ".dist-info/" not in name}
    assert packed == {path.relative_to(ROOT).as_posix() for path in there}
    assert "lesson_claims/py.typed" in packed


def test_the_sdist_has_the_engine_and_no_half_of_its_tests(built: Path) -> None:
    (sdist,) = built.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        tops = {name.split("/")[1] for name in archive.getnames() if "/" in name}
    assert tops >= {"lesson_claims", "pyproject.toml", "README.md", "LICENSE"}
    assert tops.isdisjoint({"tests", "claims", "lessons", "reports", "studies", "examples"})


def test_the_metadata_are_valid_and_ask_for_no_library_of_a_lesson(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        (name,) = [name for name in archive.namelist() if name.endswith(".dist-info/METADATA")]
        content = archive.read(name)
        entry_points = archive.read(name.replace("METADATA", "entry_points.txt")).decode()
    metadata = Metadata.from_email(content, validate=True)
    assert metadata.license_expression == "Apache-2.0"
    assert {"Framework :: Pytest", "Typing :: Typed"} <= set(metadata.classifiers or [])
    assert message_from_bytes(content)["Description-Content-Type"] == "text/markdown"
    needed = {Requirement(str(each)).name for each in metadata.requires_dist or [] if each.marker is None}
    extras = {(each.name, str(each.marker)) for each in metadata.requires_dist or [] if each.marker is not None}
    assert needed.isdisjoint({"torch", "scikit-learn"})
    assert extras == {("torch", 'extra == "torch"')}
    # Without its line in conftest.py, the plugin does nothing in anybody's pytest.
    assert entry_points.split() == ["[console_scripts]", "lesson-claims", "=", "lesson_claims.command_line:main"]


def test_what_is_installed_is_the_wheel_and_torch_is_not_there(installed: Installed, tmp_path: Path) -> None:
    (tmp_path / "where.py").write_text(
        "import importlib.util, lesson_claims; print(lesson_claims.__file__, importlib.util.find_spec('torch'))",
        encoding="utf-8",
    )
    where, torch = installed.run("where", folder=tmp_path).stdout.split()
    assert Path(where).parent != ROOT / "lesson_claims"
    assert torch == "None"


def test_the_example_in_a_repository_of_its_own_and_its_second_night(installed: Installed, example: Path) -> None:
    night = ("--seeds", "20", "--history", "history")
    drift = ("lesson_claims", "drift", "--history", "history", "reports/latest")

    assert "7 passed, 1 xfailed" in installed.pytest("-n", "0", *night, "--first-seed", "1000", folder=example)
    verdicts = column(example, "claims", "claim", "verdict")
    assert verdicts.pop("descent.momentum") == "refuted"
    assert len(verdicts) == 6
    assert set(verdicts.values()) == {"holds"}
    printed = {name for name, text in column(example, "measurements", "figure", "printed").items() if text}
    agreements = column(example, "measurements", "figure", "agreement")
    assert len(printed) == 16
    assert {agreements[name] for name in printed} == {"reproduced"}
    assert (example / "reports" / "latest" / "index.html").is_file()
    nothing_yet = installed.run(*drift, folder=example)
    assert nothing_yet.returncode == 3, nothing_yet.stdout + nothing_yet.stderr

    assert "7 passed, 1 xfailed" in installed.pytest("-n", "2", *night, "--first-seed", "2000", folder=example)
    assert column(example, "claims", "claim", "verdict") == verdicts | {"descent.momentum": "refuted"}
    quiet = installed.run(*drift, folder=example)
    assert quiet.returncode == 0, quiet.stdout + quiet.stderr


OWN_PROJECT = {
    "conftest.py": 'pytest_plugins = ["lesson_claims.plugin"]',
    "lessons/__init__.py": "",
    "lessons/dice.py": """
        from dataclasses import dataclass

        import numpy as np

        @dataclass(frozen=True)
        class Rolls:
            count: int = 1000

            def run(self, seed):
                return {"mean": float(np.random.default_rng(seed).integers(1, 7, self.count).mean())}
        """,
    "reports/__init__.py": "UNIT = 'points'",
    "claims/__init__.py": "FACES = 6",
    "claims/dice.toml": """
        [lesson]
        id = "dice"
        title = "A die"

        [[claim]]
        id = "dice.mean"
        where = "the only page"
        says = "The mean roll of a die is more than 3."
        kind = "trained"
        expect = "holds"
        """,
    "claims/test_dice.py": """
        from claims import FACES
        from lessons.dice import Rolls
        from reports import UNIT

        from lesson_claims import beats, claim

        @claim("dice.mean")
        def test_mean(decide, evidence, measure):
            measure.also("mean", evidence(Rolls())["mean"], unit=UNIT, bounds=(1, FACES))
            decide(beats(evidence(Rolls())["mean"], 3.0))
        """,
}


@pytest.mark.parametrize("workers", ["0", "2"])
def test_a_project_may_call_its_own_packages_lessons_claims_and_reports(
    installed: Installed, tmp_path: Path, workers: str
) -> None:
    for name, content in OWN_PROJECT.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(textwrap.dedent(content), encoding="utf-8")
    assert "1 passed" in installed.pytest("-n", workers, folder=tmp_path)
    assert column(tmp_path, "claims", "claim", "verdict") == {"dice.mean": "holds"}
    assert column(tmp_path, "measurements", "figure", "unit") == {"mean": "points"}


def test_without_its_line_the_plugin_adds_nothing(installed: Installed, tmp_path: Path) -> None:
    (tmp_path / "test_other.py").write_text("def test_other(): pass", encoding="utf-8")
    assert "--first-seed" not in installed.pytest("--help", folder=tmp_path)
    assert "claims of the lessons" not in installed.pytest(folder=tmp_path)
    assert not (tmp_path / "reports").exists()


@pytest.mark.skipif(importlib.util.find_spec("mypy") is None, reason="needs mypy, which `tox run -e package` has")
def test_type_checkers_see_the_types(installed: Installed, example: Path) -> None:
    checked = installed.run("mypy", "--strict", "--ignore-missing-imports", ".", folder=example)
    assert checked.returncode == 0, checked.stdout + checked.stderr

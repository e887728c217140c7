"""The libraries that a project imports: to be loaded once, by the process from which each trial is forked."""

from __future__ import annotations

import ast
import importlib.util
from collections.abc import Iterator
from importlib.metadata import entry_points
from pathlib import Path

from lesson_claims.project import Project

ENGINE = __name__.partition(".")[0]
OWN = ("deciders", "digits", "record", "recorded", "registry", "runs.evidence", "runs.platforms", "traceability")
"""Modules of the engine that every trial needs; none of pytest's plugins, which pytest itself has to import."""


def libraries(project: Project) -> list[str]:
    """Return names of modules: those of the engine, and those of installed packages that the project's files import."""
    found = {name for folder in (*project.code, *project.claims) for name in _imported(folder)}
    left_out = {ENGINE, "pytest", "__future__"} | _of_project(project) | _of_plugins()
    usable = {name for name in found if _is_installed(name.partition(".")[0], project.root, left_out)}
    return ["pytest", *(f"{ENGINE}.{name}" for name in OWN), *sorted(usable)]


def _imported(folder: Path) -> Iterator[str]:
    for path in folder.rglob("*.py"):
        try:
            tree = ast.parse(path.read_bytes())
        except (OSError, SyntaxError, ValueError):
            continue  # whoever needs it will say so
        for node in tree.body:
            if isinstance(node, ast.Import):
                yield from (alias.name for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                yield node.module


def _is_installed(package: str, root: Path, left_out: set[str]) -> bool:
    """Say whether a package may be loaded beforehand: it is none of those left out, and not in the project's folder."""
    if package in left_out:
        return False
    try:
        spec = importlib.util.find_spec(package)
    except (ImportError, ValueError):
        return False
    if spec is None:
        return False
    places = [spec.origin or "", *(spec.submodule_search_locations or ())]
    environments = ("site-packages", "dist-packages")  # which may lie in the project's folder
    return not any(
        Path(place).is_relative_to(root) and not set(environments) & set(Path(place).parts) for place in places if place
    )


def _of_project(project: Project) -> set[str]:
    """Return the names that the project's own modules may have; a package elsewhere may share one."""
    folders = (project.root, *project.code, *project.claims)
    return {path.name.removesuffix(".py") for folder in folders if folder.is_dir() for path in folder.iterdir()} | {
        folder.name for folder in folders
    }


def _of_plugins() -> set[str]:
    """Return the top-level modules of packages that have plugins of pytest, which pytest imports in its own way."""
    files = (file for entry in entry_points(group="pytest11") if entry.dist for file in entry.dist.files or ())
    return {file.parts[0].removesuffix(".py") for file in files}

"""A copy of a project's code and claims in another folder, with the edits of a control."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

from lesson_claims.controls import ControlError
from lesson_claims.project import Project

REPORTS = "reports"


def copy_project(project: Project, to: Path, texts: Mapping[str, str]) -> Project:
    """Copy the folders of code and claims and the files beside them, and write other texts for some of the files.

    Neither reports nor folders that begin with a dot are copied, nor caches or environments.

    Args:
        project: what to copy.
        to: a folder, which is made.
        texts: by the path of the file from the root.

    Returns:
        the copy.

    Raises:
        ControlError: if a folder is outside the project.
        OSError: if something cannot be read or written.
    """
    to.mkdir(parents=True)
    for path in project.root.iterdir():
        if path.is_file() and path.name != ".git":
            shutil.copy2(path, to / path.name)
    for folder in (*project.code, *project.claims):
        if not folder.resolve().is_relative_to(project.root.resolve()):
            raise ControlError(f"{folder}: is outside the project, so no copy of the project has it; move it there")
        if folder.is_dir():
            target = to / folder.relative_to(project.root)
            shutil.copytree(folder, target, ignore=_ignored(project.root), dirs_exist_ok=True)
    for name, text in texts.items():
        (to / name).write_bytes(text.encode("utf-8"))
    code, claims = (
        [to / folder.relative_to(project.root) for folder in each] for each in (project.code, project.claims)
    )
    return replace(project, root=to, code=tuple(code), claims=tuple(claims))


def _ignored(root: Path) -> Callable[[str, list[str]], set[str]]:
    def ignored(folder: str, names: list[str]) -> set[str]:
        return {name for name in names if _is_ignored(Path(folder, name), root)}

    return ignored


def _is_ignored(path: Path, root: Path) -> bool:
    if path == root / REPORTS or path.name == "__pycache__":
        return True
    return path.is_dir() and (path.name.startswith(".") or (path / "pyvenv.cfg").is_file())

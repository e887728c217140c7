"""Where a project keeps its lessons, from `[tool.lesson-claims]` in its pyproject.toml.

[tool.lesson-claims]
claims = ["claims"]    # folders of NAME.toml, figures and checks; this is the default
code = ["lessons"]     # folders of the code that recipes run; this is the default
lessons = ["algebra"]  # lessons in the order of the report; those not named follow by name
"""

from __future__ import annotations

import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

TABLE = "[tool.lesson-claims]"


class ProjectError(ValueError):
    """The project's settings cannot be used; one line says where, what and what to do."""


class _Settings(msgspec.Struct, forbid_unknown_fields=True):
    claims: tuple[str, ...] = ("claims",)
    code: tuple[str, ...] = ("lessons",)
    lessons: tuple[str, ...] = ()


@dataclass(frozen=True)
class Project:
    """A repository with lessons.

    Attributes:
        root: its top folder, absolute.
        claims: folders of what the pages say, absolute.
        code: folders of the lessons' code, absolute.
        lessons: names of lessons in the order of the report; the others follow.
        named: whether the settings name the folders, so that one that is missing is a mistake.
    """

    root: Path
    claims: tuple[Path, ...]
    code: tuple[Path, ...]
    lessons: tuple[str, ...] = ()
    named: bool = False

    @property
    def packages(self) -> frozenset[str]:
        """Names of the top-level packages that the code folders are."""
        return frozenset(folder.name for folder in self.code)

    def require(self, recipe: object) -> None:
        """Refuse a recipe whose class is defined outside the project's code and its folders of claims.

        Raises:
            ProjectError: if so; what such a recipe runs might be changed unseen.
        """
        module = type(recipe).__module__
        file = getattr(sys.modules.get(module), "__file__", None)
        inside = file is not None and any(
            folder in Path(file).resolve().parents for folder in map(Path.resolve, (*self.code, *self.claims))
        )
        if not inside and module.partition(".")[0] not in self.packages:
            code = ", ".join(folder.name for folder in self.code)
            raise ProjectError(
                f"recipe {type(recipe).__name__} of {module} ({file or 'no file'}) is outside the lessons' code"
                f" ({code}); move it there, or add its folder in {self.settings}: {TABLE} code"
            )

    @property
    def settings(self) -> Path:
        """The file that has the project's settings, or may have them."""
        return self.root / "pyproject.toml"


def read_project(root: Path) -> Project:
    """Read the settings of the project in a folder; without pyproject.toml or the table, the defaults hold.

    Raises:
        ProjectError: if the file cannot be read, or a setting is unknown or of another type.
    """
    path = root / "pyproject.toml"
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        content = {}
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ProjectError(f"{path}: cannot be read: {error}") from error
    table: Any = content.get("tool", {}).get("lesson-claims", {})
    try:
        settings = msgspec.convert(table, _Settings)
    except msgspec.ValidationError as error:
        known = ", ".join(_Settings.__struct_fields__)
        raise ProjectError(f"{path}, {TABLE}: {error}; the settings are {known}, lists of names each") from error
    return Project(
        root,
        tuple(root / name for name in settings.claims),
        tuple(root / name for name in settings.code),
        settings.lessons,
        named=isinstance(table, dict) and "claims" in table,
    )

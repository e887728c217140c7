"""Where the code of each statement stands: which names of the lessons' code a claim's checks use, by their source.

A check uses a name of the lessons' code if it, or a function or constant of its own module that it uses, mentions that
name. Nothing is run or imported.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from lesson_claims.project import Project
from lesson_claims.registry import CORRECTED, Claim, Registry, RegistryError
from lesson_claims.traceability import Check, read_checks


@dataclass(frozen=True)
class Place:
    """A claim of the page, or one of ours, with all that belongs to it.

    Attributes:
        claim: as the registry has it.
        code: names of the lessons' code that its checks use, by their module.
        checks: ids of its checks, those of its corrected claim among them.
        figures: names of its figures; a vector's are one, with their number.
    """

    claim: Claim
    code: Mapping[str, tuple[str, ...]]
    checks: tuple[str, ...]
    figures: tuple[str, ...]


def code_map(project: Project, registry: Registry) -> list[Place]:
    """Return a place for each claim, in the order of the pages; corrected claims stand with theirs.

    Raises:
        RegistryError: if a module of checks cannot be read, or a check does not fit the registry.
    """
    checks: dict[str, list[Check]] = {}
    for check in read_checks(project.root, project.claims, registry):
        checks.setdefault(check.claim.removesuffix(CORRECTED), []).append(check)
    modules = {
        check.id.split("::")[0]: _Module(project.root / check.id.split("::")[0], project.packages)
        for own in checks.values()
        for check in own
    }
    places = []
    for claim in registry.claims.values():
        if claim.is_corrected:
            continue
        used: dict[str, set[str]] = {}
        for check in checks.get(claim.id, []):
            file, name = check.id.split("::")
            for module, imported in modules[file].code_of(name):
                used.setdefault(module, set()).add(imported)
        code = {module: tuple(sorted(sorted(names), key=str.casefold)) for module, names in sorted(used.items())}
        own = tuple(check.id for check in checks.get(claim.id, []))
        places.append(Place(claim, code, own, tuple(_grouped(registry.figures.get(claim.id, ())))))
    return places


class _Module:
    """A module of checks: what it imports from the lessons' code, and what its own functions and constants mention."""

    def __init__(self, path: Path, packages: frozenset[str]) -> None:
        try:
            tree = ast.parse(path.read_text(encoding="utf-8"), str(path))
        except (OSError, UnicodeDecodeError, SyntaxError) as error:
            raise RegistryError(f"{path}: cannot be read: {error}") from error
        self._imported = dict(_imports(tree, packages))
        self._mentions: dict[str, set[str]] = {}
        for node in tree.body:
            names = {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}
            for defined in _defined(node):
                self._mentions.setdefault(defined, set()).update(names)

    def code_of(self, check: str) -> list[tuple[str, str]]:
        """Return module and name of all of the lessons' code that a check uses."""
        reached, waiting = set(), [check]
        while waiting:
            name = waiting.pop()
            if name not in reached:
                reached.add(name)
                waiting.extend(self._mentions.get(name, ()))
        return [self._imported[name] for name in sorted(reached) if name in self._imported]


def _imports(tree: ast.Module, packages: frozenset[str]) -> Iterator[tuple[str, tuple[str, str]]]:
    """Yield each name that a module imports from packages, with the module and the name there."""
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] in packages:
            for alias in node.names:
                yield alias.asname or alias.name, (node.module, alias.name)
        elif isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.split(".")[0] in packages:
                    yield alias.asname or alias.name.split(".")[0], (alias.name, "")


def _defined(node: ast.stmt) -> Iterator[str]:
    """Yield the names that a statement of a module defines."""
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        yield node.name
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    for target in targets:
        yield from (each.id for each in ast.walk(target) if isinstance(each, ast.Name))


def _grouped(figures: Iterable[str]) -> list[str]:
    """Return names of figures in order; those that differ in their last index are one."""
    groups: dict[str, int] = {}
    for name in figures:
        vector = re.sub(r"\[\d+\]$", "", name)
        groups[vector] = groups.get(vector, 0) + 1
    return [f"{name} ({number} numbers)" if number > 1 else name for name, number in groups.items()]

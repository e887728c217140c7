"""A fingerprint of the code that a recipe runs, so that a run made by other code is never taken for a fresh one.

It covers the classes of the recipe and of the configurations inside it, and from there every function, class and
constant of the `lessons` package that their code names, and so on. Comments, docstrings and annotations do not count:
they change no number. What a library does is covered by its version: torch's and NumPy's are part of the numerics,
another's is added where its code is named.
"""

from __future__ import annotations

import ast
import hashlib
import inspect
import json
import sys
import textwrap
from collections.abc import Hashable, Iterator
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any

PACKAGE = "lessons"


def content(value: Any) -> Any:
    """Turn a recipe into plain data: each dataclass with its name and its fields, but those that do not compare.

    Raises:
        TypeError: if it holds something that has no plain form.
    """
    if is_dataclass(value) and not isinstance(value, type):
        return {
            "is": f"{type(value).__module__}.{type(value).__qualname__}",
            **{field.name: content(getattr(value, field.name)) for field in fields(value) if field.compare},
        }
    if isinstance(value, (list, tuple)):
        return [content(item) for item in value]
    if isinstance(value, dict):
        return {str(key): content(item) for key, item in value.items()}
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    raise TypeError(f"a recipe holds {value!r}, which is neither a number, a text nor a dataclass of these")


@cache
def code_fingerprint(recipe: Hashable) -> str:
    """Return 16 hexadecimal digits that stand for the code that a recipe (a frozen dataclass) runs."""
    configurations = set(_configurations(recipe))
    pending: list[Any] = sorted(configurations, key=_name)
    seen: dict[str, str] = {}
    while pending:
        current = pending.pop()
        name = _name(current)
        if name in seen:
            continue
        # What the fields of a configuration hold is part of the recipe's content; their defaults do not matter.
        seen[name], names = _essence(current, without_fields=current in configurations)
        module = sys.modules[current.__module__]
        for used in names:
            value = getattr(module, used, None)
            if _is_ours(value):
                pending.append(value)
            elif used in vars(module) and not inspect.ismodule(value):
                seen[f"{current.__module__}.{used}"] = _constant(value, pending)
    return hashlib.sha256(json.dumps(seen, sort_keys=True).encode()).hexdigest()[:16]


def _name(code: Any) -> str:
    return f"{code.__module__}.{code.__qualname__}"


def _configurations(value: Any) -> Iterator[type]:
    if is_dataclass(value) and not isinstance(value, type):
        yield type(value)
        for field in fields(value):
            yield from _configurations(getattr(value, field.name))
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _configurations(item)


def _is_ours(value: Any) -> bool:
    return (inspect.isfunction(value) or inspect.isclass(value)) and value.__module__.split(".")[0] == PACKAGE


def _constant(value: Any, pending: list[Any]) -> str:
    if isinstance(value, dict):
        return json.dumps({str(key): _constant(item, pending) for key, item in value.items()}, sort_keys=True)
    if _is_ours(value):
        pending.append(value)
    if inspect.isclass(value) or inspect.isroutine(value):
        return _name(value) + _version_of(value)
    try:
        return json.dumps(content(value), sort_keys=True)
    except TypeError:
        return type(value).__qualname__  # such as a type alias, which runs no code


def _version_of(value: Any) -> str:
    """Return the version of a library that the numerics do not name already, such as scikit-learn's."""
    package = (value.__module__ or "").split(".")[0]
    if package in ("torch", "numpy", PACKAGE):
        return ""
    version = getattr(sys.modules.get(package), "__version__", None)
    return f" {version}" if version else ""


class _Essence(ast.NodeTransformer):
    """Drops what changes no number: docstrings, annotations."""

    def _without_docstring(self, node: Any) -> Any:
        self.generic_visit(node)
        if ast.get_docstring(node, clean=False) is not None:
            node.body = node.body[1:] or [ast.Pass()]
        if isinstance(node, ast.FunctionDef):
            node.returns = None
        return node

    visit_FunctionDef = _without_docstring  # noqa: N815  the names are the library's
    visit_ClassDef = _without_docstring  # noqa: N815

    def visit_arg(self, node: ast.arg) -> ast.arg:
        node.annotation = None
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AnnAssign:
        self.generic_visit(node)
        node.annotation = ast.Constant(None)
        return node


@cache
def _essence(code: Any, *, without_fields: bool) -> tuple[str, tuple[str, ...]]:
    """Return what of a function or class may change a number, as text, and the names that it uses."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(code)))
    if without_fields and isinstance(tree.body[0], ast.ClassDef):
        tree.body[0].body = [node for node in tree.body[0].body if not isinstance(node, ast.AnnAssign)] or [ast.Pass()]
    transformed: ast.Module = _Essence().visit(tree)
    names = {node.id for node in ast.walk(transformed) if isinstance(node, ast.Name)}
    return ast.dump(transformed), tuple(sorted(names))

"""What a recipe is made of, so that a run made by other code is never taken for a fresh one.

`content` is the recipe itself as plain data; `code_of` stands for the code that it can reach. That code is read from
its files and never executed. It is sought in every module that can be imported from where the recipe's classes are
defined, directly or through others, at the top of a module or inside a function. Of these modules count:

- The definitions of the recipe's classes, and each function, class, constant and import whose name occurs in code that
  counts, whatever it means there: `model.train()` counts every `train`. A class counts as a whole.
- Each statement that may do more than define a name when its module is imported: `register(model)`, a decorator of
  our own, a loop, `torch.backends.cudnn.benchmark = True`.
- All of a module that is used as an object. All of them, where code finds names by itself: `globals()`, `getattr` with
  a computed name, `__subclasses__`. Where it imports by a name in a text, the other modules of its package too.
- The content of each file that a text names: a field of the recipe, or a text in code that counts, alone or joined
  as in `folder / "data" / "rows.csv"`. It is looked for in the module's folder, the folders above it up to the
  project's, and the working folder. A folder that code names as a path, or lists, counts with all its files.

These do not count: comments, docstrings, what is imported for type checkers alone, annotations of functions without a
decorator. Installed packages are libraries, which count by their version; so is this engine, wherever it lies. The
standard library is part of the numerics. All other code is sought, whatever repository it is in, and so is an
installed package that is declared to be lesson code.
"""

from __future__ import annotations

import ast
import builtins
import hashlib
import importlib.metadata
import importlib.util
import itertools
import json
import os
import re
import sys
import sysconfig
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from functools import cache, cached_property
from importlib.machinery import PathFinder
from pathlib import Path, PurePath
from types import MappingProxyType
from typing import Any, TypeAlias

from lesson_claims.runs.recipe import RecipeError

ENGINE = __name__.partition(".")[0]
PROJECT_FILES = ("pyproject.toml", "setup.py", ".git")

FINDS_NAMES = {"globals", "locals", "vars", "dir", "eval", "exec", "getmembers", "__dict__", "__subclasses__"}
IMPORTS_BY_NAME = {"import_module", "__import__", "find_spec", "run_module", "reload", "iter_modules", "walk_packages"}
LISTS_FILES = {"iterdir", "listdir", "scandir", "glob", "rglob", "iglob"}
TAKES_FOLDERS = {"Path", "PurePath", "joinpath", "join", "with_name", "files", "walk", *LISTS_FILES}
MAKES_OBJECTS = {"__new__", "__init__", "__post_init__", "__init_subclass__"}
HARMLESS = {
    *vars(builtins).keys() - {"eval", "exec", "setattr", "delattr", "__import__", "map", "filter", "type"},
    *("items", "keys", "values", "join", "split", "format", "setter", "__init__", "__setattr__"),
    *("dataclass", "field", "replace", "namedtuple", "partial", "cache", "lru_cache", "cached_property", "wraps"),
    *("contextmanager", "abstractmethod", "overload", "override", "final", "runtime_checkable", "total_ordering"),
    *("unique", "auto", "no_grad", "inference_mode", "array", "tensor", "claim", "refuted", "fixture", "parametrize"),
}
"""Functions that are not expected to do more than return a value when they are called; nor are classes."""

Texts: TypeAlias = frozenset[tuple[str, bool]]
"""Texts that may name a file; true with those that may name a folder."""

Place: TypeAlias = tuple[str | None, tuple[str, ...] | None]
"""Where a module's file is, and of a package the folders of the modules in it."""


@dataclass(frozen=True)
class Code:
    """The code that a recipe can reach.

    Attributes:
        digest: 16 hexadecimal digits; the same for the same code wherever it lies.
        libraries: version of each library that this code uses, by the name it is imported under, sorted; "unknown" if
            it has none, "absent" if it is not installed.
    """

    digest: str
    libraries: Mapping[str, str] = field(hash=False)


def content(value: Any) -> Any:
    """Turn a recipe into plain data: each dataclass with its name and its fields, but those that do not compare.

    Raises:
        RecipeError: if it holds something that has no plain form.
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
    if isinstance(value, PurePath):
        return value.as_posix()
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    raise RecipeError(f"a recipe holds {value!r}, which is neither a number, a text, a path nor a dataclass of these")


def code_of(recipe: Hashable, declared: Collection[str] = ()) -> Code:
    """Return what stands for all code that a recipe can reach; it is found out once for the same classes and texts.

    Args:
        recipe: a frozen dataclass; its class, and those of what its fields hold, are defined in modules with files.
        declared: names of top-level packages that are lesson code even where they are installed.

    Raises:
        RecipeError: if the recipe's class is defined in a function, or the source of a class cannot be found.
    """
    if "<locals>" in type(recipe).__qualname__:  # others made in the same place would have the same name
        raise RecipeError(f"{type(recipe).__qualname__} is defined in a function; define it at the top of its module")
    values = list(_values(recipe))
    texts = {(str(value), isinstance(value, PurePath)) for value in values if isinstance(value, (str, PurePath))}
    return _code_of(frozenset(map(type, values)), frozenset(texts), frozenset(declared))


@cache
def _code_of(classes: frozenset[type], texts: Texts, declared: frozenset[str]) -> Code:
    names = [(each.__module__, each.__qualname__) for each in classes if each.__module__ != "builtins"]
    return Sources(declared).code_of(names, texts)


def _values(value: Any) -> Iterator[Any]:
    """Yield a recipe and all that its fields hold, at any depth."""
    yield value
    if is_dataclass(value) and not isinstance(value, type):
        value = [getattr(value, field.name) for field in fields(value) if field.compare]
    elif isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        for item in value:
            yield from _values(item)


class Sources:
    """The modules that can be imported, and what counts in them."""

    def __init__(self, declared: Collection[str] = (), path: Sequence[str] = ()) -> None:
        """Look for modules in the folders of `path`, and then where this process would."""
        self._declared = declared
        self._path = tuple(path)
        self._places: dict[str, Place | None] = {}
        self._modules: dict[str, _Module | str | None] = {}

    def code_of(self, classes: Collection[tuple[str, str]], texts: Texts = frozenset()) -> Code:
        """Return the code that a recipe reaches, from the module and the name of each class in it, and its texts.

        Raises:
            TypeError: if the source of a class cannot be found.
        """
        for module, name in classes:
            if self._place(module) is None or module == "types":  # where classes that a function makes say they are
                raise RecipeError(
                    f"{module}.{name}: its source is not there; define the class in a module of the lesson"
                )
        begun = {module for module, _ in classes}
        named: set[str] = set()
        while True:
            modules = self._imported(begun | named)
            counting = self._counting(modules, classes)
            before, named = named, self._imported_by_name(counting, texts)
            if named <= before:
                break
        code = [[name, *(part.text for part in modules[name].parts if part in counting)] for name in sorted(modules)]
        files = {file for part in counting for file in part.files()}
        files |= {file for name in begun & modules.keys() for file in _files(modules[name], texts)}
        kept = json.dumps([[each for each in code if len(each) > 1], sorted(files)])
        found = map(self._module, {*begun, *named, *(part.source for part in counting if part.source)})
        libraries = {each: self._version(each) for each in sorted(each for each in found if isinstance(each, str))}
        return Code(hashlib.sha256(kept.encode()).hexdigest()[:16], MappingProxyType(libraries))

    def _imported(self, names: Iterable[str]) -> dict[str, _Module]:
        """Return modules with all that they import, and the packages above these."""
        found: dict[str, _Module] = {}
        pending = list(names)
        while pending:
            name = pending.pop()
            module = self._module(name)
            if isinstance(module, _Module) and name not in found:
                found[name] = module
                pending += [*module.loads, name.rpartition(".")[0] or name]
        return found

    def _counting(self, modules: Mapping[str, _Module], classes: Iterable[tuple[str, str]]) -> set[_Part]:
        """Return the parts of modules that count."""
        parts = [part for module in modules.values() for part in module.parts]
        by_name: dict[str, list[_Part]] = {}
        for part in parts:
            for name in part.binds:
                by_name.setdefault(name, []).append(part)
        pending = _acting(parts)
        pending += [part for part in parts if part.unused and isinstance(self._module(part.source), str)]
        for module, name in classes:
            if module in modules:
                own = modules[module].parts
                pending += [part for part in own if name.partition(".")[0] in part.binds and "<" not in name] or own
        counting: set[_Part] = set()
        while pending:
            part = pending.pop()
            if part.finds_names:
                return set(parts)
            if part not in counting:
                counting.add(part)
                pending += self._handed_on(part)
                pending += [other for word in part.mentioned for other in by_name.get(word, ())]
        return counting

    def _handed_on(self, part: _Part) -> Iterator[_Part]:
        """Yield all of the modules that a part uses as objects: what will be asked of them is not known."""
        for first, *others in part.names:
            for binding in part.module.imports.get(first, ()):
                module = self._module(".".join([binding.source, *binding.path, *others]))
                if isinstance(module, _Module):
                    yield from module.parts

    def _imported_by_name(self, counting: Iterable[_Part], texts: Texts) -> set[str]:
        """Return the modules that may be imported by a name that stands in a text or is computed."""
        packages = {part.module.name.partition(".")[0] for part in counting if part.words & IMPORTS_BY_NAME}
        if not packages:
            return set()
        names = {name for package in packages for name in self._below(package)} | {text for text, _ in texts}
        names |= {part.module.absolute(text) for part in counting for text, _ in part.texts}
        return {name for name in names if re.fullmatch(r"\w+(\.\w+)*", name) and self._place(name) is not None}

    def _below(self, package: str) -> Iterator[str]:
        """Yield the name of a package and those of all modules in it."""
        yield package
        _, folders = self._place(package) or (None, None)
        for folder in folders or ():
            for entry in sorted(Path(folder).iterdir()):
                name = entry.name.partition(".")[0]
                if name.isidentifier() and not name.startswith("__"):
                    yield from self._below(f"{package}.{name}")

    def _module(self, name: str) -> _Module | str | None:
        """Return a module whose code counts; of another its library, None for the standard library.

        A module that is not there stands for itself, like a library.
        """
        if name not in self._modules:
            self._modules[name] = self._find(name)
        return self._modules[name]

    def _find(self, name: str) -> _Module | str | None:
        top = name.partition(".")[0]
        place = self._place(top)
        if place is None or top == ENGINE:
            return top
        homes = set(map(_home, [place[0]] if place[0] is not None else place[1] or ()))
        if homes == {"standard"}:
            return None
        if homes == {"installed"} and top not in self._declared:
            return top
        place = self._place(name)
        if place is None:
            return name
        file = None if place[0] is None else Path(place[0]).absolute()
        code = b"" if file is None else file.read_bytes()
        read = _read.get(name)
        if read is None or (read.file, read.folders, read.code) != (file, place[1], code):
            _read[name] = read = _Module(name, file, place[1], code)
        return read

    def _place(self, name: str) -> Place | None:
        if name not in self._places:
            self._places[name] = self._look_for(name)
        return self._places[name]

    def _look_for(self, name: str) -> Place | None:
        parent = name.rpartition(".")[0]
        above = self._place(parent) if parent else (None, self._path)
        spec = PathFinder.find_spec(name, above[1]) if above is not None and above[1] else None
        loaded = sys.modules.get(name)
        if spec is None and loaded is not None and vars(loaded).get("__file__"):
            folders = vars(loaded).get("__path__")
            return str(loaded.__file__), None if folders is None else tuple(folders)
        if spec is None and not parent:
            try:
                spec = importlib.util.find_spec(name)
            except ValueError:  # what is loaded does not say where it is from
                spec = PathFinder.find_spec(name)
        if spec is None:
            return None
        below = spec.submodule_search_locations
        return spec.origin, None if below is None else tuple(below)

    def _version(self, library: str) -> str:
        return "absent" if self._place(library) is None else _version(library)


class _Module:
    """A module whose code counts, in parts; and the modules that it loads."""

    def __init__(self, name: str, file: Path | None, folders: tuple[str, ...] | None, code: bytes) -> None:
        """Parse the code of a module; `folders` is where the modules of a package are, None if it is no package."""
        self.name = name
        self.file = file
        self.folders = folders
        self.code = code
        try:
            tree = ast.parse(code)
        except (SyntaxError, ValueError):  # it is compiled, or no code of this Python
            tree = ast.parse(f"unreadable({hashlib.sha256(code).hexdigest()!r})")
        statements = [_Part(self, node, frozenset(_bound(node))) for node in _Essence().visit(tree).body]
        imports = [part for statement in statements for node in statement.nodes for part in self._bindings(node)]
        others = [part for part in statements if not isinstance(part.node, (ast.Import, ast.ImportFrom))]
        self.parts = sorted([*imports, *others], key=lambda part: (part.node.lineno, part.node.col_offset))
        self.loads = {name for part in imports for name in (part.source, ".".join([part.source, *part.path]))}
        self.imports: dict[str, list[_Part]] = {}
        for part in imports:
            for bound in part.binds:
                self.imports.setdefault(bound, []).append(part)
        self.used = {names[0] for part in statements for names in part.names}

    @cached_property
    def above(self) -> list[Path]:
        """The folder that the module is in and those above it, up to the project's."""
        if self.file is None:
            return []
        above = list(self.file.parents)
        top = self.name.count(".") + (self.folders is not None)
        projects = (i for i, folder in enumerate(above) if any((folder / name).exists() for name in PROJECT_FILES))
        return above[: max(top, next(projects, 0)) + 1]

    def has_within(self, folder: Path) -> bool:
        """Say whether a folder lies in the project, and the module not in it."""
        return folder.is_relative_to(self.above[-1].resolve()) and folder not in map(Path.resolve, self.above)

    def _bindings(self, node: ast.AST) -> Iterator[_Part]:
        """Yield a part for each name that an import binds."""
        if isinstance(node, ast.Import):
            for alias in node.names:
                source = alias.name if alias.asname else alias.name.partition(".")[0]
                yield _Part(self, alias, frozenset([alias.asname or source]), source)
                if source != alias.name:  # loaded too, without a name of its own
                    yield _Part(self, alias, frozenset([source]), alias.name)
        elif isinstance(node, ast.ImportFrom):
            source = self.absolute("." * node.level + (node.module or ""))
            for alias in node.names:
                path = () if alias.name == "*" else (alias.name,)
                yield _Part(self, alias, frozenset([alias.asname or alias.name]), source, path)

    def absolute(self, name: str) -> str:
        """Return the full name of a module that may be named relative to this one."""
        level = len(name) - len(name.lstrip("."))
        above = self.name.split(".")
        above = above[: len(above) - level + (self.folders is not None)] if level else []
        return ".".join([*above, *filter(None, [name[level:]])])


@dataclass(eq=False)
class _Part:
    """A statement at the top of a module, or one name that an import binds."""

    module: _Module
    node: Any
    binds: frozenset[str]
    source: str = ""  # the module that the import names,
    path: tuple[str, ...] = ()  # and what it takes from there

    @cached_property
    def text(self) -> str:
        """All of it that counts."""
        return f"{self.source} {self.path} {sorted(self.binds)}" if self.source else ast.dump(self.node)

    @cached_property
    def nodes(self) -> list[ast.AST]:
        """The statement and all that is in it."""
        return list(ast.walk(self.node))

    @cached_property
    def names(self) -> frozenset[tuple[str, ...]]:
        """The dotted names in it, each in its full length."""
        within = {id(node.value) for node in self.nodes if isinstance(node, ast.Attribute)}
        return frozenset(_dotted(node) for node in self.nodes if id(node) not in within) - {()}

    @cached_property
    def words(self) -> frozenset[str]:
        """The words that its names are made of."""
        attributes = (node.attr for node in self.nodes if isinstance(node, ast.Attribute))
        return frozenset([*attributes, *self.path, *(word for names in self.names for word in names)])

    @cached_property
    def mentioned(self) -> frozenset[str]:
        """These and the words of texts that may be names."""
        texts = (re.findall(r"\w+", text) for text, _ in self.texts if " " not in text)
        return self.words.union(*texts)

    @cached_property
    def texts(self) -> Texts:
        """The texts in it, alone and joined."""
        found = set()
        for node in self.nodes:
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                found.add((node.value, "/" in node.value))
            elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
                found |= {(text, True) for text in _joined(_divided(node))}
            elif isinstance(node, ast.Call):
                called = _last_word(node.func)
                found |= {(text, called in TAKES_FOLDERS) for text in _joined(node.args)}
                if called == "files":  # of a package, by its dotted name
                    found |= {(text.replace(".", "/"), True) for text in _joined(node.args)}
        return frozenset(found)

    def files(self) -> list[tuple[str, str]]:
        """Return the files that it names or lists, with a digest of the content of each."""
        listed = self.module.above[:1] if self.words & LISTS_FILES else []
        beside = [file for folder in listed for file in _within(folder, ".") if not file[0].endswith(".py")]
        return [*_files(self.module, self.texts), *beside]

    @cached_property
    def unused(self) -> bool:
        """Whether it is an import whose name its module does not use."""
        return bool(self.source) and not self.binds & self.module.used

    @cached_property
    def finds_names(self) -> bool:
        """Whether it finds names by itself."""
        calls = (node for node in self.nodes if isinstance(node, ast.Call) and _last_word(node.func) == "getattr")
        computed = any(not isinstance(name, ast.Constant) for call in calls for name in call.args[1:2])
        attributes = self.words - vars(builtins).keys()  # `model.eval()` is another function
        return computed or bool(FINDS_NAMES & (attributes | {names[0] for names in self.names}))

    @cached_property
    def called(self) -> frozenset[str]:
        """What is called when the statement is executed: the names of classes, and "()" for what may have an effect."""
        return frozenset(_called(self.node))

    @cached_property
    def called_by_its_name(self) -> frozenset[str]:
        """What is called when the name is: of a class, when an object or a class below it is made."""
        if not isinstance(self.node, ast.ClassDef):
            return frozenset() if isinstance(self.node, (ast.FunctionDef, ast.AsyncFunctionDef)) else self.words
        making = [each for each in self.node.body if getattr(each, "name", "") in MAKES_OBJECTS]
        calls = self.called.union(map(_called_as, _calls(*making)))
        return calls | {"()" for each in making if _sets_elsewhere(each, but="self")}


def _calls(*nodes: ast.AST) -> Iterator[ast.Call]:
    return (inner for node in nodes for inner in ast.walk(node) if isinstance(inner, ast.Call))


def _called(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.alias() if node.name != "*":
            pass
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            yield from map(_called_as, node.decorator_list)
            yield from map(_called_as, _calls(*node.decorator_list, node.args))
        case ast.ClassDef() if not node.keywords:
            yield from map(_called_as, [*node.decorator_list, *node.bases])
            yield from map(_called_as, _calls(*node.decorator_list, *node.bases))
            for inner in node.body:
                yield from _called(inner)
        case ast.Assign() | ast.AnnAssign() if not _sets_elsewhere(node):
            yield from map(_called_as, _calls(node))
        case _ if not isinstance(node, ast.Pass):
            yield "()"


def _called_as(called: ast.expr) -> str:
    """Return the name of a class that is called or derived from; "()" for a function that may have an effect."""
    while isinstance(called, (ast.Call, ast.Subscript)):
        called = called.func if isinstance(called, ast.Call) else called.value
    word = _last_word(called)
    return word if word in HARMLESS or word.lstrip("_")[:1].isupper() else "()"


def _acting(parts: Collection[_Part]) -> list[_Part]:
    """Return the statements that may do more than define a name when their modules are imported."""
    functions = {part.node.name for part in parts if isinstance(part.node, (ast.FunctionDef, ast.AsyncFunctionDef))}
    named_alike = HARMLESS & {name for part in parts if not part.source for name in part.binds}
    acting: set[str] = set()
    more = {"()"} | functions | named_alike
    while more - acting:
        acting |= more
        more = {name for part in parts if acting & part.called_by_its_name for name in part.binds}
    special = {name for part in parts for name in part.binds if name.startswith("__")}  # such as `__getattr__`
    return [part for part in parts if part.called & acting or part.binds & special]


class _Essence(ast.NodeTransformer):
    """Drops what changes no number."""

    def generic_visit(self, node: ast.AST) -> ast.AST:
        """Look into statements alone."""
        return node if isinstance(node, ast.expr) else super().generic_visit(node)

    def visit_Expr(self, node: ast.Expr) -> ast.AST | None:
        """Drop docstrings, and texts that stand below a constant."""
        return None if isinstance(node.value, ast.Constant) else self.generic_visit(node)

    def visit_If(self, node: ast.If) -> Any:
        """Drop what is for type checkers alone."""
        self.generic_visit(node)
        return node.orelse if _last_word(node.test) == "TYPE_CHECKING" else node

    def visit_FunctionDef(self, node: Any) -> ast.AST:
        """Drop annotations, unless a decorator may read them."""
        if not node.decorator_list:
            node.returns = None
            for argument in ast.walk(node.args):
                if isinstance(argument, ast.arg):
                    argument.annotation = None
        return self.generic_visit(node)

    visit_AsyncFunctionDef = visit_FunctionDef  # noqa: N815  the names are the library's


_read: dict[str, _Module] = {}
"""The modules that this process has read, by name: what recipes share is read once."""


def _dotted(node: ast.AST) -> tuple[str, ...]:
    """Return the words of a dotted name, none if it is something else."""
    if isinstance(node, ast.Name):
        return (node.id,)
    above = _dotted(node.value) if isinstance(node, ast.Attribute) else ()
    return (*above, node.attr) if above and isinstance(node, ast.Attribute) else ()


def _last_word(node: ast.AST) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _bound(node: ast.AST) -> Iterator[str]:
    """Yield the names that a statement defines."""
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        yield node.name
    elif not isinstance(node, (ast.comprehension, ast.Lambda)):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            yield node.id
        for child in ast.iter_child_nodes(node):
            yield from _bound(child)


def _sets_elsewhere(node: ast.AST, but: str = "") -> bool:
    """Say whether code sets attributes or items, other than attributes of the name `but`."""
    stored = [inner for inner in ast.walk(node) if isinstance(inner, (ast.Attribute, ast.Subscript))]
    return any(_dotted(each)[:-1] != (but,) for each in stored if not isinstance(each.ctx, ast.Load))


def _divided(node: ast.expr) -> list[ast.expr]:
    """Return the operands of `a / b / c`."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
        return [*_divided(node.left), node.right]
    return [node]


def _joined(nodes: Iterable[ast.expr]) -> list[str]:
    """Join the texts that follow one another, as the parts of a path."""
    texts = [node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else "" for node in nodes]
    return ["/".join(run) for is_text, run in itertools.groupby(texts, bool) if is_text]


def _files(module: _Module, texts: Iterable[tuple[str, bool]]) -> Iterator[tuple[str, str]]:
    """Yield the files that texts in a module name: each as it is named, with a digest of its content."""
    for text, may_be_folder in texts:
        for folder in [*module.above, Path.cwd()]:
            named = folder / text
            if os.path.isfile(named):  # noqa: PTH113  it bears any text
                yield text, _digest(named, _stamp(named))
            elif may_be_folder and os.path.isdir(named) and module.has_within(named.resolve()):  # noqa: PTH112
                yield from _within(named, text)


def _within(folder: Path, name: str) -> Iterator[tuple[str, str]]:
    """Yield all files in a folder, but hidden ones and what Python compiled."""
    for file in sorted(folder.rglob("*")):
        inside = file.relative_to(folder)
        if file.is_file() and not any(part.startswith((".", "__pycache__")) for part in inside.parts):
            yield f"{name}/{inside.as_posix()}", _digest(file, _stamp(file))


@cache
def _digest(file: Path, _stamp: object) -> str:
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()


def _stamp(file: Path) -> tuple[int, int]:
    status = file.stat()
    return status.st_mtime_ns, status.st_size


@cache
def _home(place: str) -> str:
    """Say whether a file is "installed", of the "standard" library, or neither: then it is "ours"."""
    if any(part in ("site-packages", "dist-packages") for part in Path(place).parts):
        return "installed"
    for home, names in (("installed", ("purelib", "platlib")), ("standard", ("stdlib", "platstdlib"))):
        if any(Path(place).is_relative_to(sysconfig.get_path(name)) for name in names):
            return home
    return "standard" if place in ("built-in", "frozen") else "ours"


@cache
def _version(library: str) -> str:
    """Return the version of an installed library, given by the name that it is imported under."""
    try:
        return importlib.metadata.version(library)
    except importlib.metadata.PackageNotFoundError:  # its distribution has another name
        listed = re.compile(rf"^{re.escape(library)}(?=$|/|\.py)", re.MULTILINE)
        homes = (
            each
            for each in importlib.metadata.distributions()
            if listed.search(each.read_text("top_level.txt") or each.read_text("RECORD") or "")
        )
        return ", ".join(sorted({each.version for each in homes})) or "unknown"

"""The registry: what the pages say, read from the TOML files beside the checks, with the figures of the lessons.

A lesson of one page is one file, NAME.toml:

    [lesson]
    id = "descent"
    title = "Gradient descent"

    [[claim]]
    id = "descent.exactly-balanced"
    where = "first look at the data"
    says = "The two classes are exactly balanced."
    kind = "exact"
    expect = "refuted"
    reason = "Each label is a fair coin."
    see = ["descent.label-rule"]

    [claim.corrected]
    says = "Each label is a fair coin, so the classes balance in expectation only."
    kind = "behaviour"
    suggest = "The classes are balanced up to chance: {class balance} of these rows are labelled 1."

A lesson with parts has that file without claims, and beside it a file for each part, in the order of their names:

    [part]
    lesson = "course"
    id = "day1"
    name = "Day 1"
    title = "the first model"

A claim's id starts with the ids of its lesson and part: `course.day1.label-rule`. A claim that is refuted needs a
reason and the table `corrected`, which makes the sibling claim `ID.corrected`. A claim that holds may have the table
`addition` with `truth` and `suggest`: something true that the page should add. A claim that depends on the seed or the
machine may have the table `erratum` with the same fields. In `suggest`, a figure's name in braces stands for what the
run measured, with a format if need be: `{class balance:.2f}`. `see` names related claims. `ours = true` marks a claim
that the page does not make: it stands outside all counts of the page's statements.

A sentence of the page that nothing here can decide is written down as well, in a table of its own:

    [[undecided]]
    where = "first look at the data"
    says = "Most people start with this data."
    reason = "It is about people, and nothing here observes them."

A claim, and a corrected one, has `[[claim.control]]` and `[[claim.corrected.control]]`: sabotages of the code that its
checks must notice, as `controls` describes them.

`[lesson]` may also have `page_seed`, the seed that the page itself used (default 0), and `page_runs`,
`"module:NAME"` of a mapping from names to the recipes that the page itself runs; and the file may have `[[advice]]`
tables with `says` and `claims`: the page's closing advice, and the claims on which it stands.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Literal, TypeVar, get_args, get_type_hints

import msgspec

from lesson_claims.controls import Control, ControlError, ControlTable, read_control, verify_control
from lesson_claims.figures import Figure, FigureFileError, load_figures
from lesson_claims.project import TABLE, Project
from lesson_claims.settings import SettingsError, Statement, load_settings

Kind = Literal["exact", "float", "trained", "behaviour", "ordering", "scaling"]
Expectation = Literal["holds", "refuted", "depends", "open"]

CORRECTED = ".corrected"
SLUG = re.compile(r"[a-z0-9]+([-_][a-z0-9]+)*")


class RegistryError(ValueError):
    """The registry, the figures and the checks do not fit together; one line says what, where and what to do."""


class _LessonTable(msgspec.Struct, forbid_unknown_fields=True):
    id: str
    title: str
    page_seed: int = 0
    page_runs: str = ""


class _PartTable(msgspec.Struct, forbid_unknown_fields=True):
    lesson: str
    id: str
    name: str
    title: str = ""


class _CorrectedTable(msgspec.Struct, forbid_unknown_fields=True):
    says: str
    kind: Kind
    suggest: str
    control: Any = msgspec.field(default_factory=list)


class _ErratumTable(msgspec.Struct, forbid_unknown_fields=True):
    truth: str
    suggest: str = ""


class _AdditionTable(msgspec.Struct, forbid_unknown_fields=True):
    truth: str
    suggest: str


class _ClaimTable(msgspec.Struct, forbid_unknown_fields=True):
    id: str
    where: str
    says: str
    kind: Kind
    expect: Expectation
    reason: str = ""
    see: tuple[str, ...] = ()
    ours: bool = False
    corrected: _CorrectedTable | None = None
    erratum: _ErratumTable | None = None
    addition: _AdditionTable | None = None
    control: Any = msgspec.field(default_factory=list)


class _UndecidedTable(msgspec.Struct, forbid_unknown_fields=True):
    where: str
    says: str
    reason: str


class _AdviceTable(msgspec.Struct, forbid_unknown_fields=True):
    says: str
    claims: tuple[str, ...]


Table = TypeVar("Table", bound=msgspec.Struct)


@dataclass(frozen=True)
class Claim:
    """One thing that a page says, or that we say instead.

    Attributes:
        id: stable for ever; report, history and nightly job key on it.
        lesson: id of the lesson.
        part: name of the part, such as "Day 1", or "" in a lesson of one file.
        where: where in that part it stands.
        says: the statement in our words.
        kind: how it is decided: "exact" (equal or wrong), "float" (arithmetic, equal at the printed digits), "trained"
            (the outcome of runs over seeds), "behaviour" (a property on many inputs), "ordering" (A against B over
            paired seeds), "scaling" (how counted cost grows).
        expect: what is on record: a verdict, "depends" (on the seed or the machine), or "open" (nobody has decided).
        file: name of its .toml file without the ending.
        reason: why it is refuted, if it is.
        truth: what is true instead, of a claim that is refuted or depends; what should be added, of one that holds.
        suggest: the sentence that we suggest to the page's author, with figures in braces.
        see: ids of related claims.
        ours: whether the page does not say it, so that it is outside all counts of the page's statements.
        controls: sabotages of the code that its checks must notice.
    """

    id: str
    lesson: str
    part: str
    where: str
    says: str
    kind: Kind
    expect: Expectation
    file: str = ""
    reason: str = ""
    truth: str = ""
    suggest: str = ""
    see: tuple[str, ...] = ()
    ours: bool = False
    controls: tuple[Control, ...] = ()

    @property
    def page_id(self) -> str:
        """The id of the claim on the page: of a corrected claim, the one that it corrects."""
        return self.id.removesuffix(CORRECTED)

    @property
    def is_corrected(self) -> bool:
        """Whether we say this instead of what the page says."""
        return self.id.endswith(CORRECTED)

    @property
    def is_of_the_page(self) -> bool:
        """Whether the page says it, and so whether it counts among the page's statements."""
        return not (self.ours or self.is_corrected)


@dataclass(frozen=True)
class Undecided:
    """A sentence of the page that nothing here can decide.

    Attributes:
        lesson: id of the lesson.
        part: name of the part, or "" in a lesson of one file.
        where: where in that part it stands.
        says: the sentence in our words.
        reason: why nothing here can decide it.
    """

    lesson: str
    part: str
    where: str
    says: str
    reason: str


@dataclass(frozen=True)
class Part:
    """A part of a lesson: its name, such as "Day 1", and what it is about."""

    name: str
    title: str


@dataclass(frozen=True)
class Lesson:
    """A page or a series of pages.

    Attributes:
        title: as the page has it.
        parts: in order; none in a lesson of one file.
        page_seed: the seed of the page's own runs.
        page_runs: "module:NAME" of the recipes that the page itself runs, or "".
    """

    title: str
    parts: tuple[Part, ...] = ()
    page_seed: int = 0
    page_runs: str = ""


@dataclass(frozen=True)
class Advice:
    """A piece of a page's closing advice, and the claims on which it stands."""

    advice: str
    claims: tuple[str, ...]


@dataclass(frozen=True)
class Registry:
    """All that the pages say, in their order: claims, a corrected one after the one it corrects, figures, the rest.

    `settings` are by lesson.
    """

    claims: Mapping[str, Claim]
    figures: Mapping[str, Mapping[str, Figure]]
    lessons: Mapping[str, Lesson] = field(default_factory=dict)
    checklist: tuple[Advice, ...] = ()
    undecided: tuple[Undecided, ...] = ()
    settings: Mapping[str, tuple[Statement, ...]] = field(default_factory=dict)

    def figure(self, claim: str, name: str) -> Figure:
        """Return a figure of the page.

        Raises:
            RegistryError: if the page's claim has no figure of that name.
        """
        page = self.claims[claim].page_id
        try:
            return self.figures.get(page, {})[name]
        except KeyError:
            known = ", ".join(self.figures.get(page, {})) or "none"
            raise RegistryError(
                f"{page} has no figure {name!r} (it has: {known}); use measure.also for a number of our own"
            ) from None

    def matching(self, pattern: str) -> list[str]:
        """Return the ids of the claims that a pattern means, each with its corrected sibling.

        The pattern is an id, or one with `*`, `?` and `[…]`; or else words, all of which must begin a word of the
        claim: of its id, its place, what it says or the names of its figures, in any order, upper or lower case.
        """
        pages = {claim.page_id for claim in self.claims.values() if fnmatchcase(claim.id, pattern)}
        if not pages:
            words = len(_words(pattern))
            pages = {page for page, found in self._words_found(pattern).items() if words and found == words}
        return [claim.id for claim in self.claims.values() if claim.page_id in pages]

    def nearest(self, pattern: str, count: int = 3) -> list[str]:
        """Return the ids of claims that have the most words of a pattern, the nearest first; empty if none has one."""
        found = self._words_found(pattern)
        return [page for page in sorted(found, key=found.__getitem__, reverse=True) if found[page]][:count]

    def _words_found(self, pattern: str) -> dict[str, int]:
        """Count, for each claim of the pages, the words of a pattern that it or its corrected sibling has."""
        words = _words(pattern)
        found: dict[str, int] = {}
        for claim in self.claims.values():
            figures = " ".join(self.figures.get(claim.id, ()))
            own = set(_words(f"{claim.id} {claim.part} {claim.where} {claim.says} {figures}"))
            count = sum(any(each.startswith(word) for each in own) for word in words)
            found[claim.page_id] = max(count, found.get(claim.page_id, 0))
        return found


def load_registry(project: Project) -> Registry:
    """Read every claim and every figure of a project.

    Raises:
        RegistryError: at the first file or entry that cannot be used.
    """
    found = _files(project)
    lessons = _lessons(found, project)
    claims: dict[str, Claim] = {}
    places: dict[str, Path] = {}
    checklist: list[Advice] = []
    undecided: list[Undecided] = []
    parts: dict[str, list[Part]] = {name: [] for name in lessons}
    for file in sorted(found, key=lambda file: (list(lessons).index(file.lesson), isinstance(file.table, _PartTable))):
        prefix, part = f"{file.lesson}.", ""
        if isinstance(file.table, _PartTable):
            prefix, part = f"{file.lesson}.{file.table.id}.", file.table.name
            parts[file.lesson].append(Part(file.table.name, file.table.title))
        for number, entry in enumerate(_tables(file.content, "claim", file.path), 1):
            for claim in _claims(entry, file.lesson, part, prefix, file.path, number):
                if claim.id in claims:
                    raise RegistryError(
                        f"{file.path}: claim {claim.id} stands in {places[claim.id]} already; an id may stand once only"
                    )
                claims[claim.id], places[claim.id] = claim, file.path
        undecided += _undecided(file.content, file.lesson, part, file.path)
    if not claims:
        folders = ", ".join(map(str, project.claims))
        raise RegistryError(f"{folders}: no [[claim]] in any .toml file; nothing could be checked")
    for claim in claims.values():
        for other in claim.see:
            if other not in claims:
                raise RegistryError(f"{places[claim.id]}: {claim.id}: see names {other!r}, which is no claim")
        _verify_controls(claim, claims, places[claim.id], project)
    for file in found:
        checklist += _advice(file.content, claims, file.path)
    return Registry(
        claims,
        _figures(found, claims),
        {
            name: Lesson(table.title, tuple(parts[name]), table.page_seed, table.page_runs)
            for name, table in lessons.items()
        },
        tuple(checklist),
        tuple(undecided),
        _settings(found, lessons, project.root),
    )


@dataclass(frozen=True)
class _File:
    """A file of claims: its path and content, and the table that says which lesson, or which part of one, it is."""

    path: Path
    content: dict[str, Any]
    table: _LessonTable | _PartTable

    @property
    def lesson(self) -> str:
        return self.table.lesson if isinstance(self.table, _PartTable) else self.table.id


def _files(project: Project) -> list[_File]:
    """Read the .toml files of all claims folders."""
    found: list[_File] = []
    for folder in project.claims:
        if not folder.is_dir():
            raise RegistryError(
                f"no lesson found: {folder} is no folder; make it, or name the folders of claims in"
                f' {project.root / "pyproject.toml"}: {TABLE} claims = ["FOLDER"]'
            )
        for path in sorted(folder.glob("*.toml"), key=_natural):
            content = _read(path)
            _only(content, {"lesson", "part", "claim", "undecided", "advice"}, path)
            if ("lesson" in content) == ("part" in content):
                raise RegistryError(
                    f"{path}: needs a table [lesson] with id and title, or, as a part of one, a table [part] with"
                    " lesson, id and name"
                )
            table: _LessonTable | _PartTable
            if "part" in content:
                table = _convert(content["part"], _PartTable, f"{path}, [part]")
                _slug(table.id, f"{path}, [part], id")
            else:
                table = _convert(content["lesson"], _LessonTable, f"{path}, [lesson]")
                _slug(table.id, f"{path}, [lesson], id")
            found.append(_File(path, content, table))
    if not found:
        folders = ", ".join(map(str, project.claims))
        raise RegistryError(
            f"no lesson found: {folders} has no .toml file; write NAME.toml with [lesson] and [[claim]], or name other"
            f' folders in {project.root / "pyproject.toml"}: {TABLE} claims = ["FOLDER"]'
        )
    return found


def _lessons(found: Iterable[_File], project: Project) -> dict[str, _LessonTable]:
    """Return the lessons in the order of the report."""
    lessons: dict[str, tuple[Path, _LessonTable]] = {}
    parts: dict[tuple[str, str], Path] = {}
    # A part is looked at when all lessons are known.
    for file in sorted(found, key=lambda file: isinstance(file.table, _PartTable)):
        path, table = file.path, file.table
        if isinstance(table, _PartTable):
            if table.lesson not in lessons:
                raise RegistryError(
                    f"{path}: part of {table.lesson!r}, and no file has [lesson] with that id;"
                    f" write {table.lesson}.toml"
                )
            if (table.lesson, table.id) in parts:
                raise RegistryError(
                    f"{path}: part {table.id!r} of {table.lesson} stands in {parts[table.lesson, table.id]} already"
                )
            parts[table.lesson, table.id] = path
            continue
        if table.id in lessons:
            raise RegistryError(
                f"{path}: lesson {table.id!r} stands in {lessons[table.id][0]} already; rename one of the two"
            )
        if table.page_seed < 0:
            raise RegistryError(f"{path}, [lesson]: page_seed {table.page_seed} is negative; seeds are 0 or more")
        if table.page_runs and not re.fullmatch(r"[\w.]+:\w+", table.page_runs):
            raise RegistryError(f'{path}, [lesson]: page_runs {table.page_runs!r} is not "module:NAME"')
        lessons[table.id] = path, table
    for name in project.lessons:
        if name not in lessons:
            known = ", ".join(lessons)
            raise RegistryError(
                f"{project.root / 'pyproject.toml'}, {TABLE}: lessons names {name!r}, which is no lesson;"
                f" there are {known}"
            )
    order = [*project.lessons, *sorted(set(lessons) - set(project.lessons))]
    return {name: lessons[name][1] for name in order}


def _figures(found: Iterable[_File], claims: Mapping[str, Claim]) -> dict[str, dict[str, Figure]]:
    figures: dict[str, dict[str, Figure]] = {}
    for file in found:
        path = file.path.with_name(f"{file.path.stem}_figures.csv")
        if not path.exists():
            continue
        try:
            loaded = load_figures(path)
        except FigureFileError as error:
            raise RegistryError(str(error)) from error
        for figure in loaded:
            if figure.claim not in claims or claims[figure.claim].lesson != file.lesson:
                raise RegistryError(
                    f"{path}: figure {figure.name!r} belongs to {figure.claim}, which is no claim of {file.lesson}; "
                    "mend the id or register the claim"
                )
            if claims[figure.claim].ours:
                raise RegistryError(
                    f"{path}: figure {figure.name!r} belongs to {figure.claim}, which is ours, so that no page"
                    " prints it; record it in the check with measure.also"
                )
            if figure.name in figures.setdefault(figure.claim, {}):
                raise RegistryError(f"{path}: figure {figure.name!r} of {figure.claim} stands in another file already")
            figures[figure.claim][figure.name] = figure
    return figures


def _settings(
    found: Iterable[_File], lessons: Mapping[str, _LessonTable], root: Path
) -> dict[str, tuple[Statement, ...]]:
    """Return what is stated of the runs of each lesson's page; lessons without a file of settings are left out."""
    settings: dict[str, tuple[Statement, ...]] = {}
    for file in found:
        path = file.path.with_name(f"{file.path.stem}_settings.csv")
        if not path.exists():
            continue
        name = path.relative_to(root).as_posix() if path.is_relative_to(root) else str(path)
        if not lessons[file.lesson].page_runs:
            raise RegistryError(
                f"{name}: {file.lesson} does not name its page's runs; add page_runs = "
                '"module:NAME" to its table [lesson]'
            )
        try:
            settings[file.lesson] = (*settings.get(file.lesson, ()), *load_settings(path, name))
        except SettingsError as error:
            raise RegistryError(str(error)) from error
    return settings


def _advice(content: Mapping[str, Any], claims: Mapping[str, Claim], path: Path) -> Iterator[Advice]:
    for number, entry in enumerate(_tables(content, "advice", path), 1):
        place = f"{path}, advice {number}"
        table = _convert(entry, _AdviceTable, place)
        for claim in table.claims:
            if claim not in claims:
                raise RegistryError(f"{place}: {claim!r} is no claim of the registry")
        yield Advice(table.says, table.claims)


def _undecided(content: Mapping[str, Any], lesson: str, part: str, path: Path) -> Iterator[Undecided]:
    for number, entry in enumerate(_tables(content, "undecided", path), 1):
        table = _convert(entry, _UndecidedTable, f"{path}, undecided {number}")
        yield Undecided(lesson, part, table.where, table.says, table.reason)


def _claims(entry: Any, lesson: str, part: str, prefix: str, path: Path, number: int) -> Iterator[Claim]:
    identity = entry.get("id") if isinstance(entry, dict) else None
    place = f"{path}: {identity}" if isinstance(identity, str) else f"{path}, claim {number}"
    table = _convert(entry, _ClaimTable, place)
    if not table.id.startswith(prefix):
        raise RegistryError(f"{place}: the id must start with {prefix!r}, as its file says, such as {prefix}label-rule")
    _slug(table.id.removeprefix(prefix), f"{place}, id")
    corrected, erratum, addition = table.corrected, table.erratum, table.addition
    if table.ours and table.expect == "refuted":
        raise RegistryError(f"{place}: a claim of ours can't be refuted; say what is true, or take it out")
    if (table.expect == "refuted") != (corrected is not None) or (table.expect == "refuted") != bool(table.reason):
        raise RegistryError(f"{place}: a refuted claim, and no other, has a reason and a table [claim.corrected]")
    if erratum is not None and table.expect != "depends":
        raise RegistryError(
            f'{place}: [claim.erratum] belongs to a claim with expect = "depends" alone;'
            " what a claim that holds should add is a [claim.addition]"
        )
    if addition is not None and table.expect != "holds":
        raise RegistryError(
            f'{place}: [claim.addition] belongs to a claim with expect = "holds" alone;'
            " a refuted claim has a [claim.corrected], and one that depends a [claim.erratum]"
        )
    truth = corrected.says if corrected else erratum.truth if erratum else addition.truth if addition else ""
    own = corrected or erratum or addition
    yield Claim(
        table.id,
        lesson,
        part,
        table.where,
        table.says,
        table.kind,
        table.expect,
        file=path.stem,
        reason=table.reason,
        truth=truth,
        suggest=own.suggest if own else "",
        see=table.see,
        ours=table.ours,
        controls=_controls(table.control, "claim.control", place),
    )
    if corrected is not None:
        yield Claim(
            table.id + CORRECTED,
            lesson,
            part,
            table.where,
            corrected.says,
            corrected.kind,
            "holds",
            file=path.stem,
            controls=_controls(corrected.control, "claim.corrected.control", f"{place}{CORRECTED}"),
        )


def _controls(tables: Any, header: str, place: str) -> tuple[Control, ...]:
    """Return the controls of a claim; where the header is "claim.control", each stands under [[claim.control]]."""
    if not isinstance(tables, list):
        raise RegistryError(f"{place}: {header} must be written [[{header}]], once for each")
    controls: list[Control] = []
    for number, entry in enumerate(tables, 1):
        where = f"{place}, control {number}"
        try:
            control = read_control(_convert(entry, ControlTable, where), where)
        except ControlError as error:
            raise RegistryError(str(error)) from error
        if control.breaks in {each.breaks for each in controls}:
            raise RegistryError(f"{where}: another control of the claim breaks {control.breaks!r} already; rename one")
        controls.append(control)
    return tuple(controls)


def _verify_controls(claim: Claim, claims: Mapping[str, Claim], path: Path, project: Project) -> None:
    """Refuse controls that name what is not there, or that no check could notice."""
    for control in claim.controls:
        place = f"{path}: {claim.id}, control {control.breaks!r}"
        if claim.expect == "open":
            raise RegistryError(f"{place}: the claim is open, so it has no verdict that could turn; decide it first")
        for other in control.also:
            if other not in claims or other == claim.id or claims[other].expect == "open":
                raise RegistryError(f"{place}: also names {other!r}, which is no other claim with a verdict on record")
        try:
            verify_control(control, place, project.root, project.code, project.claims)
        except ControlError as error:
            raise RegistryError(str(error)) from error


def _read(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise RegistryError(f"{path}: cannot be read: {error}") from error


def _convert(value: Any, table: type[Table], place: str) -> Table:
    """Return a value as a table; texts may not be empty where they have no default.

    Raises:
        RegistryError: in one line that says what is wrong and what is allowed.
    """
    try:
        converted = msgspec.convert(value, table)
    except msgspec.ValidationError as error:
        raise RegistryError(f"{place}: {error}; {_allowed(table, str(error))}") from error
    _filled(converted, place)
    return converted


def _filled(table: msgspec.Struct, place: str) -> None:
    """Refuse a text that is empty and has no default, in a table or in a table of it."""
    for item in msgspec.structs.fields(table):
        value = getattr(table, item.name)
        if isinstance(value, msgspec.Struct):
            _filled(value, f"{place}, [claim.{item.name}]")
        elif item.required and isinstance(value, str) and not value.strip():
            raise RegistryError(f"{place}: the field {item.name!r} is empty; fill it in")


def _allowed(table: type[msgspec.Struct], error: str) -> str:
    """Say what a field may hold, or which fields there are."""
    name = re.search(r"\$\.(\w+)`$", error)
    choices = get_args(get_type_hints(table).get(name[1])) if name else ()
    if "enum" in error and choices:
        return f"it is one of {', '.join(choices)}"
    return f"the fields are {', '.join(table.__struct_encode_fields__)}"


def _tables(content: Mapping[str, Any], name: str, path: Path) -> list[Any]:
    tables = content.get(name, [])
    if not isinstance(tables, list):
        raise RegistryError(f"{path}: {name} must be written [[{name}]], once for each")
    return tables


def _only(content: Mapping[str, Any], known: set[str], path: Path) -> None:
    unknown = sorted(set(content) - known)
    if unknown:
        raise RegistryError(f"{path}: unknown table or field {unknown[0]!r}; there are {', '.join(sorted(known))}")


def _slug(text: str, place: str) -> None:
    if not SLUG.fullmatch(text):
        raise RegistryError(f"{place}: {text!r} may have small letters, digits, and single dashes between them")


def _natural(path: Path) -> list[int | str]:
    """Sort day10 after day9."""
    return [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", path.name)]


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.casefold())

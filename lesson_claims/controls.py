"""The negative controls of a claim: sabotages of its lesson's code that its checks must notice.

    [[claim.control]]
    breaks = "gathers one step early"
    in = "lessons/classifiers.py"
    replace = "lengths - 1]"
    with = "lengths - 2]"

`breaks` says what the sabotage breaks. The text `replace` stands exactly once in the file `in`, which is in a folder of
code; `with` takes its place. Where one edit is not enough, `edit` is a list of such tables. A claim about a library has
a stand-in for the library's function instead:

    [[claim.control]]
    breaks = "adds up instead of taking the mean"
    stand_in = "torch.nn.functional.cross_entropy"
    with = "claims.stand_ins:summed"

`with` names a function of the project that takes the original and returns what replaces it. `also` names other claims
whose checks must notice too.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

SHOWN = 60
"""Of a text that is not found, so many characters are shown."""


class ControlError(ValueError):
    """A control cannot be used; one line says which, what is wrong and what to do."""


class EditTable(msgspec.Struct, forbid_unknown_fields=True):
    """An edit of a file, as TOML has it."""

    file: str = msgspec.field(name="in")
    replace: str
    by: str = msgspec.field(name="with")


class ControlTable(msgspec.Struct, forbid_unknown_fields=True):
    """A control, as TOML has it."""

    breaks: str
    file: str | None = msgspec.field(name="in", default=None)
    replace: str | None = None
    by: str | None = msgspec.field(name="with", default=None)
    edit: tuple[EditTable, ...] = ()
    stand_in: str | None = None
    also: tuple[str, ...] = ()


@dataclass(frozen=True)
class Edit:
    """A change of one file: its path from the root of the project, a text that stands there once, and another text."""

    file: str
    replace: str
    by: str


@dataclass(frozen=True)
class StandIn:
    """What takes the place of a library's function.

    Attributes:
        attribute: the function's dotted path, such as "torch.nn.functional.cross_entropy".
        by: "module:NAME" of a function of the project that takes the original and returns what replaces it.
    """

    attribute: str
    by: str

    @property
    def module(self) -> str:
        """The module of the project that has the function."""
        return self.by.partition(":")[0]


@dataclass(frozen=True)
class Control:
    """A sabotage under which a claim's verdict must turn.

    Attributes:
        breaks: what it breaks, in a few words; unique within the claim.
        edits: of the project's code; none if there is a stand-in.
        stand_in: for a library's function, or None.
        also: ids of other claims whose verdicts must turn too.
    """

    breaks: str
    edits: tuple[Edit, ...] = ()
    stand_in: StandIn | None = None
    also: tuple[str, ...] = ()

    @property
    def words(self) -> str:
        """What it does, for readers: the names of the files that it edits, or of the function that it replaces."""
        return self.stand_in.attribute if self.stand_in else ", ".join(dict.fromkeys(edit.file for edit in self.edits))


def read_control(table: ControlTable, place: str) -> Control:
    """Return a control from its table; `place` is where that stands, for messages.

    Raises:
        ControlError: if it has none of the forms, or more than one, or would change nothing.
    """
    if table.stand_in is not None and table.by is not None and not table.edit and table.file is table.replace is None:
        return Control(table.breaks, (), _stand_in(table.stand_in, table.by, place), table.also)
    if table.stand_in is None and table.edit and table.file is table.replace is table.by is None:
        edits = [Edit(each.file, each.replace, each.by) for each in table.edit]
    elif table.stand_in is not None or table.edit or table.file is None or table.replace is None or table.by is None:
        raise ControlError(
            f"{place}: a control has in, replace and with; or edit, a list of tables with these; or stand_in and with"
        )
    else:
        edits = [Edit(table.file, table.replace, table.by)]
    for edit in edits:
        if not edit.replace.strip() or edit.replace == edit.by:
            raise ControlError(f"{place}: replace is empty or the same as with; this edit changes nothing")
    return Control(table.breaks, tuple(edits), None, table.also)


def _stand_in(attribute: str, by: str, place: str) -> StandIn:
    if not re.fullmatch(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)+", attribute):
        raise ControlError(f"{place}: stand_in {attribute!r} is no dotted path, such as math.sqrt")
    if not re.fullmatch(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*:[A-Za-z_]\w*", by):
        raise ControlError(f'{place}: with {by!r} is not "module:NAME" of a function that takes the original')
    return StandIn(attribute, by)


def verify_control(control: Control, place: str, root: Path, code: Sequence[Path], claims: Sequence[Path]) -> None:
    """Check that the files of a control are there and are the project's own.

    Args:
        control: what to check.
        place: where it stands, for messages.
        root: the project's top folder.
        code: its folders of code; no other file may be edited, least of all a check.
        claims: its folders of claims.

    Raises:
        ControlError: if a file is not there, or is none of the project's code.
    """
    for edit in control.edits:
        path = root / edit.file
        inside = any(_is_inside(path, folder) for folder in code) and not any(_is_inside(path, each) for each in claims)
        if not inside or not _is_inside(path, root) or not path.is_file():
            folders = ", ".join(folder.name for folder in code)
            raise ControlError(
                f"{place}: {edit.file!r} is no file in the lessons' code ({folders}); give its path from the root of"
                " the project"
            )
    if control.stand_in is not None:
        if control.stand_in.attribute.partition(".")[0] in {folder.name for folder in code}:
            raise ControlError(
                f"{place}: stand_in {control.stand_in.attribute!r} is the lessons' own code; edit its file instead"
            )
        stand_in_file(control.stand_in, place, (*code, *claims))


def stand_in_file(stand_in: StandIn, place: str, folders: Iterable[Path]) -> Path:
    """Return the file of the module that has a stand-in's function, which is in one of these folders.

    Raises:
        ControlError: if there is no such module.
    """
    name = Path(*stand_in.module.split("."))
    for folder in folders:
        for base in (folder.parent, folder):
            for path in (base / name.with_suffix(".py"), base / name / "__init__.py"):
                if path.is_file() and _is_inside(path, folder):
                    return path
    raise ControlError(
        f"{place}: with names the module {stand_in.module!r}, which is in no folder of code or claims; write it there"
    )


def edited_files(control: Control, place: str, root: Path) -> dict[str, str]:
    """Return the new texts of the files that a control edits, by their paths from the root.

    Raises:
        ControlError: if a text to replace does not stand exactly once in its file.
    """
    texts: dict[str, str] = {}
    for edit in control.edits:
        if edit.file not in texts:
            try:
                texts[edit.file] = (root / edit.file).read_bytes().decode("utf-8")
            except (OSError, UnicodeDecodeError) as error:
                raise ControlError(f"{place}: {edit.file}: cannot be read: {error}") from error
        found = texts[edit.file].count(edit.replace)
        if found != 1:
            shown = edit.replace if len(edit.replace) <= SHOWN else edit.replace[: SHOWN - 1] + "…"
            raise ControlError(
                f"{place}: {shown!r} stands {found} times in {edit.file}, and must stand there exactly once; renew the"
                " text, or take more of the lines around it"
            )
        texts[edit.file] = texts[edit.file].replace(edit.replace, edit.by)
    return texts


def _is_inside(path: Path, folder: Path) -> bool:
    return folder.resolve() in path.resolve().parents

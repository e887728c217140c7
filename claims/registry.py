"""The registry: what the pages say, read from the TOML files beside the checks, with the figures of the lessons.

One file per day (`week07_day1.toml`) and one for the detector, each in its page's order:

    lesson = "week07"
    title = "Recurrent Networks"
    part = "Day 1 — the recurrence"

    [[claim]]
    id = "week07.day1.exactly-balanced"
    where = "first look at the data"
    says = "The two classes are exactly balanced."
    kind = "exact"
    expect = "refuted"
    reason = "Each label is a fair coin."

    [claim.corrected]
    says = "Each label is a fair coin, so the classes balance in expectation only."
    kind = "behaviour"
    suggest = "The classes are balanced up to chance: {class balance} of these rows are labelled 1."

A claim that is refuted needs a reason and the table `corrected`, which makes the sibling claim `ID.corrected`. A claim
that holds and misleads all the same may have the table `erratum` with `truth` and `suggest`. In `suggest`, a figure's
name in braces stands for what the run measured, with a format if need be: `{class balance:.2f}`.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, cast, get_args

from lessons.figures import LESSONS, Figure, FigureFileError, load_figures

Kind = Literal["exact", "float", "trained", "behaviour", "ordering", "scaling"]
Expectation = Literal["holds", "refuted", "open"]

CORRECTED = ".corrected"
CHECKLIST = "checklist.toml"
ID = re.compile(r"(week07\.day\d|detector)\.[a-z0-9]+(-[a-z0-9]+)*")

_FIELDS = {"id", "where", "says", "kind", "expect", "reason", "corrected", "erratum"}
_CORRECTED_FIELDS = {"says", "kind", "suggest"}
_ERRATUM_FIELDS = {"truth", "suggest"}


class RegistryError(ValueError):
    """The registry, the figures and the checks do not fit together; one line says what, where and what to do."""


@dataclass(frozen=True)
class Claim:
    """One thing that a page says, or that we say instead.

    Attributes:
        id: stable for ever; report, history and nightly job key on it.
        lesson: "week07" or "detector".
        part: the day's heading, or "" for a lesson of one page.
        where: where on the page it stands.
        says: the statement in our words.
        kind: how it is decided.
        expect: the verdict on record.
        reason: why it is refuted, if it is.
        truth: what is true instead, for a claim that misleads without being refuted.
        suggest: the sentence that we suggest to the page's author, with figures in braces.
    """

    id: str
    lesson: str
    part: str
    where: str
    says: str
    kind: Kind
    expect: Expectation
    reason: str = ""
    truth: str = ""
    suggest: str = ""

    @property
    def page_id(self) -> str:
        """The id of the claim on the page: of a corrected claim, the one that it corrects."""
        return self.id.removesuffix(CORRECTED)

    @property
    def is_corrected(self) -> bool:
        """Whether we say this instead of what the page says."""
        return self.id.endswith(CORRECTED)


@dataclass(frozen=True)
class Lesson:
    """A page or a series of pages: its title and the headings of its parts, in order."""

    title: str
    parts: tuple[str, ...]


@dataclass(frozen=True)
class Advice:
    """A piece of the checklist that closes week07, and the claims on which it stands."""

    advice: str
    claims: tuple[str, ...]


@dataclass(frozen=True)
class Registry:
    """All claims in the order of the pages, a corrected one after the one it corrects, and all figures."""

    claims: Mapping[str, Claim]
    figures: Mapping[str, Mapping[str, Figure]]
    lessons: Mapping[str, Lesson] = field(default_factory=dict)
    checklist: tuple[Advice, ...] = ()

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


def load_registry(claims_folder: Path, lessons_folder: Path) -> Registry:
    """Read every claim and every figure.

    Raises:
        RegistryError: at the first file or entry that cannot be used.
    """
    claims: dict[str, Claim] = {}
    parts: dict[str, list[str]] = {}
    titles: dict[str, str] = {}
    files = [path for path in claims_folder.glob("*.toml") if path.name != CHECKLIST]
    for path in sorted(files, key=lambda path: (_lesson_order(path), path.name)):
        content = _read(path)
        lesson, part = content.get("lesson"), content.get("part", "")
        if lesson not in LESSONS:
            raise RegistryError(f"{path}: lesson must be one of {', '.join(LESSONS)}, got {lesson!r}")
        titles.setdefault(lesson, content.get("title", lesson))
        parts.setdefault(lesson, []).append(part)
        for entry in content.get("claim", []):
            for claim in _claims(entry, lesson, part, path):
                if claim.id in claims:
                    raise RegistryError(f"{path}: claim {claim.id} is there already; an id may stand once only")
                claims[claim.id] = claim
    if not claims:
        raise RegistryError(f"{claims_folder}: no claim in any .toml file; nothing could be checked")
    figures: dict[str, dict[str, Figure]] = {}
    for lesson in LESSONS:
        path = lessons_folder / f"{lesson}_figures.csv"
        try:
            loaded = load_figures(path)
        except FigureFileError as error:
            raise RegistryError(str(error)) from error
        for figure in loaded:
            if figure.claim not in claims:
                raise RegistryError(
                    f"{path}: figure {figure.name!r} belongs to {figure.claim}, which is no claim; "
                    "mend the id or register the claim"
                )
            figures.setdefault(figure.claim, {})[figure.name] = figure
    return Registry(
        claims,
        figures,
        {lesson: Lesson(titles[lesson], tuple(filter(None, parts[lesson]))) for lesson in parts},
        _checklist(claims_folder / CHECKLIST, claims),
    )


def _checklist(path: Path, claims: Mapping[str, Claim]) -> tuple[Advice, ...]:
    if not path.exists():
        return ()
    checklist = []
    for number, entry in enumerate(_read(path).get("advice", []), 1):
        place = f"{path}, advice {number}"
        _text(entry, "says", place)
        _only(entry, {"says", "claims"}, place)
        for claim in entry.get("claims", []):
            if claim not in claims:
                raise RegistryError(f"{place}: {claim!r} is no claim of the registry")
        checklist.append(Advice(entry["says"], tuple(entry.get("claims", []))))
    return tuple(checklist)


def _lesson_order(path: Path) -> int:
    return next((i for i, lesson in enumerate(LESSONS) if path.name.startswith(lesson)), len(LESSONS))


def _read(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise RegistryError(f"{path}: cannot be read: {error}") from error


def _claims(entry: Mapping[str, Any], lesson: str, part: str, path: Path) -> Iterator[Claim]:
    identity = entry.get("id")
    if not isinstance(identity, str) or not ID.fullmatch(identity) or not identity.startswith(lesson):
        raise RegistryError(f"{path}: {identity!r} is no claim id such as {lesson}.day1.label-rule")
    place = f"{path}: {identity}"
    _only(entry, _FIELDS, place)
    for name in ("where", "says"):
        _text(entry, name, place)
    kind, expect = _kind(entry, place), entry.get("expect")
    if expect not in get_args(Expectation):
        raise RegistryError(f"{place}: expect must be one of {', '.join(get_args(Expectation))}, got {expect!r}")
    corrected, erratum = entry.get("corrected"), entry.get("erratum", {})
    if (expect == "refuted") != (corrected is not None) or (expect == "refuted") != ("reason" in entry):
        raise RegistryError(f"{place}: a refuted claim, and no other, has a reason and a table [claim.corrected]")
    _only(erratum, _ERRATUM_FIELDS, f"{place}, erratum")
    day = part.split(" — ")[0]
    where = f"{day}, {entry['where']}" if day else entry["where"][:1].upper() + entry["where"][1:]
    suggest = (corrected or {}).get("suggest", erratum.get("suggest", ""))
    yield Claim(
        identity,
        lesson,
        part,
        where,
        entry["says"],
        kind,
        cast("Expectation", expect),
        entry.get("reason", ""),
        (corrected or {}).get("says", erratum.get("truth", "")),
        suggest,
    )
    if corrected is not None:
        _only(corrected, _CORRECTED_FIELDS, f"{place}, corrected")
        for name in ("says", "suggest"):
            _text(corrected, name, f"{place}, corrected")
        yield Claim(
            identity + CORRECTED,
            lesson,
            part,
            where,
            corrected["says"],
            _kind(corrected, f"{place}, corrected"),
            "holds",
        )


def _only(table: Mapping[str, Any], known: set[str], place: str) -> None:
    unknown = sorted(set(table) - known)
    if unknown:
        raise RegistryError(f"{place}: unknown field {unknown[0]!r}; the fields are {', '.join(sorted(known))}")


def _text(table: Mapping[str, Any], name: str, place: str) -> None:
    if not isinstance(table.get(name), str) or not table[name].strip():
        raise RegistryError(f"{place}: the field {name!r} is missing or empty; it is a sentence")


def _kind(table: Mapping[str, Any], place: str) -> Kind:
    kind = table.get("kind")
    if kind not in get_args(Kind):
        raise RegistryError(f"{place}: kind must be one of {', '.join(get_args(Kind))}, got {kind!r}")
    return cast("Kind", kind)

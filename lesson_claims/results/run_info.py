"""`run.json`: what is known of a run beside its tables, and what its fields must look like."""

from collections.abc import Mapping
from typing import Annotated, Any

import msgspec

from lesson_claims.results.files import AGAIN, checked, plain, schema_of

SCHEMA = 3

Count = Annotated[int, msgspec.Meta(ge=0)]
Seconds = Annotated[int, msgspec.Meta(ge=0)] | Annotated[float, msgspec.Meta(ge=0)]


class Part(msgspec.Struct):
    """A part of a lesson, such as a day: `name` is what `part` of claims.csv holds."""

    name: str
    title: str


class Lesson(msgspec.Struct):
    """A lesson, with its parts in order; none for a lesson in one piece."""

    title: str
    parts: list[Part]


class Advice(msgspec.Struct):
    """A piece of the lesson's closing advice, and the ids of the claims that it rests on."""

    advice: str
    claims: list[str]


class Undecided(msgspec.Struct):
    """A sentence of a page that nothing here can decide: where it stands, in our words, and why."""

    lesson: str
    part: str
    where: str
    says: str
    reason: str


class TriedControl(msgspec.Struct):
    """A control of a claim: what it breaks, and what became of it when it was tried last, and when (ISO 8601).

    The outcome is empty if it was not tried since its declaration, the checks or the edited code changed.
    """

    breaks: str
    outcome: str = ""
    when: str = ""


class Previous(msgspec.Struct):
    """The run before: when it started (ISO 8601), its commit, and a line for each difference from it."""

    started: str
    commit: str | None
    changes: list[str]


class Common(msgspec.Struct, kw_only=True):
    """The fields that all schema versions have.

    `started` is ISO 8601. `selected` says which claims were chosen, empty for all. `seeds` counts the seeds beside the
    page's own, the fewest that a claim had. `exit_status` is pytest's. `source` says where each check stands.
    """

    schema: int
    complete: bool
    started: str = ""
    seconds: Seconds = 0.0
    selected: str = ""
    seeds: Count = 0
    options: dict[str, Any] = {}
    counts: dict[str, Count] = {}
    exit_status: Count = 0
    problems: list[str] = []
    commit: str | None = None
    dirty: bool = False
    environment: dict[str, Any] = {}
    checklist: list[Advice] = []
    source: dict[str, str] = {}


class RunInfo(Common, kw_only=True):
    """The fields of schema 3.

    `partial` says that checks of the registry were left out, by whatever option. `see` names the claims to which a
    claim refers; `repository` is a web address. `undecided` has the sentences that can't be decided, `controls` the
    controls of each claim that has any.
    """

    partial: bool = False
    lessons: dict[str, Lesson] = {}
    previous: Previous | None = None
    see: dict[str, list[str]] = {}
    repository: str = ""
    undecided: list[Undecided] = []
    controls: dict[str, list[TriedControl]] = {}


def checked_info(info: Mapping[str, Any], where: str) -> dict[str, Any]:
    """Return the content of run.json with all fields of `RunInfo`; fields that it does not know stay.

    Raises ReportError, in one line, where a field is not what it must be.
    """
    content = plain(info)
    schema_of(content, where, range(SCHEMA, SCHEMA + 1))
    return checked(content, RunInfo, where, AGAIN)

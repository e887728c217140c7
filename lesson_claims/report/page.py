"""A run arranged for reading: lesson, part, claim, figure. What the page says is decided here, how it looks is not."""

import csv
import hashlib
import io
import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from lesson_claims.report.plots import Plot, plot
from lesson_claims.report.sparklines import Sparkline, nights_of, run_order, sparkline
from lesson_claims.report.statements import Statement, beside, heading, is_of_the_page, sentence, statements
from lesson_claims.report.strip_plot import StripPlot, domain, strip_plot
from lesson_claims.report.words import labelled, place
from lesson_claims.results.columns import TABLES
from lesson_claims.results.drift_tables import DriftTables
from lesson_claims.results.numbers import interval, is_float, parse, show, show_all
from lesson_claims.results.tables import Run
from lesson_claims.results.vocabulary import Agreement, ClaimVerdict, ControlOutcome, Remark, Standing

ROWS = 2_000
"""Measurements that a page lists; of a larger run it says how many more are in the table beside it."""
PLOTS = 200
"""Plots that a page draws; drawing takes a tenth of a second each."""
COMPARABLE = 25.0
"""Figures of one claim share the range of their strip plots unless it exceeds the narrowest of them by this factor."""
COLUMNS = tuple(column.name for column in TABLES["measurements"])

Row = Mapping[str, Any]


@dataclass(frozen=True)
class Check:
    """A check by its id, the place of its source, and the address of that place if the run knows one."""

    id: str
    place: str
    address: str


@dataclass(frozen=True)
class Figure:
    """One measured number beside what the page prints; `row` is its line of measurements.csv, tab-separated."""

    id: str
    name: str
    kind: str
    printed: str
    measured: str
    shown: str
    tolerance: float | None
    agreement: str
    seeds: int | None
    low: float | None
    high: float | None
    unit: str
    seconds: float | None
    strip_plot: StripPlot | None
    trend: Sparkline | None
    row: str

    @property
    def interval(self) -> str:
        """The interval as it is shown."""
        return interval(self.low, self.high)

    @property
    def exact_interval(self) -> str:
        """The interval with every digit."""
        return interval(self.low, self.high, exact=True)


@dataclass
class Claim:
    """One claim with everything that bears on it."""

    id: str
    name: str
    lesson: str
    part: str
    heading: str
    """The heading of its part: name and title."""
    where: str
    statement: str
    kind: str
    verdict: str
    expected: str
    changed: bool
    seconds: float | None
    evidence: str
    decisions: list[Row]
    figures: list[Figure]
    omitted: int
    plots: list[Plot]
    undrawn: int
    checks: list[Check]
    errata: list[Row]
    drifted: list[Row]
    controls: list[Row]
    """Sabotages of the code that its checks must notice, and what became of them."""
    of_the_page: bool
    """Whether it counts among the page's statements: no corrected claim, and none of ours."""
    ours: bool
    """Whether the page does not make the claim, and we add it."""
    instead_of: str
    """The id of the claim in whose place this one can be said; empty for a claim of the lesson."""
    instead: "Claim | None" = None
    """The claim that can be said in place of this one."""
    see: "list[Claim]" = field(default_factory=list)
    """Related claims, both those that this one names and those that name this one."""

    @property
    def place(self) -> str:
        """Where in the lesson the claim stands: its part and the place in it."""
        return place(self.part, self.where)

    @property
    def caught(self) -> int:
        """How many of its controls were caught when they were tried last."""
        return sum(each["outcome"] == ControlOutcome.CAUGHT for each in self.controls)

    @property
    def calm(self) -> bool:
        """Whether the figures are many, all reproduced and none has drifted, so that they may be folded away."""
        reproduced = all(figure.agreement == Agreement.REPRODUCED for figure in self.figures)
        return len(self.figures) > 6 and reproduced and not self.drifted


@dataclass
class Part:
    """A part of a lesson, such as a day, with its claims in the page's order."""

    title: str
    id: str
    claims: list[Claim] = field(default_factory=list)

    @property
    def all_claims(self) -> list[Claim]:
        """The claims, each followed by what can be said instead, if anything can."""
        return [each for claim in self.claims for each in (claim, claim.instead) if each]


@dataclass
class Lesson:
    """A lesson with its parts in the page's order."""

    name: str
    title: str
    parts: list[Part] = field(default_factory=list)


@dataclass(frozen=True)
class Page:
    """Everything that index.html shows."""

    info: Mapping[str, Any]
    lessons: list[Lesson]
    claims: list[Claim]
    verdicts: Mapping[str, int]
    agreements: Mapping[str, int]
    statements: list[Statement]
    in_short: str
    """How many statements hold, in a few words."""
    sentence: str
    """How many statements the pages make, and where they stand."""
    beside: str
    """How many corrected claims and claims of ours there are beside them."""
    errata: list[tuple[Row, Claim]]
    additions: list[tuple[Row, Claim]]
    checklist: list[tuple[str, list[Claim]]]
    settings: list[Row]
    """How the pages' runs were made, against what the pages state."""
    measurements: int
    samples: int
    listed: list[tuple[Claim, Figure]]
    drift: DriftTables | None
    """How the run compares with its history; None where it was not compared."""
    by_name: Mapping[str, Claim]

    @property
    def printed(self) -> int:
        """How many figures the pages print."""
        return sum(self.agreements.values()) - self.agreements[Agreement.NOT_PRINTED]

    @property
    def changed(self) -> list[Claim]:
        """Claims whose verdict is not the one that was expected."""
        return [claim for claim in self.claims if claim.changed]

    @property
    def undecided(self) -> list[Statement]:
        """Sentences of the pages that can't be decided."""
        return [each for each in self.statements if each.standing is Standing.CANNOT]

    def with_verdict(self, verdict: str) -> list[Claim]:
        """Claims with that verdict, in the page's order; corrected ones and ours are among them."""
        return [claim for claim in self.claims if claim.verdict == verdict]


def slug(text: str, allowed: str = r"[\w.-]") -> str:
    """Turn text into an id for the page: the same text always gives the same id, other text another one."""
    plain = re.sub(rf"(?!{allowed}).", "-", text, flags=re.ASCII | re.DOTALL)
    if plain == text and len(text) <= 80:
        return text
    return f"{plain[:48].strip('-')}-{hashlib.sha256(text.encode('utf-8', 'replace')).hexdigest()[:8]}"


def arrange(run: Run, drift: DriftTables | None = None) -> Page:
    """Arrange a run for its page, with the history behind its figures if it was compared with one."""
    info = run.info
    rows = _by_claim(_worth_listing(run.measurements))
    totals = Counter(run.measurements["claim"])
    samples = _by_claim(run.samples)
    decisions = _by_claim(run.decisions)
    pictures = _by_claim(run.curves)
    errata = _by_claim(run.errata)
    trends = _trends(drift)
    headings = {
        (lesson, part["name"]): " — ".join(filter(None, (part["name"], part["title"])))
        for lesson, about in info["lessons"].items()
        for part in about["parts"]
    }
    drifted = _group(drift.new + drift.open if drift else (), "claim")
    claims = []
    drawn = 0
    for line in run.claims.to_dict("records"):
        name = line["claim"]
        own = rows.get(name, [])
        by_picture = _group(pictures.get(name, ()), "picture")
        plots = [
            plot(title, points, f"plot-{slug(name)}:{number}")
            for number, (title, points) in enumerate(by_picture.items(), start=1)
            if drawn + number <= PLOTS
        ]
        drawn += len(plots)
        said = decisions.get(name, [])
        claims.append(
            Claim(
                id=f"claim-{slug(name)}",
                name=name,
                lesson=line["lesson"],
                part=line["part"],
                heading=headings.get((line["lesson"], line["part"]), line["part"]),
                where=line["where"],
                statement=line["statement"] or name,
                kind=line["kind"],
                verdict=line["verdict"],
                expected=line["expected"],
                changed=line["changed"],
                seconds=line["seconds"],
                evidence=line["evidence"] if line["verdict"] == ClaimVerdict.ERROR or not said else "",
                decisions=said,
                figures=_figures(name, own, samples.get(name, ()), trends.get(name, {})),
                omitted=totals[name] - len(own),
                plots=plots,
                undrawn=len(by_picture) - len(plots),
                checks=_checks([*(row["check"] for row in own), *(each["check"] for each in said)], info),
                errata=errata.get(name, []),
                drifted=drifted.get(name, []),
                controls=info["controls"].get(name, []),
                of_the_page=is_of_the_page(line),
                ours=line["ours"],
                instead_of=line["instead_of"],
            )
        )
    by_name = {claim.name: claim for claim in claims}
    _connect(by_name, info["see"])
    remarks = [(row, by_name[row["claim"]]) for row in run.errata.to_dict("records")]
    return Page(
        info=info,
        lessons=_lessons(claims, info),
        claims=claims,
        verdicts=_tally((claim.verdict for claim in claims if claim.of_the_page), ClaimVerdict),
        agreements=_tally(run.measurements["agreement"].replace("", Agreement.NOT_PRINTED.value), Agreement),
        statements=statements(run),
        in_short=heading(run),
        sentence=sentence(run),
        beside=beside(run),
        errata=[each for each in remarks if each[0]["remark"] != Remark.ADDITION],
        additions=[each for each in remarks if each[0]["remark"] == Remark.ADDITION],
        checklist=[
            (item["advice"], [by_name[name] for name in item["claims"] if name in by_name])
            for item in info["checklist"]
        ],
        settings=run.settings.to_dict("records"),
        measurements=len(run.measurements),
        samples=len(run.samples),
        listed=[(claim, figure) for claim in claims for figure in claim.figures],
        drift=drift,
        by_name=by_name,
    )


def _worth_listing(measurements: pd.DataFrame) -> pd.DataFrame:
    """Return all measurements or, if there are too many, those that need attention and then the first ones."""
    if len(measurements) <= ROWS:
        return measurements
    calm = measurements["agreement"].isin(
        [Agreement.REPRODUCED, Agreement.WITHIN, Agreement.NOT_JUDGED, Agreement.NOT_PRINTED, ""]
    )
    chosen = measurements.index[~calm].append(measurements.index[calm])[:ROWS]
    return measurements.loc[chosen.sort_values()]


def _by_claim(frame: pd.DataFrame) -> dict[str, list[Row]]:
    return _group(frame.to_dict("records"), "claim")


def _group(rows: Iterable[Row], key: str) -> dict[str, list[Row]]:
    groups: dict[str, list[Row]] = {}
    for row in rows:
        groups.setdefault(row[key], []).append(row)
    return groups


def _tally(column: Iterable[str], names: Iterable[str]) -> dict[str, int]:
    counted = Counter(column)
    return {name: counted[name] for name in names}


def _connect(claims: Mapping[str, Claim], see: Mapping[str, Sequence[str]]) -> None:
    """Tell each claim what can be said instead of it, and which claims are related to it."""
    for claim in claims.values():
        if claim.instead_of in claims and claim.instead_of != claim.name:
            claims[claim.instead_of].instead = claim
        else:
            claim.instead_of = ""
    pairs = [(one, other) for one, others in see.items() for other in others if one in claims and other in claims]
    # First what a claim names itself, then what names it.
    for one, other in dict.fromkeys([*pairs, *((other, one) for one, other in pairs)]):
        if one != other:
            claims[one].see.append(claims[other])


def _lessons(claims: Sequence[Claim], info: Mapping[str, Any]) -> list[Lesson]:
    lessons: dict[str, Lesson] = {}
    parts: dict[tuple[str, str], Part] = {}
    for claim in claims:
        if claim.instead_of:
            continue
        title = info["lessons"].get(claim.lesson, {"title": claim.lesson})["title"]
        lesson = lessons.setdefault(claim.lesson, Lesson(claim.lesson, title))
        if (claim.lesson, claim.part) not in parts:
            id_ = f"part-{slug(claim.lesson)}:{len(lesson.parts) + 1}"
            parts[claim.lesson, claim.part] = Part(claim.heading, id_)
            lesson.parts.append(parts[claim.lesson, claim.part])
        parts[claim.lesson, claim.part].claims.append(claim)
    return list(lessons.values())


def _trends(drift: DriftTables | None) -> dict[str, dict[str, Sparkline]]:
    """Return a sparkline for each figure that has a history, by claim and figure."""
    if drift is None:
        return {}
    order = run_order(dict(zip(drift.trends["run"], drift.trends["when"], strict=True)), drift.run)
    return {
        claim: {figure: sparkline(nights, order) for figure, nights in figures.items()}
        for claim, figures in nights_of(drift.trends).items()
    }


def _figures(claim: str, rows: Sequence[Row], samples: Iterable[Row], trends: Mapping[str, Sparkline]) -> list[Figure]:
    seeds: dict[str, list[tuple[int, float]]] = {}
    for sample in samples:
        seeds.setdefault(sample["figure"], []).append((sample["seed"], sample["value"]))
    floats = [row for row in rows if is_float(row["measured"])]
    texts = show_all([(parse(row["measured"]) or 0.0, row["printed"]) for row in floats])
    shown: dict[str, str] = {row["figure"]: text for row, text in zip(floats, texts, strict=True)}
    ranges = {
        row["figure"]: domain([value for _, value in seeds[row["figure"]]], row["printed"], row["low"], row["high"])
        for row in rows
        if row["figure"] in seeds
    }
    shared = _shared({row["figure"]: row["unit"] for row in rows}, ranges)
    return [
        Figure(
            id=f"figure-{slug(claim)}:{slug(row['figure'])}",
            name=row["figure"],
            kind=row["kind"],
            printed=row["printed"],
            measured=row["measured"],
            shown=shown.get(row["figure"], str(row["measured"])),
            tolerance=row["tolerance"],
            agreement=row["agreement"] or Agreement.NOT_PRINTED,
            seeds=row["seeds"],
            low=row["low"],
            high=row["high"],
            unit=row["unit"],
            seconds=row["seconds"],
            strip_plot=strip_plot(
                seeds[row["figure"]], row["printed"], row["low"], row["high"], shared[row["figure"]]
            ) if row["figure"] in seeds else None,
            trend=trends.get(row["figure"]),
            row=_tab_separated(row),
        )
        for row in rows
    ]  # fmt: skip


def _shared(
    units: Mapping[str, str], ranges: Mapping[str, tuple[float, float] | None]
) -> dict[str, tuple[float, float] | None]:
    """Give figures of the same unit one range, so that their strip plots compare, unless that would flatten one."""
    shared = dict(ranges)
    for unit in set(units.values()):
        own = {name: ends for name, ends in ranges.items() if ends and units[name] == unit}
        if len(own) > 1:
            low, high = min(ends[0] for ends in own.values()), max(ends[1] for ends in own.values())
            narrowest = min(ends[1] - ends[0] for ends in own.values())
            if math.isfinite(high - low) and high - low <= COMPARABLE * narrowest:
                shared.update(dict.fromkeys(own, (low, high)))
    return shared


def _tab_separated(row: Row) -> str:
    buffer = io.StringIO()
    values = [row[name] for name in COLUMNS]
    csv.writer(buffer, delimiter="\t", lineterminator="").writerow(
        ["" if value is None else repr(value) if isinstance(value, float) else value for value in values]
    )
    return buffer.getvalue()


def _checks(ids: Iterable[str], info: Mapping[str, Any]) -> list[Check]:
    source = info["source"]
    checks = []
    for name in dict.fromkeys(name for name in ids if name):
        stands = source.get(name, "")
        checks.append(Check(name, stands, _address(stands, info)))
    return checks


def _address(stands: str, info: Mapping[str, Any]) -> str:
    """Return the web address of a place in the source, if the run says where its repository is published."""
    repository = info["repository"]
    if not stands or not info["commit"] or not re.match(r"https?://", repository):
        return ""
    return f"{repository.rstrip('/')}/blob/{info['commit']}/{stands}"


def told(row: Row, claim: Claim) -> list[tuple[str, str]]:
    """Return the texts of an erratum or addition, each under its label."""
    return labelled({**row, "says": row["says"] or claim.statement}, ours=claim.ours)


def bullet(decision: Row) -> str:
    """Write the numbers of a decision: its estimate, interval, p value, level and seeds."""
    said = []
    if decision["estimate"] is not None:
        said.append(f"estimate {show(decision['estimate'])}")
    if decision["low"] is not None or decision["high"] is not None:
        said.append(f"interval {interval(decision['low'], decision['high'])}")
    if decision["p"] is not None:
        said.append(f"p = {decision['p']:.2g}".replace("nan", "NaN"))
    if decision["level"]:
        said.append(f"level {decision['level']:.2g}")
    if decision["wins"] is not None:
        said.append(f"{decision['wins']} of {decision['seeds']} seeds agree")
    elif decision["seeds"]:
        said.append(f"{decision['seeds']} seeds")
    return ", ".join(said)

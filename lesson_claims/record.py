"""What a check finds: measured numbers, decisions and curves, in plain Python values.

A check records findings; when its function has returned, they are settled: any refutation refutes, else anything
undecided leaves the claim undecided, and a check that decided nothing is an error. So all figures of a check are
recorded even where the first is wrong.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lesson_claims.deciders import prediction_interval
from lesson_claims.decisions import Decision, Levels, Tested, Verdict
from lesson_claims.digits import digits_deserved, digits_over_seeds
from lesson_claims.figures import Figure
from lesson_claims.printed import Plain, compare, compare_trained
from lesson_claims.recorded import Recorded, Wins, weakest
from lesson_claims.registry import Claim, Registry
from lesson_claims.results.vocabulary import PLATFORM_PICTURE, Agreement, Kind, ValueType
from lesson_claims.settings import refuse_others

TRAINED_COVERAGE = 0.95
"""Coverage of the interval over seeds in which one more run is expected."""

FEWEST_TO_DECIDE = 5
"""With fewer seeds no test on signs can decide anything at the level of 0.05: 1/2⁴ > 0.05 ≥ 1/2⁵."""

MOST_DIGITS = 400
"""A page's numbers end there as well (`results.printed_numbers`)."""

PRINTED, TYPICAL, NOT_MEASURED = "printed figures", "typical draw", "not measured"
"""Rules of decisions that the record itself makes; all but the first only say something."""


class NotEnoughSeeds(Exception):  # noqa: N818  nothing went wrong
    """The claim cannot be decided with the seeds of this session, so its runs are not made."""


class UnlikeRecord(RuntimeError):  # noqa: N818  perhaps it is the machine, and nothing went wrong
    """At the page's own seed this machine gives what no platform on record gives."""


@dataclass
class Record:
    """All that one check has found.

    Attributes:
        claim: whose check it is.
        nodes: how many parametrised checks its function has.
        expected: what is on record for this check: "holds", "refuted", "depends" or "open".
        decides: whether the check uses the fixture `decide`, and so must record a decision.
        checks: how many checks of the claim decide by statistics, their parameters counted.
        levels: what the p-value of a claim with a single test must reach.
        recorded: what the baseline says.
        device: where it measures.
        seeds: over how many seeds the evidence of this look is.
        aside: kinds of printed figures that decide nothing, because the code is sabotaged.
        judged: the printed figures that decide, by name.
        misprints: those that do not come out, in words.
        misstated: stated figures that do not come out, in words.
        machines: printed figures that depend on the machine, in words.
        settings: how the page's runs that the check asked for were made, by run and setting; rows of the table.
        unlike: figures whose value here is none of those on record, in words.
        verdict: of the last settling; None before the first.
    """

    claim: Claim
    nodes: int
    expected: str = "open"
    decides: bool = False
    checks: int = 1
    levels: Levels = field(default_factory=Levels)
    recorded: Recorded = field(default_factory=Recorded)
    device: str = "cpu"
    seeds: int = 0
    aside: frozenset[Kind] = frozenset()
    measurements: list[dict[str, Any]] = field(default_factory=list)
    decisions: list[Decision] = field(default_factory=list)
    notes: list[Decision] = field(default_factory=list)
    curves: list[dict[str, Any]] = field(default_factory=list)
    settings: dict[tuple[str, str], dict[str, str]] = field(default_factory=dict)
    judged: list[str] = field(default_factory=list)
    misprints: list[str] = field(default_factory=list)
    misstated: list[str] = field(default_factory=list)
    machines: list[str] = field(default_factory=list)
    unlike: list[str] = field(default_factory=list)
    verdict: Verdict | None = None
    _earlier: list[Tested] = field(default_factory=list)

    def look_again(self, seeds: int) -> None:
        """Forget what was found, except how strong the evidence of each test has been, to look at more seeds."""
        self._earlier = [decision.tested for decision in self.decisions if decision.tested is not None]
        for found in (self.measurements, self.decisions, self.notes, self.curves):
            found.clear()
        for words in (self.judged, self.misprints, self.misstated, self.machines, self.unlike):
            words.clear()
        self.verdict = None
        self.seeds = seeds

    def made(self, rows: Iterable[dict[str, str]]) -> None:
        """Record how a run of the page was made.

        Raises:
            SettingsError: if otherwise than the page states: then no verdict of this check is one about the page.
        """
        rows = list(rows)
        self.settings |= {(row["run"], row["setting"]): row for row in rows}
        refuse_others(rows)

    def settle(self) -> Decision:
        """Return the finding that decides the check: a refutation, else what is undecided, else one that holds.

        Raises:
            RuntimeError: if nothing was decided.
            UnlikeRecord: if a figure has another value than on all platforms on record.
        """
        if self.unlike:
            raise UnlikeRecord(f"{self.claim.id}: {'; '.join(self.unlike)}")
        if self.decides and not self.decisions:
            raise RuntimeError(
                f"the check of {self.claim.id} uses decide and recorded no decision, so a part of it could never fail"
            )
        self._decide_tests()
        printed = self._printed()
        if printed is not None:
            self.decisions.append(printed)
        for verdict in (Verdict.REFUTED, Verdict.INCONCLUSIVE, Verdict.HOLDS):
            for decision in self.decisions:
                if decision.verdict == verdict:
                    self.verdict = verdict
                    return decision
        if self.measurements:
            raise RuntimeError(
                f"the check of {self.claim.id} measured and decided nothing, so it could never fail: "
                "decide, or measure a figure that the page prints"
            )
        raise RuntimeError(f"the check of {self.claim.id} recorded nothing, so it could never fail: decide or measure")

    @property
    def more_may_decide(self) -> bool:
        """Whether a test over seeds is undecided, so that more of them may decide it."""
        return any(each.verdict == Verdict.INCONCLUSIVE and each.seeds and each.tested for each in self.decisions)

    @property
    def weakest(self) -> Wins | None:
        """The wins of the test over seeds that the smallest share agrees with; None where nothing is counted."""
        return weakest(
            Wins(each.tested.wins, each.seeds)
            for each in self.decisions
            if each.seeds and each.tested is not None and each.tested.wins is not None
        )

    @property
    def contradicted(self) -> str:
        """How an undecided check contradicts what is on record for it, in words; empty where it does not."""
        expected = self.expected
        if expected not in ("holds", "refuted"):
            return ""
        if self.machines:
            return f"is on record as {expected}, and its figure depends on the machine"
        if any(each.verdict == Verdict.INCONCLUSIVE and each.tested and not each.seeds for each in self.decisions):
            return f"is on record as {expected}, and a test that no seed enters does not decide it any more"
        found = self.weakest
        if found is None or not self.recorded.contradicts(self.claim.id, expected, found.wins, found.seeds):
            return ""
        return f"is on record as {expected}, and {found.wins} wins of {found.seeds} seeds contradict that (p < 0.001)"

    def _decide_tests(self) -> None:
        """Give each statistical test the verdict that it has among all tests of the claim."""
        tests = [place for place, decision in enumerate(self.decisions) if decision.tested is not None]
        levels = self.levels.shared_by(len(tests) * self.checks)
        earlier = self._earlier if len(self._earlier) == len(tests) else []
        for number, place in enumerate(tests):
            decision = self.decisions[place]
            if earlier and decision.tested is not None:
                decision = replace(decision, tested=decision.tested.joined(earlier[number]))
            decision = decision.at(levels)
            if decision.verdict == Verdict.INCONCLUSIVE and decision.seeds and decision.tested is not None:
                wins = decision.tested.wins
                said = "" if wins is None else f" So far it depends on the seed: {wins} of {decision.seeds}."
                decision = replace(decision, sentence=decision.sentence + said)
            self.decisions[place] = decision

    def _printed(self) -> Decision | None:
        """Return what the printed figures say together, those of training runs at the page's own seed."""
        printed = [row for row in self.measurements if row["figure"] in self.judged]
        if not printed and self.aside and self.measurements and not self.decisions:
            as_before = Verdict.HOLDS if self.expected == "holds" else Verdict.INCONCLUSIVE
            return Decision(as_before, "Only figures were measured that decide nothing here.", PRINTED)
        if not printed:
            return None
        verdict = Verdict.HOLDS
        wrong = [*self.misprints, *self.misstated, *self.machines]
        if wrong:
            verdict = Verdict.REFUTED if self.misprints or self.misstated else Verdict.INCONCLUSIVE
        right = len(printed) - len(wrong)
        return Decision(
            verdict, f"{right} of {len(printed)} printed figures come out{''.join(f'; {each}' for each in wrong)}.",
            PRINTED,
        )  # fmt: skip


def plain(value: Any) -> Plain:
    """Coerce a measured value to a plain Python type, which is all that travels between processes unharmed.

    Raises:
        TypeError: if it is no single boolean, number or text.
        ValueError: if it is a whole number of more than `MOST_DIGITS` digits, which Python does not print.
    """
    item = getattr(value, "item", None)
    if item is not None and getattr(value, "size", None) is not None:
        value = item()
    if isinstance(value, int) and abs(value) >= 10**MOST_DIGITS:
        raise ValueError(f"a measured number has more than {MOST_DIGITS} digits: measure its logarithm, or a text")
    if isinstance(value, (bool, int, float)):
        return value
    if isinstance(value, str):
        return str(value)
    raise TypeError(f"a measured value is one boolean, number or text, not {type(value).__name__}: {value!r}")


class Measure:
    """Records measured numbers. Called with the name of a figure of the page, it compares with what is printed."""

    def __init__(self, record: Record, registry: Registry) -> None:
        self._record = record
        self._registry = registry

    def __call__(
        self,
        name: str,
        value: Any,
        *,
        unit: str = "",
        bounds: tuple[float, float] | None = None,
        within: tuple[float, float] | None = None,
        noise: Sequence[float] = (),
    ) -> None:
        """Record a figure that the page prints.

        Args:
            name: as in the lesson's figures.
            value: a single value; or a `Sample` over seeds for a trained figure: its value at the page's seed is
                compared with the page, and the seeds give the interval in which one more run would fall.
            unit: such as "s".
            bounds: the range of a trained quantity, such as (0, 1) for an accuracy, beyond which no interval reaches.
            within: for a stated figure, the interval in which the printed number may lie.
            noise: for a float figure, its values with inputs moved by a few units in the last place (`jittered`); they
                tell how many printed digits the method gives.
        """
        figure = self._registry.figure(self._record.claim.id, name)
        single, seeds, values = _parts(value)
        interval = within
        if values and not isinstance(single, (str, bool)):
            interval = prediction_interval(values, TRAINED_COVERAGE, bounds)
        # What a processor gives to the last digit, another device computes in another order, as a run of its own.
        as_trained = figure.kind == Kind.FLOAT and figure.tolerance is not None and self._record.device != "cpu"
        if (figure.kind == Kind.TRAINED or as_trained) and not isinstance(single, (str, bool)):
            self._trained(figure, single, seeds, values, interval, unit, getattr(value, "platforms", {}))
            return
        comparison = compare(figure, single, within)
        not_judged = (Kind.CLOCK, *self._record.aside)
        if figure.kind not in not_judged and (figure.kind != Kind.STATED or within is not None):
            self._record.judged.append(name)
        if comparison.agreement == Agreement.OUTSIDE and name in self._record.judged:
            wrong = self._record.misstated if figure.kind == Kind.STATED else self._record.misprints
            found = f"{single:.6g}" if isinstance(single, float) else repr(single)
            wrong.append(f"{name} is printed as {figure.printed} and comes out as {found}")
        self._add(name, figure.kind, figure.printed, single, comparison.agreement, seeds, values, interval, unit)
        self._record.measurements[-1]["tolerance"] = comparison.tolerance
        moved = [*noise, *getattr(value, "platforms", {}).values()]
        if figure.kind == Kind.FLOAT and moved and not isinstance(single, (str, bool)):
            self._record.measurements[-1]["digits"] = str(digits_deserved(figure, single, moved))

    def _trained(
        self,
        figure: Figure,
        here: float,
        seeds: Sequence[int],
        values: Sequence[Plain],
        interval: tuple[float, float] | None,
        unit: str,
        platforms: Mapping[str, Any],
    ) -> None:
        """Record a figure of a training run: at the page's own seed, on all platforms on record and tried here."""
        name = figure.name
        judged = figure.kind not in self._record.aside
        if judged:
            self._record.judged.append(name)
        tried = {platform: float(value) for platform, value in platforms.items()}
        on_record = self._record.recorded.spreads.get((self._record.claim.id, name), {})
        known = {**on_record, **tried}
        numbers = [float(each) for each in values]
        comparison = compare_trained(figure, here, known)
        self._add(name, figure.kind, figure.printed, here, comparison.agreement, seeds, values, interval, unit)
        low, high = min([*known.values(), here]), max([*known.values(), here])
        self._record.measurements[-1] |= {
            "tolerance": comparison.tolerance, "page_low": low, "page_high": high, "platforms": len(known) or 1,
        }  # fmt: skip
        if figure.number is not None and len(numbers) > 1:
            self._record.measurements[-1]["digits"] = str(digits_over_seeds(figure, numbers))
        if judged and comparison.agreement == Agreement.OUTSIDE:
            self._record.misprints.append(comparison.words + _rank(figure, numbers))
        elif judged and comparison.agreement == Agreement.DEPENDS:
            self._record.machines.append(comparison.words)
        if comparison.unlike_record and on_record and comparison.agreement != Agreement.OUTSIDE:
            self._record.unlike.append(
                f"{comparison.unlike_record}: a fault of the code or of this machine, or a platform that is not on "
                "record yet (`pytest --platforms`, then `lesson-claims accept --platforms`)"
            )
        if interval is not None and figure.number is not None:
            self._typical(figure, float(figure.number.value), numbers, interval)
        if tried:
            self.curve(PLATFORM_PICTURE.format(figure=name), list(tried), list(tried.values()), mark="bar",
                       y_label=name)  # fmt: skip

    def _typical(self, figure: Figure, printed: float, values: Sequence[float], interval: tuple[float, float]) -> None:
        """Say where the printed figure stands among the seeds, if one more seed would hardly give it."""
        if not interval[0] <= printed <= interval[1]:
            self._record.notes.append(
                Decision(
                    Verdict.HOLDS,
                    f"{figure.name}: {figure.printed} is no typical number: one more seed is expected between "
                    f"{interval[0]:.4g} and {interval[1]:.4g}"
                    f"{_rank(figure, values)}.",
                    TYPICAL,
                    float(np.median(values)),
                    *interval,
                    seeds=len(values),
                )
            )

    def each(self, name: str, values: Iterable[Any], *, noise: Sequence[Any] = ()) -> None:
        """Record the figures `name[0]`, `name[1]`, … of a vector or a shape; the noise is of such vectors too."""
        for index, value in enumerate(values):
            self(f"{name}[{index}]", value, noise=[moved[index] for moved in noise])

    def also(
        self,
        name: str,
        value: Any,
        *,
        unit: str = "",
        interval: tuple[float, float] | None = None,
        bounds: tuple[float, float] | None = None,
    ) -> None:
        """Record a number of our own, which the page does not print; `value` may be a `Sample` over seeds."""
        if name in self._registry.figures.get(self._record.claim.id, {}):
            raise ValueError(f"{name!r} is a figure of the page: record it with measure({name!r}, …)")
        single, seeds, values = _parts(value)
        if values and interval is None and not isinstance(single, str):
            interval = prediction_interval(values, TRAINED_COVERAGE, bounds)
        self._add(name, self._record.claim.kind, "", single, "not printed", seeds, values, interval, unit)

    def missing(self, name: str, why: str) -> None:
        """Record that a figure of the page was not measured, and why."""
        figure = self._registry.figure(self._record.claim.id, name)
        self._add(name, figure.kind, figure.printed, "", "not measured", [], [], None, "")
        self._record.notes.append(Decision(Verdict.HOLDS, f"{name} was not measured: {why}.", NOT_MEASURED))

    def curve(
        self,
        picture: str,
        x: Sequence[Any] | Any,
        y: Sequence[Any] | Any,
        *,
        series: str = "",
        mark: str = "line",
        low: Sequence[Any] | Any | None = None,
        high: Sequence[Any] | Any | None = None,
        x_label: str = "",
        y_label: str = "",
        x_scale: str = "linear",
        y_scale: str = "linear",
    ) -> None:
        """Record one series of a picture of this claim: points of a line, bars, or a horizontal limit.

        Args:
            picture: its title; all series of that title are drawn together.
            x: numbers, or texts for bars.
            y: finite numbers, as many.
            series: its name in the legend.
            mark: "line", "bar" or "limit".
            low: lower ends of a band around y.
            high: upper ends.
            x_label: with the unit.
            y_label: with the unit.
            x_scale: "linear" or "log".
            y_scale: "linear" or "log".
        """
        points = [plain(value) for value in x], [plain(value) for value in y]
        lows = [plain(value) for value in low] if low is not None else [None] * len(points[1])
        highs = [plain(value) for value in high] if high is not None else [None] * len(points[1])
        for at_x, at_y, at_low, at_high in zip(*points, lows, highs, strict=True):
            self._record.curves.append(
                {
                    "picture": picture,
                    "mark": mark,
                    "series": series,
                    "x": at_x,
                    "y": at_y,
                    "low": at_low,
                    "high": at_high,
                    "x_label": x_label,
                    "y_label": y_label,
                    "x_scale": x_scale,
                    "y_scale": y_scale,
                }
            )

    def range_over_seeds(
        self, picture: str, x: Sequence[Any] | Any, values: NDArray[Any], *, series: str = "", **drawn: str
    ) -> None:
        """Record one series as `curve` does: the median of the seeds, and a band from the least to the largest.

        Args:
            picture: its title.
            x: numbers, or texts for bars.
            values: shape (seeds, points); finite.
            series: its name in the legend.
            drawn: mark, labels and scales, as of `curve`.
        """
        middle, low, high = np.median(values, axis=0), np.min(values, axis=0), np.max(values, axis=0)
        self.curve(picture, x, middle, series=series, low=low, high=high, **drawn)

    def limit(self, picture: str, y: float, series: str = "") -> None:
        """Record a horizontal rule of a picture, such as a ceiling or a clip line."""
        self.curve(picture, [""], [y], series=series, mark="limit")

    def _add(
        self,
        name: str,
        kind: str,
        printed: str,
        measured: Plain,
        agreement: str,
        seeds: Sequence[int],
        values: Sequence[Plain],
        interval: tuple[float, float] | None,
        unit: str,
    ) -> None:
        if any(row["figure"] == name for row in self._record.measurements):
            raise ValueError(f"figure {name!r} of {self._record.claim.id} was recorded already in this check")
        if measured != measured and not (printed and kind in (Kind.EXACT, Kind.FLOAT)):
            raise ValueError(f"{name!r} of {self._record.claim.id} is NaN: find out why, or say so in words")
        low, high = interval if interval is not None else (None, None)
        self._record.measurements.append(
            {
                "figure": name,
                "kind": str(kind),
                "printed": printed,
                "measured": measured,
                "type": str(_type(measured)),
                "tolerance": None,
                "agreement": str(agreement),
                "seeds": len(seeds) or None,
                "low": None if low is None else float(low),
                "high": None if high is None else float(high),
                "unit": unit,
                "device": self._record.device,
                "sample": [[seed, value] for seed, value in zip(seeds, values, strict=True)],
            }
        )


def _rank(figure: Figure, values: Sequence[float]) -> str:
    """Say where a printed number stands among the values at other seeds; empty where there are none."""
    if not values or figure.number is None:
        return ""
    below = sum(value < float(figure.number.value) for value in values)
    return f"; {below} of {len(values)} other seeds give less than is printed"


def _type(measured: Plain) -> ValueType:
    if isinstance(measured, str):
        return ValueType.TEXT
    return ValueType.TRUTH if isinstance(measured, bool) else ValueType.NUMBER


def _parts(value: Any) -> tuple[Plain, list[int], list[Any]]:
    """Split a sample into the page's own value, its seeds and its values; a single value has no seeds."""
    if hasattr(value, "page") and hasattr(value, "seeds"):
        return plain(value.page), list(value.seeds), [plain(item) for item in value.values]
    return plain(value), [], []


class Decide:
    """Records decisions of the check."""

    def __init__(self, record: Record) -> None:
        self._record = record

    def __call__(self, *decisions: Decision) -> None:
        """Record what deciders conclude; the check settles them when it has returned.

        Raises:
            TypeError: if one of them is no decision.
        """
        for decision in decisions:
            if not isinstance(decision, Decision):
                raise TypeError(
                    f"decide takes what a decider returns, such as that(…) or beats(…), not {type(decision).__name__}"
                )
        self._record.decisions.extend(decisions)

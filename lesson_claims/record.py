"""What a check finds: measured numbers, decisions and curves, in plain Python values.

A check records findings; when its function has returned, they are settled: any refutation refutes, else anything
undecided leaves the claim undecided, and a check that recorded nothing is an error. So all figures of a check are
recorded even where the first is wrong.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lesson_claims.deciders import prediction_interval
from lesson_claims.decisions import Decision, Verdict
from lesson_claims.printed import Plain, compare
from lesson_claims.registry import Claim, Registry
from lesson_claims.results.vocabulary import PLATFORM_PICTURE

TRAINED_COVERAGE = 0.95
"""Coverage of the interval over seeds in which one more run is expected."""

LARGEST_MOVE = 0.02
"""A figure that moves further than this between platforms, at one seed, should not be printed."""

PLATFORM_SPREAD = "platform spread"
"""The rule of a decision that only reports how far a figure moves between platforms."""

FEWEST_TO_DECIDE = 5
"""With fewer seeds no test on signs can decide anything at the level of 0.05: 1/2⁴ > 0.05 ≥ 1/2⁵."""


class NotEnoughSeeds(Exception):  # noqa: N818  nothing went wrong
    """The claim cannot be decided with the seeds of this session, so its runs are not made."""


@dataclass
class Record:
    """All that one check has found."""

    claim: Claim
    nodes: int
    device: str = "cpu"
    measurements: list[dict[str, Any]] = field(default_factory=list)
    decisions: list[Decision] = field(default_factory=list)
    curves: list[dict[str, Any]] = field(default_factory=list)
    misprints: list[str] = field(default_factory=list)

    def settle(self) -> Decision:
        """Return the finding that decides the check: a refutation, else what is undecided, else one that holds.

        Raises:
            RuntimeError: if nothing was recorded.
        """
        printed = self._printed()
        if printed is not None:
            self.decisions.append(printed)
        for verdict in (Verdict.REFUTED, Verdict.INCONCLUSIVE, Verdict.HOLDS):
            for decision in self.decisions:
                if decision.verdict == verdict:
                    return decision
        if self.measurements:
            return Decision(
                Verdict.HOLDS, "The figures were measured; a trained figure alone decides nothing.", "measured"
            )
        raise RuntimeError(f"the check of {self.claim.id} recorded nothing, so it could never fail: decide or measure")

    def _printed(self) -> Decision | None:
        """Return what the figures that training does not touch say together."""
        fixed = [row for row in self.measurements if row["kind"] in ("exact", "float") and row["printed"]]
        if not fixed:
            return None
        verdict = Verdict.REFUTED if self.misprints else Verdict.HOLDS
        right = len(fixed) - len(self.misprints)
        sentence = f"{right} of {len(fixed)} printed figures come out" + "".join(f"; {text}" for text in self.misprints)
        return Decision(verdict, sentence + ".", "printed figures")


def plain(value: Any) -> Plain:
    """Coerce a measured value to a plain Python type, which is all that travels between processes unharmed.

    Raises:
        TypeError: if it is no single boolean, number or text.
    """
    item = getattr(value, "item", None)
    if item is not None and getattr(value, "size", None) is not None:
        value = item()
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
    ) -> None:
        """Record a figure that the page prints.

        Args:
            name: as in the lesson's figures.
            value: a single value; or a `Sample` over seeds for a trained figure: its value at the page's seed is
                compared with the page, and the seeds give the interval in which one more run would fall.
            unit: such as "s".
            bounds: the range of a trained quantity, such as (0, 1) for an accuracy, beyond which no interval reaches.
            within: for a stated figure, the interval in which the printed number may lie.
        """
        figure = self._registry.figure(self._record.claim.id, name)
        single, seeds, values = _parts(value)
        interval = within
        if values and figure.kind == "trained" and not isinstance(single, str):
            interval = prediction_interval(values, TRAINED_COVERAGE, bounds)
            if value.platforms and interval is not None:
                interval = self._with_platforms(name, value.platforms, interval)
        comparison = compare(figure, single, interval)
        if comparison.agreement == "outside" and figure.kind in ("exact", "float"):
            self._record.misprints.append(f"{name} is printed as {figure.printed} and comes out as {single!r}")
        self._add(name, figure.kind, figure.printed, single, comparison.agreement, seeds, values, interval, unit)
        self._record.measurements[-1]["tolerance"] = comparison.tolerance

    def _with_platforms(
        self, name: str, platforms: Mapping[str, Any], interval: tuple[float, float]
    ) -> tuple[float, float]:
        """Record how far a figure moves between platforms at its seed, and return the union of both spreads."""
        spread = {platform: float(value) for platform, value in platforms.items()}
        low, high = min(spread.values()), max(spread.values())
        warning = "; it moves too far to be printed" if high - low > LARGEST_MOVE else ""
        sentence = (
            f"{name}: at the page's own seed, {len(spread)} settings of instruction sets and threads give "
            f"{low:.4g} to {high:.4g}{warning}."
        )
        self._record.decisions.append(
            Decision(Verdict.HOLDS, sentence, PLATFORM_SPREAD, estimate=high - low, low=low, high=high)
        )
        self.curve(PLATFORM_PICTURE.format(figure=name), list(spread), list(spread.values()), mark="bar", y_label=name)
        return min(interval[0], low), max(interval[1], high)

    def each(self, name: str, values: Iterable[Any]) -> None:
        """Record the figures `name[0]`, `name[1]`, … of a vector or a shape."""
        for index, value in enumerate(values):
            self(f"{name}[{index}]", value)

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
        self._record.decisions.append(Decision(Verdict.HOLDS, f"{name} was not measured: {why}.", "not measured"))

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
        if measured != measured and not (printed and kind in ("exact", "float")):
            raise ValueError(f"{name!r} of {self._record.claim.id} is NaN: find out why, or say so in words")
        low, high = interval if interval is not None else (None, None)
        self._record.measurements.append(
            {
                "figure": name,
                "kind": kind,
                "printed": printed,
                "measured": measured,
                "tolerance": None,
                "agreement": agreement,
                "seeds": len(seeds) or None,
                "low": None if low is None else float(low),
                "high": None if high is None else float(high),
                "unit": unit,
                "device": self._record.device,
                "sample": [[seed, value] for seed, value in zip(seeds, values, strict=True)],
            }
        )


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

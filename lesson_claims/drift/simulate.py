"""How often the drift tests err and how soon they find a change, measured on years of synthetic nights.

Nights are drawn from the seed distributions of a real run. While nothing changes, every alarm is false, and those that
follow a false alarm count as well. A change is planted after a baseline of some nights, and the delay counts the nights
up to the alarm: 1 is the same night. Two ideal tests stand beside it, which are told the night of the change and test
once, at the same rate. The one of the mean knows the mean and the standard deviation (the normal approximation). The
oracle knows both distributions: the likelihood ratio of Neyman and Pearson ("On the problem of the most efficient
tests", 1933); no test can do better.
"""

from collections.abc import Callable, Sequence
from dataclasses import fields

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import norm

from lesson_claims.drift.levels import levels
from lesson_claims.drift.populations import Floats, Population
from lesson_claims.drift.rank_tests import SUITE_RATE, Nights, alarms
from lesson_claims.drift.seeds import Samples
from lesson_claims.drift.verdicts import Wins

YEAR = 365
BASELINES = (1, 2, 3, 5, 20, 60)
"""Nights before a planted change."""

HORIZON = 60
"""Nights after it that are watched."""

POWER = 0.95
IDEAL_DRAWS = 4000

STEADY = 0.05
"""Collapses are planted in figures whose standard deviation is at most this: in others, low values are nothing new."""

FALL = 0.3
"""How far a collapsed seed lies below the others."""

Change = Callable[[np.random.Generator, Floats, Floats], Floats]
"""From values and the number of nights since the change (1, 2, …; 0 and less before it) to changed values."""


def drop(points: float) -> Change:
    """Lower every value by so many hundredths."""
    return lambda _, x, age: x - points / 100 * (age > 0)


def widen(factor: float) -> Change:
    """Stretch the values around their mean."""
    return lambda _, x, age: np.where(age > 0, x.mean() + factor * (x - x.mean()), x)


def slope(points: float, nights: int) -> Change:
    """Lower the values by so many hundredths, little by little over so many nights."""
    return lambda _, x, age: x - points / 100 * np.clip(age / nights, 0, 1)


def collapse(before: float, after: float) -> Change:
    """Let this share of the seeds fall by `FALL`, before the change and after it."""
    return lambda rng, x, age: x - FALL * (rng.random(x.shape) < np.where(age > 0, after, before))


CHANGES: dict[str, Change] = {
    "drop of 1 point": drop(1),
    "drop of 2 points": drop(2),
    "drop of 5 points": drop(5),
    "drop of 10 points": drop(10),
    "rise of 5 points": drop(-5),
    "spread doubled": widen(2),
    "5 points in 50 nights": slope(5, 50),
}
COLLAPSES: dict[str, Change] = {
    "collapsed seeds 0 → 5 %": collapse(0, 0.05),
    "collapsed seeds 0 → 10 %": collapse(0, 0.1),
    "collapsed seeds 2 → 10 %": collapse(0.02, 0.1),
    "collapsed seeds 10 → 20 %": collapse(0.1, 0.2),
}
PRECISE = "drop of 5 points"
"""The change for which the ideal test is worked out, too."""

SHARES = (1.0, 0.98, 0.95, 0.9, 0.8, 0.65, 0.5)
"""Shares of seeds that agree with a claim, of which quiet years are made."""

TURNS = ((1.0, 0.95), (1.0, 0.9), (1.0, 0.8), (1.0, 0.5), (0.9, 0.5), (0.9, 0.1), (0.5, 0.2))
"""Shares before and after a planted change."""


def nights(rng: np.random.Generator, values: Floats) -> Nights:
    """Score synthetic nights of one figure; `values` has the shape (replications, nights, seeds)."""
    ties = rng.random(values.shape)
    series = [Nights.from_samples(list(x), list(t)) for x, t in zip(values, ties, strict=True)]
    return Nights(*(np.stack([getattr(one, field.name) for one in series]) for field in fields(Nights)))


def false_alarms(
    rng: np.random.Generator, populations: Sequence[Population], seeds: int, years: int
) -> NDArray[np.int64]:
    """Return how many figures are red on each night of so many years in which nothing changed; shape (years, 365).

    What follows a false alarm is part of it: another one, or a way back that is taken for a new change.
    """
    figures = np.full(YEAR, len(populations))
    counts = np.zeros((years, YEAR), dtype=np.int64)
    for population in populations:
        for year in range(years):
            names = np.split(_names(rng, YEAR * seeds), YEAR)
            told = levels(Samples(names, list(population.draw(rng, (YEAR, seeds))), figures))
            for event in told.events:
                counts[year, event.night] += not event.back
    return counts


def false_turns(
    rng: np.random.Generator, shares: Sequence[float], seeds: int, years: int, claims: int
) -> NDArray[np.int64]:
    """Return the red nights of one claim of each share, in all years together; shape (shares,)."""
    red = np.zeros(len(shares), dtype=np.int64)
    for place, share in enumerate(shares):
        for _ in range(years):
            told = levels(_wins(rng.binomial(seeds, share, YEAR), seeds, claims))
            red[place] += sum(not event.back for event in told.events)
    return red


def delays(
    rng: np.random.Generator,
    population: Population,
    change: Change,
    seeds: int,
    replications: int,
    figures: int,
    baseline: int,
) -> Floats:
    """Return the nights up to the alarm after a planted change, infinite if none comes; shape (replications,).

    Replications with a false alarm before the change are left out.
    """
    x = population.draw(rng, (replications, baseline + HORIZON, seeds))
    age = np.broadcast_to(np.arange(1.0 - baseline, HORIZON + 1)[:, None], x.shape)
    found = alarms(nights(rng, change(rng, x, age)), np.full(baseline + HORIZON, figures))
    return _first(found, baseline)


def turn_delays(
    rng: np.random.Generator, before: float, after: float, seeds: int, replications: int, claims: int, baseline: int
) -> Floats:
    """Return the same of the verdict of a claim, whose share of seeds that agree changes."""
    share = np.where(np.arange(baseline + HORIZON) < baseline, before, after)
    found = np.zeros((replications, baseline + HORIZON), dtype=np.bool_)
    for row in found:
        for event in levels(_wins(rng.binomial(seeds, share), seeds, claims)).events[:1]:
            row[event.night] = True
    return _first(found, baseline)


def _first(found: NDArray[np.bool_], baseline: int) -> Floats:
    late = found[~found[:, :baseline].any(axis=1), baseline:]
    return np.where(late.any(axis=1), late.argmax(axis=1) + 1.0, np.inf)


def _names(rng: np.random.Generator, count: int) -> NDArray[np.int64]:
    """Return the seeds of a year, all different."""
    return int(rng.integers(2**40)) + np.arange(count)


def _wins(wins: NDArray[np.int64], seeds: int, claims: int) -> Wins:
    unknown = np.full(len(wins), -1)
    return Wins(wins, np.full(len(wins), seeds), unknown, np.full(len(wins), claims))


def ideal_nights(population: Population, points: float, seeds: int, figures: int) -> float:
    """Return how many nights the ideal test of the mean needs to find a drop with probability 0.95."""
    reach = float(norm.isf(SUITE_RATE / figures / 2) + norm.ppf(POWER))
    return max(1.0, float(np.ceil((reach * population.deviation / (points / 100)) ** 2 / seeds)))


def oracle_nights(rng: np.random.Generator, population: Population, points: float, seeds: int, figures: int) -> float:
    """Return how many nights the oracle needs to find a drop with probability 0.95; infinite beyond the horizon.

    Its level is worked out under the change by weighting: P₀(L ≥ c) = E₁[exp(−L); L ≥ c].
    """
    if not population.width:
        return 1.0
    total = np.zeros(IDEAL_DRAWS)
    for count in range(1, HORIZON + 1):
        x = rng.choice(population.centres, (IDEAL_DRAWS, seeds))
        x = x + population.width * rng.standard_normal(x.shape) - points / 100
        total += (population.log_density(x + points / 100) - population.log_density(x)).sum(axis=1)
        critical = np.quantile(total, 1 - POWER)
        if np.mean(np.exp(-total) * (total >= critical)) <= SUITE_RATE / figures:
            return float(count)
    return np.inf


def delay_table(
    rng: np.random.Generator, populations: Sequence[Population], seeds: int, replications: int
) -> pd.DataFrame:
    """Return a row per change, baseline and planting: figure, deviation, baseline, change and delay in nights."""
    rows = []
    for population in populations:
        changes = CHANGES | (COLLAPSES if population.deviation <= STEADY else {}) if population.share else {}
        for name, change in changes.items():
            for baseline in BASELINES:
                found = delays(rng, population, change, seeds, replications, len(populations), baseline)
                rows += [
                    {"figure": _name(population), "deviation": population.deviation, "baseline": baseline,
                     "change": name, "delay": delay}
                    for delay in found
                ]  # fmt: skip
    return pd.DataFrame(rows)


def precise_table(
    rng: np.random.Generator, populations: Sequence[Population], seeds: int, replications: int
) -> pd.DataFrame:
    """Return a row per share, for a drop of 5 points after the longest baseline.

    Columns: figure, deviation, within_2, median, nights_95 (until 95 % are found); ideal and oracle, the same of those.
    """
    rows = []
    for population in populations:
        if population.share:
            found = delays(rng, population, CHANGES[PRECISE], seeds, replications, len(populations), BASELINES[-1])
            rows.append(
                {
                    "figure": _name(population), "deviation": population.deviation,
                    "within_2": float((found <= 2).mean()), "median": float(np.median(found)),
                    "nights_95": float(np.quantile(found, POWER, method="higher")),
                    "ideal": ideal_nights(population, 5, seeds, len(populations)),
                    "oracle": oracle_nights(rng, population, 5, seeds, len(populations)),
                }
            )  # fmt: skip
    return pd.DataFrame(rows).sort_values("deviation")


def turn_table(rng: np.random.Generator, seeds: int, replications: int, claims: int) -> pd.DataFrame:
    """Return a row per change of a share, baseline and planting: change, baseline and delay in nights."""
    return pd.DataFrame(
        {"change": f"{before:.0%} → {after:.0%}", "baseline": baseline, "delay": delay}
        for before, after in TURNS
        for baseline in BASELINES
        for delay in turn_delays(rng, before, after, seeds, replications, claims, baseline)
    )


def quiet_text(counts: NDArray[np.int64], figures: int, seeds: int, legs: int) -> str:
    """Say how many nights were red for their figures while nothing changed."""
    rate = float((counts > 0).mean())
    return (
        f"{figures} figures, {seeds} seeds a night. Nothing changed, {len(counts)} years: {(counts > 0).sum()} red"
        f" nights of {counts.size}, {rate:.2%}; {rate * YEAR:.1f} a year.{_of_legs(rate, legs)}\n"
    )


def turns_text(red: NDArray[np.int64], shares: Sequence[float], years: int, claims: int, legs: int) -> str:
    """Say how many nights were red for a verdict while nothing changed."""
    rate = float(red.mean()) / years / YEAR * claims
    each = ", ".join(f"{count} at {share:.0%}" for share, count in zip(shares, red, strict=True))
    return (
        f"Verdicts: nothing changed, {years} years of a claim at each share of seeds that agree: red nights {each}."
        f" With {claims} claims, of all these shares alike, {rate:.2%} of the nights.{_of_legs(rate, legs)}\n"
    )


def _of_legs(rate: float, legs: int) -> str:
    return f" A workflow of {legs} legs: {1 - (1 - rate) ** legs:.2%} of its nights." if legs > 1 else ""


def delays_text(table: pd.DataFrame) -> str:
    """Return delays as Markdown: the median, and how many changes were not found."""
    lines = ["| change | " + " | ".join(f"after {b} night{'s' * (b > 1)}" for b in BASELINES) + " |",
             "| --- |" + " --- |" * len(BASELINES)]  # fmt: skip
    for name, rows in table.groupby("change", sort=False):
        cells = [_cell(rows.loc[rows["baseline"] == baseline, "delay"].to_numpy()) for baseline in BASELINES]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join([*lines, ""])


def _cell(found: Floats) -> str:
    missed = float(np.isinf(found).mean())
    return f"{_nights(float(np.median(found)))}; {missed:.0%} missed" if missed else _nights(float(np.median(found)))


def precise_text(table: pd.DataFrame) -> str:
    """Return the drop of 5 points by figure as Markdown."""
    lines = ["| figure | s.d. | within 2 nights | nights | ideal | oracle |", "| --- | --- | --- | --- | --- | --- |"]
    for row in table.to_dict("records"):
        lines.append(
            f"| {row['figure']} | {row['deviation']:.3f} | {row['within_2']:.1%} | {_nights(row['nights_95'])}"
            f" | {_nights(row['ideal'])} | {_nights(row['oracle'])} |"
        )
    return "\n".join([*lines, ""])


def _name(population: Population) -> str:
    return f"{population.claim}: {population.figure}"


def _nights(value: float) -> str:
    return f"{value:.0f}" if np.isfinite(value) else f"over {HORIZON}"

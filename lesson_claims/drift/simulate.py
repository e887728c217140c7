"""How often the drift test errs and how soon it finds a change, measured on years of synthetic nights.

Nights are drawn from the seed distributions of a real run. While nothing changes, every alarm is false. A change is
planted after a baseline of some nights, and the delay counts the nights up to the alarm: 1 is the same night. Two
ideal tests stand beside it, which are told the night of the change and test once, at the same rate. The one of the
mean knows the mean and the standard deviation (the normal approximation). The oracle knows both distributions: the
likelihood ratio of Neyman and Pearson ("On the problem of the most efficient tests", 1933); no test can do better.
"""

from collections.abc import Callable, Sequence
from dataclasses import fields

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import norm

from lesson_claims.drift.populations import Floats, Population
from lesson_claims.drift.rank_tests import SUITE_RATE, Nights, alarms

YEAR = 365
BASELINE = 60
"""Nights before a planted change."""

HORIZON = 60
"""Nights after it that are watched."""

POWER = 0.95
IDEAL_DRAWS = 4000

Change = Callable[[Floats, Floats], Floats]
"""From values and the number of nights since the change (1, 2, …, for each value) to changed values."""


def drop(points: float) -> Change:
    """Lower every value by so many hundredths."""
    return lambda x, _: x - points / 100


def widen(factor: float) -> Change:
    """Stretch the values around their mean."""
    return lambda x, _: x.mean() + factor * (x - x.mean())


def slope(points: float, nights: int) -> Change:
    """Lower the values by so many hundredths, little by little over so many nights."""
    return lambda x, age: x - points / 100 * np.minimum(age / nights, 1)


CHANGES: dict[str, Change] = {
    "drop of 1 point": drop(1),
    "drop of 2 points": drop(2),
    "drop of 5 points": drop(5),
    "drop of 10 points": drop(10),
    "rise of 5 points": drop(-5),
    "spread doubled": widen(2),
    "5 points in 50 nights": slope(5, 50),
}
PRECISE = "drop of 5 points"
"""The change for which the ideal test is worked out, too."""


def nights(rng: np.random.Generator, values: Floats) -> Nights:
    """Score synthetic nights of one figure; `values` has the shape (replications, nights, seeds)."""
    ties = rng.random(values.shape)
    series = [Nights.from_samples(list(x), list(t)) for x, t in zip(values, ties, strict=True)]
    return Nights(*(np.stack([getattr(one, field.name) for one in series]) for field in fields(Nights)))


def false_alarms(
    rng: np.random.Generator, populations: Sequence[Population], seeds: int, years: int
) -> NDArray[np.int64]:
    """Return how many figures raise a first alarm on each night of so many years; shape (years, 365)."""
    figures = np.full(YEAR, len(populations))
    counts = np.zeros((years, YEAR), dtype=np.int64)
    for population in populations:
        found = alarms(nights(rng, population.draw(rng, (years, YEAR, seeds))), figures)
        first = found & (np.cumsum(found, axis=1) == 1)  # then it is quiet until somebody accepts
        counts += first
    return counts


def delays(
    rng: np.random.Generator, population: Population, change: Change, seeds: int, replications: int, figures: int
) -> Floats:
    """Return the nights up to the alarm after a planted change, infinite if none comes; shape (replications,).

    Replications with a false alarm before the change are drawn again by being left out.
    """
    x = population.draw(rng, (replications, BASELINE + HORIZON, seeds))
    age = np.broadcast_to(np.arange(1.0, HORIZON + 1)[:, None], (HORIZON, seeds))
    x[:, BASELINE:] = change(x[:, BASELINE:], age)
    found = alarms(nights(rng, x), np.full(BASELINE + HORIZON, figures))
    late = found[~found[:, :BASELINE].any(axis=1), BASELINE:]
    return np.where(late.any(axis=1), late.argmax(axis=1) + 1.0, np.inf)


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
    """Return a row per share and change, with the chance of an alarm in time and the nights until one.

    Columns: claim, figure, deviation, change, first_night, within_2, median, nights_95; ideal and oracle, for a drop
    of 5 points only.
    Rows without a claim are for the change in all shares at once, and the first alarm of any.
    """
    rows = []
    of_change: dict[str, list[Floats]] = {name: [] for name in CHANGES}
    for population in populations:
        if not population.share:
            continue
        for name, change in CHANGES.items():
            found = delays(rng, population, change, seeds, replications, len(populations))
            of_change[name].append(found)
            ideal = oracle = np.nan
            if name == PRECISE:
                ideal = ideal_nights(population, 5, seeds, len(populations))
                oracle = oracle_nights(rng, population, 5, seeds, len(populations))
            rows.append(
                {
                    "claim": population.claim, "figure": population.figure, "deviation": population.deviation,
                    "change": name, **_summary(found), "ideal": ideal, "oracle": oracle,
                }
            )  # fmt: skip
    for name, per_figure in of_change.items():
        if per_figure:
            rows.append({"claim": "", "figure": "", "change": name, **_summary(first_of_all(per_figure))})
    return pd.DataFrame(rows)


def first_of_all(per_figure: Sequence[Floats]) -> Floats:
    """Return the nights up to the first alarm of any figure, where all change on the same night; shape (replications,).

    Figures are drawn independently of each other; those with a false alarm before have fewer replications.
    """
    fewest = min(len(found) for found in per_figure)
    earliest: Floats = np.min([found[:fewest] for found in per_figure], axis=0)
    return earliest


def _summary(found: Floats) -> dict[str, float]:
    return {
        "first_night": float((found <= 1).mean()),
        "within_2": float((found <= 2).mean()),
        "median": float(np.median(found)),
        "nights_95": float(np.quantile(found, POWER, method="higher")),
    }


def report(counts: NDArray[np.int64], table: pd.DataFrame, figures: int, seeds: int) -> str:
    """Return the result as Markdown."""
    years = len(counts)
    red = int((counts > 0).sum())
    lines = [
        f"{figures} figures, {seeds} seeds a night.",
        "",
        f"Nothing changed, {years} years: {red} red nights of {counts.size}, {red / counts.size:.2%};"
        f" {red / years:.1f} a year.",
        "",
        "| change | of one figure: found within 2 nights | median nights | figures found within 2 nights in 95 %"
        " | of all at once: found the same night |",
        "| --- | --- | --- | --- | --- |",
    ]
    for name, both in table.groupby("change", sort=False):
        rows, together = both[both["claim"] != ""], both[both["claim"] == ""].iloc[0]
        lines.append(
            f"| {name} | {rows['within_2'].mean():.1%} | {_nights(rows['median'].median())}"
            f" | {int((rows['within_2'] >= POWER).sum())} of {len(rows)} | {together['first_night']:.1%} |"
        )
    lines += ["", f"A {PRECISE}, by figure; nights until 95 % are found.", "",
              "| figure | s.d. | within 2 nights | nights | ideal | oracle |",
              "| --- | --- | --- | --- | --- | --- |"]  # fmt: skip
    for row in table[(table["change"] == PRECISE) & (table["claim"] != "")].sort_values("deviation").to_dict("records"):
        lines.append(
            f"| {row['claim']}: {row['figure']} | {row['deviation']:.3f} | {row['within_2']:.1%}"
            f" | {_nights(row['nights_95'])} | {_nights(row['ideal'])} | {_nights(row['oracle'])} |"
        )
    return "\n".join([*lines, ""])


def _nights(value: float) -> str:
    return f"{value:.0f}" if np.isfinite(value) else f"over {HORIZON}"

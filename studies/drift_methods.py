"""Our drift test beside what people use, on the same series: asv's step detection, Apache Otava, a fixed 5 %.

They are no dependencies; give them an environment of their own:

    python -m venv methods
    methods/bin/pip install asv apache-otava fsspec numpy pandas pyarrow scipy
    PYTHONPATH=. methods/bin/python studies/drift_methods.py --run RUN

Each method sees the nights one by one, at its own default settings, and its first alarm counts. Ours is given the
values over seeds, the others the mean of each night, which is what they take. The rate is ours for the whole suite.
"""

import argparse
import time
from collections.abc import Callable

import numpy as np
import pandas as pd
from asv.step_detect import detect_steps
from otava.analysis import compute_change_points

from lesson_claims.drift.populations import Floats, Population, from_run, shapes
from lesson_claims.drift.rank_tests import alarms
from lesson_claims.drift.simulate import nights
from lesson_claims.results.tables import read_run

SEEDS = 20
QUIET = 120
BASELINE = 60
AFTER = 20
FEWEST = 10
"""Nights before any method is asked."""

Method = Callable[[Floats], bool]
"""Whether the last night of a series of means is, or follows, a change."""


def asv_steps(means: Floats) -> bool:
    """Step detection by itself: more than one piece."""
    return len(detect_steps(means.tolist())) > 1


def otava(means: Floats) -> bool:
    """Otava's change points, at p < 0.001 and any size; where it fails, as on a constant, it found none."""
    try:
        return bool(compute_change_points(means.tolist(), window_len=50, max_pvalue=0.001, min_magnitude=0.0)[0])
    except ValueError:
        return False


def fixed_threshold(means: Floats) -> bool:
    """Tonight differs from the mean of all nights before by more than 5 %."""
    return bool(abs(means[-1] / means[:-1].mean() - 1) > 0.05)


OTHERS: dict[str, Method] = {
    "asv steps": asv_steps,
    "Otava": otava,
    "fixed 5 %": fixed_threshold,
}


def first_alarms(rng: np.random.Generator, values: Floats, start: int, figures: int) -> dict[str, float]:
    """Return the night of each method's first alarm from night `start` on, infinite without one.

    `values` has the shape (nights, seeds).
    """
    found = alarms(nights(rng, values[None]), np.full(len(values), figures))[0]
    places = np.flatnonzero(found[start:])
    result = {"this suite": float(places[0]) if len(places) else np.inf}
    means = values.mean(axis=1)
    for name, method in OTHERS.items():
        ends = (end for end in range(start, len(values)) if method(means[: end + 1]))
        result[name] = float(next(ends, np.inf)) - start
    return result


def quiet_table(rng: np.random.Generator, populations: list[Population], repetitions: int) -> pd.DataFrame:
    """Return, per method, first alarms and nights watched while nothing changed."""
    rows = []
    for population in populations:
        for _ in range(repetitions):
            values = population.draw(rng, (QUIET, SEEDS))
            for name, night in first_alarms(rng, values, FEWEST, len(populations)).items():
                watched = min(night + 1, QUIET - FEWEST)
                rows.append({"method": name, "alarms": int(np.isfinite(night)), "nights": watched})
    return pd.DataFrame(rows).groupby("method", sort=False).sum()


def change_table(
    rng: np.random.Generator, populations: list[Population], points: float, repetitions: int
) -> pd.DataFrame:
    """Return, per method and figure, nights until a drop was found; alarms before it do not count as finding it."""
    rows = []
    for population in populations:
        for _ in range(repetitions):
            values = population.draw(rng, (BASELINE + AFTER, SEEDS))
            values[BASELINE:] -= points / 100
            before = first_alarms(rng, values[:BASELINE], BASELINE - 1, len(populations))
            for name, night in first_alarms(rng, values, BASELINE, len(populations)).items():
                rows.append(
                    {
                        "method": name,
                        "figure": population.figure,
                        "deviation": population.deviation,
                        "delay": np.nan if np.isfinite(before[name]) else night + 1,
                    }
                )
    return pd.DataFrame(rows).dropna()


def main() -> None:
    """Print both tables as Markdown."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--run", metavar="RUN", help="a run with 20 seeds (default: shapes)")
    parser.add_argument("--repetitions", type=int, default=2)
    args = parser.parse_args()
    started = time.perf_counter()
    populations = from_run(read_run(args.run)) if args.run else shapes()
    shares = [population for population in populations if population.share]
    rng = np.random.default_rng(0)
    quiet = quiet_table(rng, populations, args.repetitions)
    changes = {points: change_table(rng, shares, points, args.repetitions) for points in (2, 5)}
    print(f"{len(populations)} figures; drops in {len(shares)} shares; {args.repetitions} repetitions.\n")
    head = "| method | false alarms a night, whole suite |"
    for points in changes:
        head += f" {points} points: within 2 nights | mean nights, at most {AFTER} |"
    print(head + "\n|" + " --- |" * (2 + 2 * len(changes)))
    for name, row in quiet.iterrows():
        line = f"| {name} | {row['alarms'] / row['nights'] * len(populations):.3f} |"
        for table in changes.values():
            delay = table.loc[table["method"] == name, "delay"]
            line += f" {(delay <= 2).mean():.1%} | {delay.clip(upper=AFTER).mean():.1f} |"
        print(line)
    print(f"\n{time.perf_counter() - started:.0f} s")


if __name__ == "__main__":
    main()

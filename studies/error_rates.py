"""How often verdicts err: `python -m studies.error_rates` prints the tables of docs/statistics.md.

Most rates are exact, from the binomial distribution (`studies.seed_plans`). The deciders themselves are run on
simulated seeds, to see that what they do is what was computed. The tables depend on nothing but `seed`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from scipy import stats

from lesson_claims.deciders import beats, better_than_shuffled, equivalent, grows, in_most_seeds, share
from lesson_claims.deciders.e_values import majority_e
from lesson_claims.deciders.prediction import student_interval
from lesson_claims.deciders.sign_test import Floats
from lesson_claims.decisions import LEVEL, Decision, Levels, Verdict
from lesson_claims.looks import CAP, looks
from studies.registries import FAMILIES, before, now, standing
from studies.seed_plans import (
    RULES,
    Evidence,
    Look,
    Outcome,
    by_evidence,
    by_p_value,
    fewest_wins,
    followed_advice,
    made_for_its_looks,
    outcome,
)

CLAIMS, HOLDING, REFUTED = 63, 47, 13
"""The claims of this project that are decided over seeds, and how many are on record with which verdict."""

SEQUENTIAL = Levels(LEVEL * HOLDING / CLAIMS, LEVEL * REFUTED / CLAIMS, every_look=True)
FIXED = Levels(SEQUENTIAL.holds, SEQUENTIAL.refuted)

TRUTHS = (0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1.0)
CAPS = (6, 8, 10, 14, 20, 30, 50, 100)
SEEDS = (5, 10, 20)
LONG = 100
"""The cap of those who want to know."""
RUNS = 20_000
AT_BORDER = 7

Draw = Callable[[np.random.Generator, tuple[int, int]], Floats]


class Rates(NamedTuple):
    """False holds and false refutations, as shares of all runs."""

    holds: float
    refuted: float


DIFFERENCES: dict[str, Draw] = {
    "normal": lambda rng, size: rng.normal(size=size),
    "heavy tails (t, 2 degrees)": lambda rng, size: rng.standard_t(2, size),
    "two clusters": lambda rng, size: np.where(rng.random(size) < 0.5, -0.2, 0.05) + rng.normal(0, 0.01, size),
    "skewed (log-normal)": lambda rng, size: rng.lognormal(size=size) - 1,
    "one in five tied": lambda rng, size: rng.choice([-0.01, 0.0, 0.01], size, p=[0.3, 0.2, 0.5]),
}
"""Differences between paired seeds of which half are above 0: the border of "in more than half of all seeds"."""

FIGURES: dict[str, Draw] = {
    "normal": lambda rng, size: rng.normal(size=size),
    "accuracies of 2,000 rows": lambda rng, size: rng.binomial(2000, 0.6, size) / 2000,
    "heavy tails (t, 2 degrees)": lambda rng, size: rng.standard_t(2, size),
    "two clusters, even": lambda rng, size: np.where(rng.random(size) < 0.5, 0.99, 0.75) + rng.normal(0, 0.005, size),
    "two clusters, 9 to 1": lambda rng, size: np.where(rng.random(size) < 0.9, 0.99, 0.75) + rng.normal(0, 0.005, size),
    "crowded at the bound (beta)": lambda rng, size: rng.beta(8, 0.5, size),
    "skewed (log-normal)": lambda rng, size: rng.lognormal(size=size),
    "seven in ten exactly 1": lambda rng, size: np.where(rng.random(size) < 0.7, 1.0, 1 - rng.exponential(0.01, size)),
    "constant": lambda _, size: np.ones(size),
}
"""Figures of training runs, one per seed."""

DECIDERS: dict[str, Callable[[Floats], Decision]] = {
    "`beats`": lambda d: beats(d, 0.0),
    # The differences are shrunk and moved onto the margin, far from the opposite one.
    "`equivalent`": lambda d: equivalent(0.03 - 1e-4 * d, 0.0, margin=0.03),
    "`grows`": lambda d: _growing(-0.1 + 1e-3 * d),
    "`in_most_seeds`": lambda d: in_most_seeds(d > 0, what="it is above 0"),
}
"""Deciders, each so that a difference above 0 is a win."""

SHOWN = {
    "`equivalent`": ("normal", "one in five tied"),
    "`grows`": ("normal", "one in five tied"),
    "`in_most_seeds`": ("normal",),
}
"""The differences shown of deciders that depend on them as `beats` does."""

SHARES: list[tuple[str, float, Callable[[int, int], Decision]]] = [
    ("at least 0.5, truth 0.5", 0.5, lambda k, n: share(k, n, at_least=0.5, of_seeds=True)),
    ("at least 0.9, truth 0.9", 0.9, lambda k, n: share(k, n, at_least=0.9, of_seeds=True)),
    ("0.5 ± 0.05, truth 0.55", 0.55, lambda k, n: share(k, n, equals=0.5, margin=0.05, of_seeds=True)),
    ("0.5 ± 0.001, truth 0.501", 0.501, lambda k, n: share(k, n, equals=0.5, margin=0.001, of_seeds=True)),
]
"""Claims on shares, each with a truth at its limit."""


def decider_rates(
    name: str, draw: Draw, numbers: Sequence[int], levels: Levels, known: dict[tuple[int, ...], Decision], seed: int = 0
) -> Rates:
    """Return the rates of a decider that looks at growing numbers of simulated seeds until it decides.

    It depends on its differences through their signs alone, so that one call stands for all runs with the same
    numbers of positive and negative differences; `known` keeps what those gave.
    """
    differences = draw(np.random.default_rng(seed), (RUNS, numbers[-1]))
    open_runs, decided = np.arange(RUNS), dict.fromkeys(Verdict, 0)
    for seeds in numbers:
        seen = differences[open_runs, :seeds]
        signs = np.stack([(seen > 0).sum(1), (seen < 0).sum(1)])
        _, first, which, count = np.unique(signs, axis=1, return_index=True, return_inverse=True, return_counts=True)
        verdicts = []
        for one in first:
            key = (seeds, *map(int, signs[:, one]))
            if key not in known:
                known[key] = DECIDERS[name](seen[one])
            verdicts.append(known[key].at(levels).verdict)
        for verdict, runs in zip(verdicts, count, strict=True):
            decided[verdict] += int(runs)
        open_runs = open_runs[np.array([verdict is Verdict.INCONCLUSIVE for verdict in verdicts])[which.ravel()]]
    return Rates(decided[Verdict.HOLDS] / RUNS, decided[Verdict.REFUTED] / RUNS)


def share_rates(claim: Callable[[int, int], Decision], truth: float, numbers: Sequence[int], levels: Levels) -> Rates:
    """Return the exact rates of `share` for a claim on (successes, trials) whose limit is the `truth`."""
    plan = []
    for trials in numbers:
        likely = stats.binom.pmf(np.arange(trials + 1), trials, truth) > 1e-7
        verdicts = [
            claim(k, trials).at(levels).verdict if likely[k] else Verdict.INCONCLUSIVE for k in range(trials + 1)
        ]
        holds, refuted = (
            np.array([verdict is each for verdict in verdicts]) for each in (Verdict.HOLDS, Verdict.REFUTED)
        )
        plan.append(Look(trials, holds, refuted))
    found = outcome(plan, truth)
    return Rates(found.holds, found.refuted)


def shuffled_rates(shuffles: int) -> Rates:
    """Return the exact rates of `better_than_shuffled` where labels mean nothing: every rank is as likely."""
    verdicts = [better_than_shuffled(rank + 0.5, np.arange(shuffles)).at(FIXED).verdict for rank in range(-1, shuffles)]
    return Rates(*(verdicts.count(each) / (shuffles + 1) for each in (Verdict.HOLDS, Verdict.REFUTED)))


def figure_rates(draw: Draw, seeds: int, seed: int = 0) -> tuple[float, float]:
    """Return how often the prediction interval takes in a foreign figure, and leaves out one of its own.

    The foreign figure lies above or below the median, three times as far as the central 95 % of all figures reach
    on average (5.9 standard deviations of normal ones).
    """
    rng = np.random.default_rng(seed)
    own = draw(rng, (RUNS, seeds + 1))
    low, high = student_interval(own[:, 1:], 0.95)
    lower, median, upper = np.quantile(own, [0.025, 0.5, 0.975])
    foreign = median + rng.choice([-3, 3], RUNS) * (upper - lower) / 2
    # Where all seeds agree there is no reach to measure distances by.
    inside = float(np.mean((low <= foreign) & (foreign <= high))) if upper > lower else np.nan
    return inside, float(np.mean((own[:, 0] < low) | (own[:, 0] > high)))


def decided_rates(plans: Sequence[list[Look]], truth: float) -> dict[int, Outcome]:
    """Return what plans up to LONG seeds do with a true claim at the two caps, on average over the plans.

    Nothing is refuted here, so that holding and refuting are compared alike.
    """
    without = [[Look(seeds, holds, np.zeros_like(holds)) for seeds, holds, _ in plan] for plan in plans]
    return {
        cap: Outcome(*np.mean([outcome(plan[: len(looks(cap))], truth) for plan in without], axis=0))
        for cap in (CAP, LONG)
    }


def tables(seed: int = 0) -> str:
    """Return all tables as Markdown."""
    parts = [
        *_verdict_tables(), *_rule_tables(), *_registry_tables(seed), *_advice_table(), *_decider_tables(seed),
        *_figure_table(seed),
    ]  # fmt: skip
    return "\n\n".join(parts) + "\n"


def _plans() -> dict[str, list[Look]]:
    """Return the rules in force, by the option that selects them."""
    auto = {f"auto:{cap}": by_evidence(majority_e, cap, SEQUENTIAL) for cap in CAPS}
    return auto | {f"{seeds}": by_p_value(seeds, FIXED) for seeds in SEEDS}


def _verdict_tables() -> list[str]:
    header = ["`--seeds`", *(f"{truth:.0%}" for truth in TRUTHS)]
    plans = {name: [outcome(plan, truth) for truth in TRUTHS] for name, plan in _plans().items()}
    verdicts = [[name, *(_pair((each.holds, each.refuted)) for each in found)] for name, found in plans.items()]
    used = [[name, *(f"{each.seeds:.1f}" for each in found)] for name, found in plans.items()]
    long = by_evidence(majority_e, LONG, SEQUENTIAL)
    tests = {n: by_evidence(majority_e, LONG, SEQUENTIAL.shared_by(n)) for n in (1, 2, 3)}
    shown = [i for i, look in enumerate(long) if look.seeds <= 40 or look.seeds in (50, LONG)]
    decisive = [
        ["wins that hold", *(_count(fewest_wins(long[i].holds)) for i in shown)],
        *(
            [f"others that refute, of {n} test{'s' if n > 1 else ''}", *(_count(_most_wins(plan[i])) for i in shown)]
            for n, plan in tests.items()
        ),
    ]
    return [
        "Fewest seeds on one side that decide, at each look of `auto:100`:",
        _table(["seeds", *(str(long[i].seeds) for i in shown)], decisive),
        "Verdicts holds / refuted, by the share of all seeds that a claim is true of (exact). Up to 50% each `holds` "
        "is false; from 50% on each `refuted` is. What is missing to 1 stays open:",
        _table(header, verdicts),
        "Mean number of seeds used, by the share of all seeds that a claim is true of (exact):",
        _table(header, used),
    ]


def _rule_tables() -> list[str]:
    rules = {name: _evidence_plan(evidence) for name, evidence in RULES.items()}
    rules["made for these looks, no e-value"] = lambda levels, cap: made_for_its_looks(cap, levels)
    truths = ((0.7, CAP), (0.8, CAP), (0.9, CAP), (0.6, LONG), (0.7, LONG), (0.8, LONG))
    bars = {
        f"Which rule decides sooner: a true claim holds / seeds used, where E must reach {1 / SEQUENTIAL.holds:.1f} "
        "(the level of `holds` here), by the share of all seeds and the cap (exact):": [1 / SEQUENTIAL.holds],
        f"The same where E must reach {1 / SEQUENTIAL.refuted:.1f} (the level of `refuted` here):": [
            1 / SEQUENTIAL.refuted
        ],
        "The same on average over 40 values that E must reach, from 20 to 500, evenly spaced in their logarithm:": list(
            np.geomspace(20, 500, 40)
        ),
    }
    header = ["rule", *(f"{truth:.0%}, {cap}" for truth, cap in truths), "100%"]
    parts = []
    for heading, reached in bars.items():
        rows = []
        for name, plan in rules.items():
            plans = [plan(Levels(1 / bar), LONG) for bar in reached]
            found = {truth: decided_rates(plans, truth) for truth in (0.6, 0.7, 0.8, 0.9, 1.0)}
            cells = [found[truth][cap] for truth, cap in truths]
            unanimous = found[1.0][LONG].seeds
            rows.append([name, *(f"{each.holds:.3f} / {each.seeds:.1f}" for each in cells), f"{unanimous:.1f}"])
        parts += [heading, _table(header, rows)]
    return parts


def _registry_tables(seed: int) -> list[str]:
    rows = []
    for truth in (0.45, 0.5, 0.55):
        cells = [before(CLAIMS, AT_BORDER, truth, seeds, seed) for seeds in (5, 20)]
        cells += [
            now(outcome(plan, truth), AT_BORDER)
            for plan in (_plans()[name] for name in (f"auto:{CAP}", f"auto:{LONG}", *map(str, SEEDS)))
        ]
        rows.append([f"{truth:.0%}", *(_errors(each, truth) for each in cells)])
    border = outcome(_plans()[f"auto:{LONG}"], 0.5)
    worst = [
        ["false holds", f"{CLAIMS * border.holds:.2f}", f"{LEVEL * HOLDING:.2f}"],
        ["false refutations", f"{CLAIMS * border.refuted:.2f}", f"{LEVEL * REFUTED:.2f}"],
    ]
    cliff = []
    for more in (0, 51, 52, 85):
        levels = Levels(LEVEL * 85 / (85 + more), LEVEL, every_look=True)
        needed = next(look.seeds for look in by_evidence(majority_e, LONG, levels) if look.holds[-1])
        cliff.append([str(more), *(str(standing(85, more, n)) for n in (5, 6)), "85", f"85, at {needed} seeds"])
    return [
        f"A registry of {CLAIMS} claims, of which {AT_BORDER} are true of the given share of all seeds and the others "
        f"of all: probability of at least one false hold / false refutation (before: {FAMILIES:,} simulated runs; now: "
        "exact):",
        _table(
            ["share", "before, 5 seeds", "before, 20", "now, auto", "now, auto:100", *(f"now, {n}" for n in SEEDS)],
            rows,
        ),
        f"All {CLAIMS} claims true of half of all seeds, `auto:{LONG}`: false verdicts expected, and the most that the "
        "levels allow:",
        _table(["", "expected", "at most"], worst),
        "No cliff: of 85 claims that all seeds agree with, how many hold beside so many undecided ones:",
        _table(
            ["undecided", "before, 5 seeds", "before, 6", "now, undecided in this run", "now, undecided on record"],
            cliff,
        ),
    ]


def _advice_table() -> list[str]:
    truths = (0.45, 0.5, 0.55, 0.6)
    plans = {
        "before, 5 seeds": [followed_advice(truth, times=0) for truth in truths],
        "before, advice followed once": [followed_advice(truth, times=1) for truth in truths],
        "before, followed up to 100 seeds": [followed_advice(truth, most=100) for truth in truths],
        "before, followed up to 200 seeds": [followed_advice(truth, most=200) for truth in truths],
        "now, auto:100": [outcome(_plans()["auto:100"], truth) for truth in truths],
    }
    rows = [
        [name, *(f"{_pair((each.holds, each.refuted))}, {each.seeds:.0f}" for each in found)]
        for name, found in plans.items()
    ]
    return [
        'One claim, and the advice that it was given before ("13 seeds would decide it"): holds / refuted, seeds used '
        "(exact). At 50% and below a hold is false, at 50% and above a refutation:",
        _table(["rule", *(f"{truth:.0%}" for truth in truths)], rows),
    ]


def _decider_tables(seed: int) -> list[str]:
    auto = [(looks(cap), SEQUENTIAL) for cap in (CAP, LONG)]
    fixed = [((seeds,), FIXED) for seeds in SEEDS]
    known: dict[str, dict[tuple[int, ...], Decision]] = {name: {} for name in DECIDERS}
    rows = [
        [name, shape, *(_pair(decider_rates(name, draw, *plan, known[name], seed)) for plan in (*auto, *fixed))]
        for name in DECIDERS
        for shape, draw in DIFFERENCES.items()
        if shape in SHOWN.get(name, DIFFERENCES)
    ]
    computed = [
        outcome(plan, 0.5)
        for plan in (
            *(by_evidence(majority_e, cap, SEQUENTIAL) for cap in (CAP, LONG)),
            *(by_p_value(n, FIXED) for n in SEEDS),
        )
    ]
    rows.append(["computed", "half above 0", *(_pair((each.holds, each.refuted)) for each in computed)])
    trials = [*auto, *(((n,), FIXED) for n in (20, 200))]
    shares = [[name, *(_pair(share_rates(claim, truth, *plan)) for plan in trials)] for name, truth, claim in SHARES]
    shuffles = (24, 99, 199, 999)
    return [
        f"The deciders themselves at the border of their claims, {RUNS:,} simulated runs: false hold / false refute:",
        _table(["decider", "differences", "auto", "auto:100", *(f"{n} seeds" for n in SEEDS)], rows),
        "`share` at the border of its claim: false hold / false refute (exact):",
        _table(["claim", "auto", "auto:100", "20 trials", "200 trials"], shares),
        "`better_than_shuffled`, one statistic, labels without meaning: false hold / false refute (exact):",
        _table(["shuffles", *map(str, shuffles)], [["rates", *(_pair(shuffled_rates(n)) for n in shuffles)]]),
    ]


def _figure_table(seed: int) -> list[str]:
    rows = [[shape, *(_pair(figure_rates(draw, n, seed=seed)) for n in SEEDS)] for shape, draw in FIGURES.items()]
    return [
        f"The interval for one more seed: a foreign figure lies inside / a figure of its own outside, {RUNS:,} "
        "simulated runs:",
        _table(["figures", *(f"{n} seeds" for n in SEEDS)], rows),
    ]


def _growing(slopes: Floats) -> Decision:
    x = np.array([5.0, 10.0, 20.0])
    return grows(x, np.exp(slopes[:, None] * x), law="exponential", slope=(-0.1, np.inf))


def _evidence_plan(evidence: Evidence) -> Callable[[Levels, int], list[Look]]:
    return lambda levels, cap: by_evidence(evidence, cap, levels)


def _most_wins(look: Look) -> int | None:
    """Return the smallest number of other seeds that refutes."""
    found = np.flatnonzero(look.refuted)
    return look.seeds - int(found[-1]) if len(found) else None


def _count(number: int | None) -> str:
    return "–" if number is None else str(number)


def _errors(errors: tuple[float, float], truth: float) -> str:
    """Write the errors, of which one is none where the truth lies on one side."""
    return _pair((errors[0] if truth <= 0.5 else np.nan, errors[1] if truth >= 0.5 else np.nan))


def _pair(rates: tuple[float, float]) -> str:
    return " / ".join("–" if np.isnan(rate) else f"{rate:.3f}" for rate in rates)


def _table(header: list[str], rows: list[list[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


if __name__ == "__main__":
    print(tables(), end="")

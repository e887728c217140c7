"""How often the deciders err, simulated: `python -m studies.error_rates` prints the tables of docs/statistics.md.

Each decider is put where it errs most: at the border of its claim, where the thing claimed happens in exactly half
of all seeds, or in less than half either way where seeds can tie. The tables depend on nothing but `seed`.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
from scipy import stats

from lesson_claims.deciders import LEVEL, beats, better_than_shuffled, equivalent, grows, share
from lesson_claims.deciders.prediction import student_interval
from lesson_claims.deciders.sign_test import Floats, sign_p
from lesson_claims.decisions import Decision, Verdict

SEEDS = (5, 10, 20)
RUNS = 20_000
FAMILIES = 2_000

Draw = Callable[[np.random.Generator, tuple[int, int]], Floats]
Rates = tuple[float, float]
"""False holds and false refutations, as shares of all simulated runs."""

DIFFERENCES: dict[str, Draw] = {
    "normal": lambda rng, size: rng.normal(size=size),
    "accuracies of 2,000 rows": lambda rng, size: (
        (rng.binomial(2000, 0.6, size) - rng.binomial(2000, 0.6, size)) / 2000
    ),
    "heavy tails (t, 2 degrees)": lambda rng, size: rng.standard_t(2, size),
    "two clusters": lambda rng, size: np.where(rng.random(size) < 0.5, -0.2, 0.05) + rng.normal(0, 0.01, size),
    "skewed (log-normal)": lambda rng, size: rng.lognormal(size=size) - 1,
    "one in five tied": lambda rng, size: rng.choice([-0.01, 0.0, 0.01], size, p=[0.4, 0.2, 0.4]),
    "constant (all tied)": lambda _, size: np.zeros(size),
}
"""Differences between paired seeds with P(> 0) ≤ 1/2 and P(< 0) ≤ 1/2: A neither beats B nor loses to it."""

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

SHARES: list[tuple[str, float, Callable[[int, int], Decision]]] = [
    ("at least 0.9, truth 0.9", 0.9, lambda k, n: share(k, n, at_least=0.9)),
    ("at most 0.1, truth 0.1", 0.1, lambda k, n: share(k, n, at_most=0.1)),
    ("0.5 ± 0.05, truth 0.55", 0.55, lambda k, n: share(k, n, equals=0.5, margin=0.05)),
]
"""Claims on shares, each with a truth at its limit."""


def sign_test_rates(decide: Callable[[Floats], Decision], draw: Draw, seeds: int, seed: int) -> Rates:
    """Return the rates of a decider that depends on its differences through their signs alone.

    That lets one call stand for all runs with the same numbers of positive and negative differences.
    """
    differences = draw(np.random.default_rng(seed), (RUNS, seeds))
    signs = np.stack([(differences > 0).sum(1), (differences < 0).sum(1)])
    _, first, count = np.unique(signs, axis=1, return_index=True, return_counts=True)
    return _rates([decide(differences[i]).verdict for i in first], count)


def beats_rates(draw: Draw, seeds: int, seed: int = 0) -> Rates:
    """Return the rates of `beats` where A exceeds B by more than `by` in half of all seeds."""
    return sign_test_rates(lambda d: beats(d, 0.0), draw, seeds, seed)


def equivalent_rates(draw: Draw, seeds: int, seed: int = 0) -> Rates:
    """Return the rates of `equivalent` where the difference lies within the margin in half of all seeds.

    The differences are shrunk and moved onto the margin, far from the opposite one.
    """
    margin = 0.03
    return sign_test_rates(lambda d: equivalent(margin + 1e-4 * d, 0.0, margin=margin), draw, seeds, seed)


def grows_rates(draw: Draw, seeds: int, seed: int = 0) -> Rates:
    """Return the rates of `grows` where the slope lies beyond its limit in half of all seeds."""
    x, limit = np.array([5.0, 10.0, 20.0]), -0.1

    def decide(differences: Floats) -> Decision:
        slopes = limit + 1e-3 * differences
        return grows(x, np.exp(slopes[:, None] * x), law="exponential", slope=(limit, np.inf))

    return sign_test_rates(decide, draw, seeds, seed)


def share_rates(claim: Callable[[int, int], Decision], truth: float, trials: int, seed: int = 0) -> Rates:
    """Return the rates of `share` for a claim on (successes, trials) whose limit is the `truth`."""
    successes, count = np.unique(np.random.default_rng(seed).binomial(trials, truth, RUNS), return_counts=True)
    return _rates([claim(int(k), trials).verdict for k in successes], count)


def shuffled_rates(seeds: int, seed: int = 0) -> Rates:
    """Return the rates of `better_than_shuffled` with 19 shuffles where labels mean nothing.

    The verdict depends on the statistic's rank among them alone, so one run of each rank is decided.
    """
    statistics = np.random.default_rng(seed).normal(size=(RUNS, 20, seeds))
    means = statistics.mean(2)
    ranks = (means[:, 1:] < means[:, :1]).sum(1)
    _, first, count = np.unique(ranks, return_index=True, return_counts=True)
    verdicts = [better_than_shuffled(statistics[i, 0], statistics[i, 1:].T).verdict for i in first]
    return _rates(verdicts, count)


def figure_rates(draw: Draw, seeds: int, seed: int = 0) -> Rates:
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
    held = float(np.mean((low <= foreign) & (foreign <= high))) if upper > lower else np.nan
    return held, float(np.mean((own[:, 0] < low) | (own[:, 0] > high)))


def decided_share(seeds: int, agreeing: float) -> float:
    """Return the probability that `seeds` decide a claim rightly which is true of the share `agreeing` of all seeds."""
    counts = np.arange(seeds + 1)
    return float(stats.binom.pmf(counts, seeds, agreeing)[sign_p(counts, seeds) <= LEVEL].sum())


def family_rates(
    method: str | None, null: float, seeds: int, tests: int = 40, seed: int = 0
) -> tuple[float, float, float]:
    """Return the shares of false holds and of false refutations among verdicts, and of true differences found.

    A family of comparisons between models that share runs: ten arms in two groups, bimodal over seeds; within a
    group nothing differs (the share `null` of all comparisons), across groups each seed does. `method` is "bh",
    "by" or None for no correction.
    """
    rng = np.random.default_rng(seed)
    arms = np.where(rng.random((FAMILIES, 10, seeds)) < 0.7, 0.0, -1.0) + rng.normal(0, 0.05, (FAMILIES, 10, seeds))
    arms[:, 5:] += 9
    within = [(i, j) for i in range(10) for j in range(i) if (i < 5) == (j < 5)]
    across = [(i, j) for i in range(5, 10) for j in range(5)]
    nulls = round(null * tests)
    pairs = [within[k % len(within)] for k in range(nulls)] + [across[k % len(across)] for k in range(tests - nulls)]
    first, second = np.array(pairs).T
    wins = (arms[:, first] > arms[:, second]).sum(-1)
    p_hold, p_refute = sign_p(wins, seeds), sign_p(seeds - wins, seeds)
    p = np.minimum(p_hold, p_refute)
    stands = p <= LEVEL
    if method is not None:
        stands &= stats.false_discovery_control(p, axis=1, method=method) <= LEVEL
    verdicts = np.maximum(stands.sum(1), 1)
    is_null = np.arange(tests) < nulls
    false_holds = (stands & is_null & (p_hold < p_refute)).sum(1) / verdicts
    false_refutations = (stands & is_null & (p_refute < p_hold)).sum(1) / verdicts
    found = float(stands[:, ~is_null].mean()) if nulls < tests else np.nan
    return float(false_holds.mean()), float(false_refutations.mean()), found


def tables(seed: int = 0) -> str:
    """Return all tables as Markdown."""
    sizes = [f"{n} seeds" for n in SEEDS]
    signs = [
        [decider, shape, *(_pair(rates(draw, n, seed=seed)) for n in SEEDS)]
        for decider, rates in (("`beats`", beats_rates), ("`equivalent`", equivalent_rates), ("`grows`", grows_rates))
        for shape, draw in DIFFERENCES.items()
    ]
    trials = (20, 200, 2000)
    shares = [[name, *(_pair(share_rates(claim, truth, n, seed)) for n in trials)] for name, truth, claim in SHARES]
    shuffled = [["`better_than_shuffled`", *(_pair(shuffled_rates(n, seed=seed)) for n in SEEDS)]]
    figures = [[shape, *(_pair(figure_rates(draw, n, seed=seed)) for n in SEEDS)] for shape, draw in FIGURES.items()]
    power = [
        [f"{agreeing:.0%} of seeds", *(f"{decided_share(n, agreeing):.3f}" for n in SEEDS)]
        for agreeing in (0.6, 0.7, 0.8, 0.9, 0.95, 1.0)
    ]
    families = [
        [name, f"{null:.0%}", *(_triple(family_rates(method, null, n, seed=seed)) for n in SEEDS)]
        for null in (0.1, 0.3, 0.5, 0.8, 1.0)
        for name, method in (("none", None), ("Benjamini–Hochberg", "bh"), ("Benjamini–Yekutieli", "by"))
    ]
    parts = [
        f"False hold / false refute, each of {RUNS:,} simulated runs, at the border of the claim:",
        _table(["decider", "differences", *sizes], signs),
        f"`share`, false hold / false refute of {RUNS:,} simulated runs, at the border of the claim:",
        _table(["claim", *(f"{n} trials" for n in trials)], shares),
        f"`better_than_shuffled`, false hold / false refute of {RUNS:,} simulated runs, labels without meaning:",
        _table(["decider", *sizes], shuffled),
        f"`plausible_draw`, foreign figure held / own figure refuted, of {RUNS:,} simulated runs:",
        _table(["figures", *sizes], figures),
        "Sign tests, probability that a claim is decided rightly by how often it is true (exact):",
        _table(["true of", *sizes], power),
        f"Forty comparisons of ten models over shared runs, {FAMILIES:,} simulated families: share of false holds / "
        "of false refutations among verdicts, and share of true differences found:",
        _table(["correction", "without difference", *sizes], families),
    ]
    return "\n\n".join(parts) + "\n"


def _rates(verdicts: list[Verdict], count: npt.ArrayLike) -> Rates:
    weights = np.asarray(count) / np.sum(count)
    held = np.array([verdict is Verdict.HOLDS for verdict in verdicts])
    refuted = np.array([verdict is Verdict.REFUTED for verdict in verdicts])
    return float(weights @ held), float(weights @ refuted)


def _pair(rates: Rates) -> str:
    return " / ".join("–" if np.isnan(rate) else f"{rate:.3f}" for rate in rates)


def _triple(rates: tuple[float, float, float]) -> str:
    return f"{_pair(rates[:2])}, {'–' if np.isnan(rates[2]) else f'{rates[2]:.2f}'}"


def _table(header: list[str], rows: list[list[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


if __name__ == "__main__":
    print(tables(), end="")

"""New versions of libraries: the last night's seeds run again under them, and judged in pairs with what was kept.

Two nights differ in their seeds and in their versions. The same seeds under both leave the versions alone (and the
code, if it changed the same night). A single number is compared by its tolerance. A figure over seeds is the same, seed
by seed, or its differences are tested by Wilcoxon's signed-rank test, exactly, ties and all: where nothing but rounding
changed, each difference is as likely to be up as down. Holm's correction is over all figures that differ.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import rankdata

from lesson_claims.drift.environment import cause, changes
from lesson_claims.drift.judgement import CAME_BACK, Judgement
from lesson_claims.drift.past import Past, open_shifts, without_clocks
from lesson_claims.drift.rank_tests import LEAST_EFFECT
from lesson_claims.drift.revisions import holm
from lesson_claims.drift.values import beyond
from lesson_claims.results.acceptance import Key, name_of
from lesson_claims.results.history import History
from lesson_claims.results.numbers import count
from lesson_claims.results.shifts import Shift, Shifts

LEVEL = 0.01
"""Chance that any figure is said to have moved with new versions, where rounding alone made its seeds differ."""

MACHINE = ("platform", "processor", "cpu capability", "threads", "workers", "device", "device name", "numerics")
"""Parts of an environment that are no library."""
NO_NUMBERS = ("pytest",)
"""Libraries that move no number."""


@dataclass(frozen=True)
class Again:
    """A night whose seeds are to be run again.

    Attributes:
        run: its place in `History.runs`.
        name: its name.
        first_seed, seeds: its seeds.
        versions: what changed since, a text for each library.
    """

    run: int
    name: str
    first_seed: int
    seeds: int
    versions: list[str]


def again(past: Past) -> Again | str:
    """Return what to run again: the seeds of the last whole night before tonight's, if tonight's has other versions.

    If it has not, those of a night since which figures moved and are not accepted, if code or versions changed since
    that was last looked at: they may be back. An empty text if nothing is to be done; another one says why it cannot
    be.
    """
    runs, last = past.history.runs, len(past.history.runs) - 1
    if not last:
        return ""
    whole = [run for run in range(last) if runs.loc[last, "partial"] or not runs.loc[run, "partial"]]
    base = whole[-1] if whole and _versions(runs, whole[-1], last) else _unsettled(past)
    if base < 0:
        return ""
    versions = _versions(runs, base, last)
    before = runs.loc[base]
    if before["first_seed"] < 0 or not before["seeds"] or not (past.history.samples["run"] == base).any():
        return f"{', '.join(versions)}: the history does not have the seeds of {before['name']}, so none was run again"
    return Again(base, before["name"], int(before["first_seed"]), int(before["seeds"]), versions)


def _versions(runs: pd.DataFrame, before: int, after: int) -> list[str]:
    return changes(*(_libraries(runs.loc[run, "environment"]) for run in (before, after)))


def _commits(runs: pd.DataFrame, before: int, after: int) -> list[str]:
    old, new = (str(runs.loc[run, "commit"])[:10] for run in (before, after))
    return [f"commit {old} → {new}"] if old != new else []


def _unsettled(past: Past) -> int:
    """Return the first run since which figures moved and are open, and code or versions changed; else -1."""
    runs, last = past.history.runs, len(past.history.runs) - 1
    for base in sorted({shifts.before for shifts, _ in open_shifts(past.shifts, runs, past.starts).values()}):
        looked = max(shifts.run for shifts in past.shifts if shifts.before == base)
        places = [runs.index[runs["name"] == name] for name in (base, looked)]
        if all(len(place) for place in places):
            run, then = (int(place[0]) for place in places)
            if then < last and (_commits(runs, then, last) or _versions(runs, then, last)):
                return run
    return -1


def judge_pairs(past: Past, night: Again, rerun: History, tonight: Iterable[Judgement]) -> Shifts:
    """Compare `night` with the last run of `rerun`, which has the same seeds in tonight's surroundings.

    `tonight` are the judgements of the night's own run, to which those that drifted are compared.
    """
    runs, last = past.history.runs, len(past.history.runs) - 1
    reason = cause(runs.loc[night.run], runs.loc[last])
    old, new = _one(without_clocks(past.history), night.run), _one(without_clocks(rerun), len(rerun.runs) - 1)
    pairs = {key: _Pairs(old.samples[key], new.samples[key]) for key in old.samples if key in new.samples}
    pairs = {key: each for key, each in pairs.items() if each.count}
    rejected = holm({key: each.p for key, each in pairs.items() if not each.same}, LEVEL)
    moved = {key: each for key, each in pairs.items() if key in rejected and each.matters}
    both = [key for key in old.single if key in new.single and key not in pairs]
    apart = [key for key in both if old.single[key].text != new.single[key].text]
    far = [key for key in apart if new.single[key].is_beyond(old.single[key])]
    same = len(both) - len(apart) + sum(each.same for each in pairs.values())
    within = len(pairs) + len(both) - same - len(moved) - len(far)
    known = open_shifts(past.shifts, runs, past.starts)
    returned = [key for key, (shifts, _) in known.items()
                if shifts.before == night.name and key in pairs and key not in moved]  # fmt: skip
    changed = [*night.versions, *_commits(runs, night.run, last)]
    lines = [
        f"{', '.join(changed) or 'nothing changed'}: seeds {night.first_seed} to"
        f" {night.first_seed + night.seeds - 1} of {night.name} again: {count(same, 'figure')} the same to the last"
        f" bit, {within} within what is allowed or by chance, {len(moved) + len(far)} moved"
    ]
    lines += [f"{name_of(*key)}: {old.single[key].text} → {new.single[key].text}" for key in far]
    lines += [f"{name_of(*key)}: {each.sentence}" for key, each in moved.items()]
    lines += [f"{name_of(*key)}: {CAME_BACK}: {pairs[key].sentence}" for key in returned]
    lines += [
        f"{each.name}: drifted tonight, and on these seeds it did not move beyond chance"
        f" ({pairs[each.claim, each.figure].sentence})"
        for each in tonight
        if each.new and (each.claim, each.figure) in pairs and (each.claim, each.figure) not in moved
    ]
    return Shifts(
        run=runs.loc[last, "name"],
        before=night.name,
        lines=tuple(lines),
        moved=tuple(Shift(*key, old.kinds[key], each.sentence, reason) for key, each in moved.items()),
        returned=tuple(returned),
    )


class _Pairs:
    """One figure at the same seeds, before and after."""

    def __init__(self, before: "pd.Series[float]", after: "pd.Series[float]") -> None:
        seeds = before.index.intersection(after.index)
        x, y = (values.loc[seeds].to_numpy(dtype=np.float64) for values in (before, after))
        self.count = len(seeds)
        self.same = bool(np.array_equal(x, y, equal_nan=True))
        finite = np.isfinite(x) & np.isfinite(y)
        lost = int((np.isfinite(x) & ~np.isfinite(y)).sum())
        x, y = x[finite], y[finite]
        self.p = 0.0 if lost else signed_rank_p(y - x)
        mean = [float(values.mean()) if len(values) else float("nan") for values in (x, y)]
        self.matters = bool(lost or abs(mean[1] - mean[0]) >= LEAST_EFFECT * float(np.abs(x).mean()))
        self.sentence = f"{lost} of {self.count} seeds turned NaN or infinite; " if lost else ""
        self.sentence += f"mean {mean[0]:.4g} → {mean[1]:.4g} over the same {count(len(x), 'seed')} (p = {self.p:.1g})"


def signed_rank_p(differences: NDArray[np.float64]) -> float:
    """Return the two-sided p-value of Wilcoxon's signed-rank test (1945) of paired differences, which is exact.

    Differences of zero are left out; equal magnitudes share their mean rank. The distribution of the rank sum over all
    2^n signs is worked out by adding one rank after another.
    """
    differences = differences[differences != 0]
    if not len(differences):
        return 1.0
    ranks = np.rint(2 * rankdata(np.abs(differences))).astype(np.int64)  # twice the rank is whole with ties, too
    chance = np.zeros(int(ranks.sum()) + 1)
    chance[0] = 1.0
    for rank in ranks:
        chance[rank:] = chance[rank:] / 2 + chance[:-rank] / 2
        chance[:rank] /= 2
    positive = int(ranks[differences > 0].sum())
    least = min(positive, int(ranks.sum()) - positive)
    return min(1.0, 2 * float(chance[: least + 1].sum()))


@dataclass(frozen=True)
class _Single:
    """A figure's single value, as it was measured."""

    kind: str
    text: str
    tolerance: float
    type: str

    def is_beyond(self, before: "_Single") -> bool:
        """Say whether it differs from the one before by more than is allowed."""
        return beyond(self.kind, before.text, self.text, self.tolerance, self.type)


@dataclass(frozen=True)
class _One:
    """A run: of each figure its kind, and its single value, or its values by seed."""

    kinds: dict[Key, str]
    single: dict[Key, _Single]
    samples: dict[Key, "pd.Series[float]"]


def _one(history: History, run: int) -> _One:
    rows = history.figures[(history.figures["run"] == run) & (history.figures["figure"] != "")].to_dict("records")
    keys = [(str(row["claim"]), str(row["figure"])) for row in rows]
    single = {
        key: _Single(str(row["kind"]), row["measured"], float(row["tolerance"]), str(row.get("type", "")))
        for key, row in zip(keys, rows, strict=True) if row["measured"]
    }  # fmt: skip
    samples = history.samples[history.samples["run"] == run]
    return _One(
        {key: str(row["kind"]) for key, row in zip(keys, rows, strict=True)},
        single,
        {
            (str(claim), str(figure)): group.set_index("seed")["value"]
            for (claim, figure), group in samples.groupby(["claim", "figure"], observed=True, sort=False)
        },
    )


def _libraries(environment: dict[str, Any]) -> dict[str, Any]:
    """Return the versions in an environment; names in capitals are settings of libraries."""
    return {
        name: version for name, version in environment.items()
        if name not in (*MACHINE, *NO_NUMBERS) and not name.isupper()
    }  # fmt: skip

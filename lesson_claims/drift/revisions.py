"""Two states of a baseline compared: what was added, what is gone, what moved, and what changed within noise.

A number that is the same on every run has moved if it changed by more than its tolerance (`values.beyond`). A figure
over seeds has moved if its values before and after are unlikely to come from one distribution: the two-sample test of
Kolmogorov and Smirnov, with Holm's correction over all such figures. Where both states have the same seeds, the test
finds less than it could, and never more than it should.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import stats

from lesson_claims.drift.past import without_clocks
from lesson_claims.drift.values import beyond
from lesson_claims.results.history import History
from lesson_claims.results.numbers import count

LEVEL = 0.05
"""Chance that any figure over seeds is called moved, where all of them changed by chance alone."""

T = TypeVar("T")
Key = tuple[str, str]
Named = list[tuple[str, str]]
"""Claims or figures by name, and what happened to each."""


@dataclass
class Changes:
    """What differs between two states of a baseline, of one kind of device.

    Attributes:
        verdicts: claims whose verdicts differ.
        added, gone: claims and figures that only the later or only the earlier state has.
        moved, within_noise: figures whose values differ.
        platforms: figures whose platform spread differs.
        unchanged: how many figures have the very same values.
    """

    verdicts: Named = field(default_factory=list)
    added: Named = field(default_factory=list)
    gone: Named = field(default_factory=list)
    moved: Named = field(default_factory=list)
    within_noise: Named = field(default_factory=list)
    platforms: Named = field(default_factory=list)
    unchanged: int = 0


def compare_states(
    before: History, after: History, platforms_before: pd.DataFrame, platforms_after: pd.DataFrame
) -> Changes:
    """Compare the runs and the platform spreads (tables of `columns.PLATFORMS`) of two states of a baseline."""
    changes = Changes()
    before, after = without_clocks(before), without_clocks(after)
    _compare_verdicts(before, after, changes)
    _compare_figures(before, after, changes)
    _compare_platforms(platforms_before, platforms_after, changes)
    return changes


def _compare_verdicts(before: History, after: History, changes: Changes) -> None:
    old, new = _verdicts(before), _verdicts(after)
    figures = {side: Counter(key[0] for key in _values(history)) for side, history in ((0, before), (1, after))}
    for claim in _both(old, new):
        if claim not in old:
            changes.added.append((claim, f"a claim, {new[claim]}, {count(figures[1][claim], 'figure')}"))
        elif claim not in new:
            changes.gone.append((claim, f"a claim, {old[claim]}, {count(figures[0][claim], 'figure')}"))
        elif old[claim] != new[claim]:
            changes.verdicts.append((claim, f"{old[claim]} → {new[claim]}"))


def _verdicts(history: History) -> dict[str, str]:
    rows = history.figures[history.figures["figure"] == ""]
    words = {}
    for claim, verdicts in rows.groupby("claim", observed=True, sort=False)["verdict"]:
        counts = Counter(verdicts.astype(str))
        words[str(claim)] = next(iter(counts)) if len(counts) == 1 else ", ".join(
            f"{verdict} {count} of {len(verdicts)} times" for verdict, count in counts.most_common()
        )  # fmt: skip
    return words


def _compare_figures(before: History, after: History, changes: Changes) -> None:
    claims = [set(_verdicts(history)) for history in (before, after)]
    old, new = _values(before), _values(after)
    old_samples, new_samples = _samples(before), _samples(after)
    tested: dict[Key, float] = {}
    sentences: dict[Key, str] = {}
    for key in _both(old, new):
        if key not in old or key not in new:
            if key[0] in claims[0] and key[0] in claims[1]:
                (changes.gone if key in old else changes.added).append((_name(key), "a figure"))
        elif key in old_samples and key in new_samples:
            tested[key], sentences[key] = _compare_samples(old_samples[key], new_samples[key])
            page = [rows["measured"].iloc[0] for rows in (old[key], new[key])]
            if page[0] != page[1]:
                said = f"at the page's own seed {page[0]} → {page[1]}"
                sentences[key] = "; ".join(filter(None, (sentences[key], said)))
        else:
            _compare_values(key, old[key], new[key], changes)
    moved = holm(tested, LEVEL)
    for key, sentence in sentences.items():
        if sentence:
            (changes.moved if key in moved else changes.within_noise).append((_name(key), sentence))
        else:
            changes.unchanged += 1


def _values(history: History) -> dict[Key, pd.DataFrame]:
    """Return the rows of each figure that was measured."""
    rows = history.figures[(history.figures["figure"] != "") & (history.figures["measured"] != "")]
    return {(str(c), str(f)): group for (c, f), group in rows.groupby(["claim", "figure"], observed=True, sort=False)}


def _samples(history: History) -> dict[Key, pd.DataFrame]:
    rows = history.samples.sort_values("seed", kind="stable").groupby(["claim", "figure"], observed=True, sort=False)
    return {(str(claim), str(figure)): group for (claim, figure), group in rows}


def _compare_values(key: Key, old: pd.DataFrame, new: pd.DataFrame, changes: Changes) -> None:
    texts = [list(dict.fromkeys(rows["measured"])) for rows in (old, new)]
    last = new.iloc[-1]
    if texts[0] == texts[1]:
        changes.unchanged += 1
        return
    first = texts[0][0]
    kind, tolerance, type_ = str(last["kind"]), float(last["tolerance"]), str(last.get("type", ""))
    far = [text for text in texts[1] if beyond(kind, first, text, tolerance, type_)]
    sentence = f"{first} → {(far or [text for text in texts[1] if text != first] or texts[1])[0]}"
    (changes.moved if far else changes.within_noise).append((_name(key), sentence))


def _compare_samples(old: pd.DataFrame, new: pd.DataFrame) -> tuple[float, str]:
    """Return the p-value that both samples come from one distribution, and what changed, empty where nothing did."""
    x, y = (rows["value"].to_numpy(dtype=np.float64) for rows in (old, new))
    if np.array_equal(old["seed"], new["seed"]) and np.array_equal(x, y, equal_nan=True):
        return 1.0, ""
    lost = [int((~np.isfinite(values)).sum()) for values in (x, y)]
    said = [f"{count} of {len(values)} values are NaN or infinite {when}"
            for count, values, when in zip(lost, (x, y), ("before", "now"), strict=True) if count]  # fmt: skip
    x, y = x[np.isfinite(x)], y[np.isfinite(y)]
    p = 0.0
    if len(x) and len(y):
        p = float(stats.ks_2samp(x, y).pvalue) if lost[0] == lost[1] else 0.0
        said.insert(0, f"mean {x.mean():.4g} → {y.mean():.4g}, standard deviation {_sd(x):.3g} → {_sd(y):.3g}"
                       f" (n = {len(x)}, {len(y)}; p = {p:.1g})")  # fmt: skip
    return p, "; ".join(said)


def holm(p_values: Mapping[Key, float], level: float) -> set[Key]:
    """Return the tests that Holm's procedure rejects: the chance that it rejects a true one is at most `level`."""
    rejected: set[Key] = set()
    for place, (key, p) in enumerate(sorted(p_values.items(), key=lambda item: item[1])):
        if p > level / (len(p_values) - place):
            break
        rejected.add(key)
    return rejected


def _compare_platforms(before: pd.DataFrame, after: pd.DataFrame, changes: Changes) -> None:
    old, new = _spreads(before), _spreads(after)
    for key in _both(old, new):
        if old.get(key) != new.get(key):
            words = [_spread(side[key]) if key in side else "none" for side in (old, new)]
            changes.platforms.append((_name(key), " → ".join(words)))


def _spreads(platforms: pd.DataFrame) -> dict[Key, dict[str, float]]:
    groups = platforms.groupby(["claim", "figure"], sort=False)
    return {
        (str(claim), str(figure)): dict(zip(rows["platform"], rows["value"], strict=True))
        for (claim, figure), rows in groups
    }


def _spread(values: Mapping[str, float]) -> str:
    low, high = min(values.values()), max(values.values())
    return f"{high - low:.3g} ({low:.4g} to {high:.4g}, {count(len(values), 'platform')})"


def _both(old: Mapping[T, object], new: Mapping[T, object]) -> list[T]:
    return list(dict.fromkeys([*new, *old]))


def _sd(values: NDArray[np.float64]) -> float:
    return float(values.std(ddof=1)) if len(values) > 1 else 0.0


def _name(key: Key) -> str:
    return "/".join(key)

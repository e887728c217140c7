"""The nights of a figure over seeds as a series: what is tested of them, and what tells one night from another."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from lesson_claims.drift.rank_tests import LEAST_EFFECT, Alarm, Nights, Quantity, first_alarm, tie_breakers

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


class Samples:
    """Each night's finite values of one figure over seeds.

    A seed that was run before adds nothing, unless its value moved by more than drift would ever call an effect.
    """

    def __init__(self, seeds: Sequence[Integers], values: Sequence[Floats], figures: Integers) -> None:
        """Take seeds and values of each night; `figures`, shape (nights,), says over how many the rate is shared."""
        self.nights = len(values)
        self._values: list[Floats] = list(values)
        self._figures = figures
        all_seeds, all_values = (np.concatenate([np.empty(0), *parts]) for parts in (seeds, values))
        self._sizes = np.array([len(part) for part in values], dtype=np.int64)
        ends = np.cumsum(self._sizes)[:-1]
        self._ties = np.split(tie_breakers(all_seeds.astype(np.int64)), ends)
        step = LEAST_EFFECT * np.abs(all_values).mean() if len(all_values) else 0.0
        rounded = np.round(all_values / step) if step else all_values
        codes = np.unique(np.stack([all_seeds, rounded]), axis=1, return_inverse=True)[1].ravel()
        self._codes = np.split(codes, ends)
        self._repeated = bool(len(codes) and len(codes) > codes.max() + 1)

    def scores(self, line: Sequence[int]) -> Nights:
        """Return the scores of some nights, as if there were no others."""
        values, ties = ([parts[night] for night in line] for parts in (self._values, self._ties))
        if self._repeated:
            codes = np.concatenate([self._codes[night] for night in line])
            new = np.zeros(len(codes), dtype=np.bool_)
            new[np.unique(codes, return_index=True)[1]] = True
            kept = np.split(new, np.cumsum(self._sizes[list(line)])[:-1])
            values, ties = ([x[k] for x, k in zip(parts, kept, strict=True)] for parts in (values, ties))
        return Nights.from_samples(values, ties)

    def first_alarm(self, line: Sequence[int], after: int) -> Alarm | None:
        """Return the first alarm later than the night `after`, as `levels.Series` says."""
        place = int(np.searchsorted(line, after, "right"))
        return first_alarm(self.scores(line), self._figures[list(line)], place - 1)

    def features(self, reference: Sequence[int], alarm: Alarm) -> Floats:
        """Return sums of the normal scores among `reference`, of their squares, and of a tail's values."""
        known = np.sort(np.concatenate([self._values[night] for night in reference]))
        x = np.concatenate(self._values)
        rank = (np.searchsorted(known, x, "left") + np.searchsorted(known, x, "right") + 1) / 2
        score = ndtri(rank / (len(known) + 1))
        columns = {Quantity.LEVEL: score, Quantity.SPREAD: score**2}
        if alarm.what in (Quantity.LOW, Quantity.HIGH):
            columns[alarm.what] = (x < alarm.edge if alarm.what is Quantity.LOW else x > alarm.edge).astype(np.float64)
        night = np.repeat(np.arange(self.nights), self._sizes)
        ordered = [columns.pop(alarm.what), *columns.values()]
        sums = [[np.bincount(night, part, self.nights) for part in (np.ones(len(x)), y, y**2)] for y in ordered]
        return np.array(sums, dtype=np.float64)

"""What a check records: a series over seeds."""

from __future__ import annotations

import numpy as np

from lesson_claims.record import Measure, Record
from lesson_claims.registry import Claim, Registry
from lesson_claims.runs.evidence import Sample


def test_a_series_over_seeds_is_its_median_with_the_least_and_the_largest() -> None:
    claim = Claim("course.day1.x", "course", "Day 1", "here", "It is so.", "trained", "holds")
    record = Record(claim, 1)
    measure = Measure(record, Registry({claim.id: claim}, {}))
    samples = [Sample(value, (0, 1, 2), np.array([value, value + 3, value + 1])) for value in (0.5, 10)]
    measure.range_over_seeds("p", [8, 16], np.stack(samples, axis=1), series="s", x_label="length", x_scale="log")
    assert [(row["x"], row["low"], row["y"], row["high"]) for row in record.curves] == [
        (8, 0.5, 1.5, 3.5),
        (16, 10.0, 11.0, 13.0),
    ]
    assert {(row["mark"], row["series"], row["x_label"], row["x_scale"]) for row in record.curves} == {
        ("line", "s", "length", "log")
    }
    assert all(type(row[name]) in (int, float) for row in record.curves for name in ("x", "y", "low", "high"))

"""Sparklines: everything stands where it belongs, and the words say what the picture does."""

import math
import re
from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from lesson_claims.report.sparklines import HEIGHT, MARGIN, TOLD, WIDTH, Night, run_order, sparkline

START = datetime(2026, 1, 1, tzinfo=UTC)


QUIET = ("", "", False)


def moment(place):
    return (START + timedelta(days=place)).isoformat()


def nights(values, band=(None, None), changes=()):
    """Return a night for each value; `changes` maps places to environment, accepted and drifted."""
    changes = dict.fromkeys(range(len(values)), QUIET) | dict(changes)
    return [
        Night(f"r{place:03d}", moment(place), value, *band, *changes[place])
        for place, value in enumerate(values)
        if value is not None
    ]


def drawn(values, band=(None, None), changes=()):
    order = run_order({f"r{place:03d}": moment(place) for place in range(len(values))}, f"r{len(values) - 1:03d}")
    return sparkline(nights(values, band, changes), order)


def test_positions_follow_runs_and_values():
    picture = drawn([0.0, 1.0, 0.5], band=(0.25, 0.75))
    top, bottom = MARGIN, HEIGHT - MARGIN
    assert picture.line == f"M{MARGIN:g} {bottom:g}L{WIDTH / 2:g} {top:g}L{WIDTH - MARGIN:g} {HEIGHT / 2:g}"
    assert picture.last == (WIDTH - MARGIN, HEIGHT / 2)
    left, upper, width, height = picture.band
    assert (left, width) == (MARGIN, WIDTH - 2 * MARGIN)
    assert upper == MARGIN + 0.25 * (bottom - top)
    assert height == 0.5 * (bottom - top)
    assert (picture.left, picture.right) == ("0.0 to 1.0", "since 2026-01-01")


def test_a_run_without_the_figure_breaks_the_line():
    assert drawn([1.0, 2.0, None, 1.0, 2.0]).line.count("M") == 2
    assert drawn([1.0, 2.0, None, 1.0]).line.endswith("h0")
    picture = drawn([1.0, 2.0, None])
    assert picture.last[0] == WIDTH / 2


def test_the_band_begins_with_its_baseline():
    rows = nights([1.0, 2.0, 2.0, 2.0])
    rows[2:] = [night._replace(baseline_low=1.9, baseline_high=2.1) for night in rows[2:]]
    picture = sparkline(rows, run_order({night.run: night.when for night in rows}, rows[-1].run))
    assert picture.band[0] > WIDTH / 2
    assert picture.band[0] + picture.band[2] == WIDTH - MARGIN


def test_changes_are_marked_by_kind():
    changes = {
        1: ("torch 1 → 2", "", False),
        2: ("torch 2 → 3; accepted: drifted", "drifted; but right", True),
        3: ("", "x", False),
        4: ("", "", True),
    }
    picture = drawn([1.0, 2.0, 1.0, 2.0, 1.0], changes=changes)
    places = [MARGIN + place * (WIDTH - 2 * MARGIN) / 4 for place in range(5)]
    assert picture.environment == (places[1], places[2])
    assert picture.accepted == (places[2], places[3])
    assert picture.drifted == (places[2], places[4])
    assert picture.latest == "2026-01-05: drifted"


def test_the_description_says_it_all():
    picture = drawn([0.9, 0.95, 0.91], band=(0.89, 0.93), changes={1: ("torch 1 → 2", "", False)})
    assert picture.description == (
        "3 runs from 2026-01-01 to 2026-01-03: 0.9 to 0.91, between 0.9 and 0.95; baseline 0.89 to 0.93;"
        " 2026-01-02: torch 1 → 2."
    )


def test_machines_that_take_turns_crowd_nothing_out():
    changes = {place: (f"processor {place} → {place + 1}", "", False) for place in range(1, 40)}
    changes[5] = ("", "", True)
    description = drawn([float(place % 2) for place in range(40)], changes=changes).description
    assert "2026-01-06: drifted" in description
    assert description.count("processor") == TOLD - 1
    assert description.endswith(f"; {39 - TOLD} more changes.")


def test_the_newest_run_is_last_whatever_its_clock_says():
    times = {"b": "2026-01-03", "a": "2026-01-02T03:00:00+02:00", "c": "2026-01-01T23:00:00-05:00", "d": "2026-01-01"}
    assert run_order(times, "d") == {"a": 0, "c": 1, "b": 2, "d": 3}


VALUES = st.lists(st.none() | st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=20)


@given(VALUES.filter(lambda values: any(value is not None for value in values)),
       st.none() | st.floats(), st.none() | st.floats(), st.text())  # fmt: skip
def test_everything_stays_in_the_drawing(values, low, high, note):
    picture = drawn(values, (low, high), {0: (note, note, False)})
    numbers = [float(number) for number in re.findall(r"[-\d.e]+", picture.line.replace("h0", ""))]
    assert len(numbers) == 2 * sum(value is not None for value in values)
    for x, y in [*zip(numbers[::2], numbers[1::2], strict=True), picture.last]:
        assert MARGIN <= x <= WIDTH - MARGIN
        assert MARGIN <= y <= HEIGHT - MARGIN
    drawable = all(end is not None and math.isfinite(end) for end in (low, high))
    assert (picture.band is not None) == drawable
    if picture.band:
        x, y, width, height = picture.band
        assert MARGIN <= x <= x + width <= WIDTH - MARGIN
        assert MARGIN <= y <= y + height + 1e-9 <= HEIGHT - MARGIN + 2e-9

"""Progress: what it says, and how it estimates what is left."""

from __future__ import annotations

from pathlib import Path

import pytest

from lesson_claims.plugin.progress import duration, seconds_before, seconds_left, usual_seconds
from lesson_claims.project import read_project
from lesson_claims.registry import load_registry


def test_without_an_earlier_report_the_share_of_the_checks_tells() -> None:
    assert seconds_left(60, done=10, waiting=30, claims_waiting=["a"], before={}) == 180


def test_with_one_the_share_of_the_work_tells() -> None:
    assert seconds_left(60, done=10, waiting=1, claims_waiting=["a"], before={"a": 90.0, "b": 30.0}) == 180


def test_at_the_start_nothing_is_divided_by_nothing() -> None:
    assert seconds_left(30, done=0, waiting=5, claims_waiting=["a"], before={"a": 1.0}) == 150


def test_too_little_done_is_no_estimate():
    """The first minute's quick checks would otherwise promise a day."""
    assert seconds_left(42, done=30, waiting=9, claims_waiting=["a"], before={"a": 1000.0, "b": 1.0}) is None


@pytest.mark.parametrize(("seconds", "said"), [(40, "40 s"), (181, "3 min"), (7500, "2 h 5 min")])
def test_a_duration_is_said_as_a_reader_says_it(seconds: float, said: str) -> None:
    assert duration(seconds) == said


@pytest.mark.parametrize("content", [b"", b"claim,seconds\na,x\n", b"\xff", b"seconds\n1\n"])
def test_an_earlier_report_that_cannot_be_read_is_none(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "claims.csv").write_bytes(content)
    assert seconds_before(tmp_path / "claims.csv") == {}
    assert seconds_before(tmp_path / "absent.csv") == {}


def test_without_a_report_before_what_needs_training_is_taken_for_the_long_part():
    root = Path(__file__).parent.parent
    usual = usual_seconds(load_registry(read_project(root)))
    trained = [claim for claim, seconds in usual.items() if seconds == max(usual.values())]
    assert "week07.day3.three-cells" in trained
    assert "week07.day1.rnn-shapes" not in trained
    last_one_left = seconds_left(600, done=140, waiting=1, claims_waiting=trained[-1:], before=usual)
    assert last_one_left > 600 / 100, "one of few long ones is left, not one of many"

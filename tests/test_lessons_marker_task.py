from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from lessons.marker_task import MARKER, marker_task


@given(seed=st.integers(0, 10**6), rows=st.integers(1, 50), length=st.integers(1, 41), data=st.data())
def test_the_label_says_whether_the_marker_stands_in_the_sequence(
    seed: int, rows: int, length: int, data: st.DataObject
) -> None:
    first = data.draw(st.integers(0, length - 1))
    sequences, labels = marker_task(rows, length, seed, first)
    assert sequences.shape == (rows, length)
    marked = sequences == MARKER
    assert (marked.sum(dim=1) == labels).all()
    assert not marked[:, :first].any()
    assert sequences.min() >= 1


def test_the_marker_stands_anywhere_from_the_first_allowed_place() -> None:
    sequences, _ = marker_task(500, 8, 0, first=3)
    assert (sequences == MARKER).any(dim=0).tolist() == [False] * 3 + [True] * 5

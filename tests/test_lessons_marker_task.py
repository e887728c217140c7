from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from lessons.marker_task import MARKER, marker_task


@given(seed=st.integers(0, 10**6), rows=st.integers(1, 50), length=st.integers(2, 41))
def test_the_label_says_whether_the_marker_stands_in_the_first_half(seed: int, rows: int, length: int) -> None:
    sequences, labels = marker_task(rows, length, seed)
    assert sequences.shape == (rows, length)
    marked = sequences == MARKER
    assert (marked.sum(dim=1) == labels).all()
    assert not marked[:, length // 2 :].any()
    assert sequences.min() >= 1


def test_the_marker_stands_anywhere_in_the_first_half() -> None:
    sequences, _ = marker_task(500, 8, 0)
    assert (sequences == MARKER).any(dim=0).tolist() == [True] * 4 + [False] * 4

"""Over how many seeds claims are decided: what --seeds may say, and the looks that follow from it."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lesson_claims.looks import CAP, FIRST_LOOK, LARGEST, LooksError, looks, read_looks


def test_the_looks_are_two_seeds_apart_and_later_ten():
    assert looks(20) == (6, 8, 10, 12, 14, 16, 18, 20)
    assert looks(45) == (6, 8, 10, 12, 14, 16, 18, 20, 30, 40, 45)
    assert looks(6) == (6,)
    assert looks(7) == (6, 7)


@given(st.integers(FIRST_LOOK, 3000))
def test_looks_grow_from_the_first_to_the_cap(cap):
    numbers = looks(cap)
    assert (numbers[0], numbers[-1]) == (FIRST_LOOK, cap)
    assert all(before < after for before, after in itertools.pairwise(numbers))


@pytest.mark.parametrize(
    ("text", "first", "most", "every_look"),
    [
        ("auto", FIRST_LOOK, CAP, True),
        ("auto:100", FIRST_LOOK, 100, True),
        ("auto:6", 6, 6, True),
        ("1", 1, 1, False),
        ("20", 20, 20, False),
        ("020", 20, 20, False),
    ],
)
def test_what_seeds_may_say(text, first, most, every_look):
    read = read_looks(text)
    assert (read.first, read.most, read.every_look) == (first, most, every_look)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        *(
            (text, "neither a number")
            for text in ("x", "", " ", "auto:", "auto: 9", "AUTO", "-1", "1.5", "٥", "5 ", "1e2")
        ),
        ("0", "at least one seed"),
        ("auto:3", "at least 6 seeds; give auto:6 or more"),
        ("auto:0", "at least 6 seeds"),
        (str(LARGEST + 1), "too many for a session"),
        (f"auto:{LARGEST + 1}", "too many for a session"),
        ("9" * 18, "too many"),
        ("9" * 5000, "neither a number"),
    ],
)
def test_what_else_it_says_is_one_line(text, said):
    with pytest.raises(LooksError) as caught:
        read_looks(text)
    message = str(caught.value)
    assert said in message
    assert message.startswith(f"--seeds {text}")
    assert "\n" not in message

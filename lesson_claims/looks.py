"""Over how many seeds claims are decided: a fixed number, or more and more until each is decided."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import count, takewhile

FIRST_LOOK = 6
"""The fewest seeds: six of one mind decide, where most claims on record hold."""

CAP = 20
"""The most seeds by default."""

LARGEST = 100_000
"""More seeds than any session can run; a number above is a slip."""

AUTO = "auto"


class LooksError(ValueError):
    """A number of seeds cannot be used; one line says what is wrong and what may stand there."""


@dataclass(frozen=True)
class Looks:
    """At which numbers of seeds a claim is looked at.

    Attributes:
        numbers: increasing; a single one is fixed beforehand.
        every_look: whether seeds are added until a claim is decided.
    """

    numbers: tuple[int, ...]
    every_look: bool

    @property
    def first(self) -> int:
        """The number of seeds that every claim gets."""
        return self.numbers[0]

    @property
    def most(self) -> int:
        """The number of seeds that no claim exceeds."""
        return self.numbers[-1]


def looks(cap: int) -> tuple[int, ...]:
    """Return the numbers of seeds at which a claim is looked at: 6, 8, 10, … 20, then 30, 40, … up to `cap`.

    Two by two at first, so that two processes have something to do between two looks.
    """
    numbers = (FIRST_LOOK + 2 * step if step <= 7 else 20 + 10 * (step - 7) for step in count())
    return (*takewhile(lambda number: number < cap, numbers), cap)


def read_looks(text: str) -> Looks:
    """Read what stands after --seeds: `auto`, `auto:CAP` or a number.

    Raises:
        LooksError: if it is none of them.
    """
    found = re.fullmatch(r"auto(?::(\d{1,18}))?|(\d{1,18})", text, re.ASCII)
    if found is None:
        raise LooksError(
            f"--seeds {text}: neither a number, such as 20, nor auto, nor auto:CAP, such as auto:100, where CAP is the"
            " most seeds"
        )
    cap, fixed = found.groups()
    if int(cap or fixed or 0) > LARGEST:
        raise LooksError(f"--seeds {text}: more than {LARGEST} seeds are too many for a session; give fewer")
    if fixed is not None:
        if int(fixed) < 1:
            raise LooksError(f"--seeds {fixed}: at least one seed is needed; auto takes as many as each claim needs")
        return Looks((int(fixed),), every_look=False)
    if cap is not None and int(cap) < FIRST_LOOK:
        raise LooksError(f"--seeds {text}: a claim gets at least {FIRST_LOOK} seeds; give auto:{FIRST_LOOK} or more")
    return Looks(looks(int(cap) if cap is not None else CAP), every_look=True)

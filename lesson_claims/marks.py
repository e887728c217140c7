"""How a check says which claim it checks.

    @claim("course.day1.exactly-balanced")
    @refuted
    def test_exactly_balanced(measure, decide): ...

A check's name starts with `test_` and the last part of its claim's id (and goes on with `__corrected` for the
corrected sibling), so that the check for a sentence of the page is found by searching for its id or its name.
"""

from __future__ import annotations

import pytest

refuted = pytest.mark.refuted
"""This check asserts what the page says, and the evidence on record refutes it: it is expected to fail, strictly, and
with `ClaimRefuted` alone."""

depends_on_seed = pytest.mark.depends_on_seed
"""This check is on record as undecided, because what it asserts depends on the seed or on the machine: it is expected
to end inconclusive, and red as soon as it is decided either way."""


def claim(claim_id: str) -> pytest.MarkDecorator:
    """Mark a check as one of a claim's; `claim_id` must be a literal, because it is read from the source too."""
    return pytest.mark.claim(claim_id)

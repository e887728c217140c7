"""The level that a verdict must reach: from the registry alone."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lesson_claims.decisions import LEVEL
from lesson_claims.error_rates import levels
from lesson_claims.registry import Claim, Registry
from lesson_claims.traceability import Check


def registry(records):
    claims = [Claim(f"c.{n}", "c", "", "here", "So.", "ordering", expect) for n, expect in enumerate(records)]
    return Registry({claim.id: claim for claim in claims}, {})


def checks(registry, statistical=True):
    return [Check(f"t::{name}", 1, name, False, False, True, statistical, False, ()) for name in registry.claims]


records = st.lists(st.sampled_from(["holds", "refuted", "depends", "open"]), min_size=1, max_size=60)


@given(records)
def test_at_most_one_in_twenty_of_the_verdicts_on_record_is_expected_to_be_false(expected):
    known = registry(expected)
    found = levels(known, checks(known), every_look=False)
    assert found.holds * len(expected) == pytest.approx(LEVEL * max(expected.count("holds"), 1))
    assert found.refuted * len(expected) == pytest.approx(LEVEL * max(expected.count("refuted"), 1))
    assert max(found.holds, found.refuted) <= LEVEL + 1e-15


def test_undecided_claims_are_counted_and_facts_are_not():
    known = registry(["holds"] * 8 + ["refuted"] * 2)
    more = registry(["holds"] * 8 + ["refuted"] * 2 + ["open"] * 50)
    before, after = (levels(each, checks(each), every_look=True) for each in (known, more))
    assert (before.holds, before.refuted, before.every_look) == (pytest.approx(0.04), pytest.approx(0.01), True)
    assert (after.holds, after.refuted) == (pytest.approx(0.05 * 8 / 60), pytest.approx(0.05 * 2 / 60))
    facts = [*checks(known), *checks(more, statistical=False)[10:]]
    assert levels(more, facts, every_look=True) == before


def test_a_claim_with_several_checks_is_one_claim():
    known = registry(["holds", "open"])
    assert levels(known, checks(known) * 3, every_look=False) == levels(known, checks(known), every_look=False)


def test_a_registry_without_statistics_has_the_level_of_a_single_test():
    known = registry(["holds"] * 3)
    found = levels(known, checks(known, statistical=False), every_look=False)
    assert (found.holds, found.refuted) == (LEVEL, LEVEL)

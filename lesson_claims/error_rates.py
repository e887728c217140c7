"""The level that a verdict must reach, from the registry alone: how many claims there are, not which of them ran.

With m claims decided by statistics, k of which are on record with a verdict, that verdict must reach the level
0.05·k/m. So at most 0.05·k false ones are expected of each kind, false holds and false refutations apart, and a claim
is decided alike alone, in a part of a run and in the whole.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from lesson_claims.decisions import LEVEL, Levels
from lesson_claims.registry import Registry
from lesson_claims.traceability import Check


def levels(registry: Registry, checks: Iterable[Check], *, every_look: bool) -> Levels:
    """Return the levels of the claims of a registry.

    Args:
        registry: what is on record for each claim.
        checks: all checks there are.
        every_look: whether seeds are added until a claim is decided.
    """
    statistical = {check.claim for check in checks if check.statistical}
    on_record = Counter(registry.claims[claim].expect for claim in statistical)
    count = max(len(statistical), 1)
    return Levels(
        holds=LEVEL * max(on_record["holds"], 1) / count,
        refuted=LEVEL * max(on_record["refuted"], 1) / count,
        every_look=every_look,
    )

"""A pytest plugin that switches off the sharing of work between workers, to measure what it gives.

    pytest -n auto -p studies.without_sharing

Workers still find each other's runs in the store. They make no runs ahead and none that another one asks for: a worker
that would wait waits.
"""

from lesson_claims.runs.device import Device
from lesson_claims.runs.store import RunStore


def _nothing(self: RunStore, device: Device) -> bool:
    """Make no run."""
    return False


RunStore.make_ahead = _nothing  # type: ignore[method-assign]
RunStore.make_for_others = _nothing  # type: ignore[method-assign]

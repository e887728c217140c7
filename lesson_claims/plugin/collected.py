"""What came back of a session's checks, wherever they ran."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from lesson_claims.recorded import Wins


@dataclass
class Result:
    """What came back of one parametrised check.

    `wins` are the wins and the seeds of its weakest test over seeds; `contradicted` says that it contradicts what is on
    record for its claim.
    """

    node: str
    verdict: str
    seconds: float = 0.0
    nodes: int = 1
    measurements: list[dict[str, Any]] = field(default_factory=list)
    decisions: list[dict[str, Any]] = field(default_factory=list)
    curves: list[dict[str, Any]] = field(default_factory=list)
    settings: list[dict[str, str]] = field(default_factory=list)
    reason: str = ""
    wins: Wins | None = None
    contradicted: bool = False


@dataclass
class Collected:
    """What a controller knows of its session.

    Attributes:
        nodes: the checks that were to run.
        results: what came back, by node.
        environment: where the numbers were measured.
        killed: whether a worker was lost.
        stated: what the pages state of their runs, as rows of the table of settings that nobody has measured.
        problems: a line for each thing that went wrong.
        started: when, UTC.
        clock: the same, in seconds of a clock that never goes back.
    """

    nodes: set[str] = field(default_factory=set)
    results: dict[str, Result] = field(default_factory=dict)
    environment: dict[str, str | int] = field(default_factory=dict)
    killed: bool = False
    stated: list[dict[str, str]] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    started: datetime = field(default_factory=lambda: datetime.now(UTC))
    clock: float = field(default_factory=time.perf_counter)

    @property
    def lost(self) -> list[str]:
        """The checks that were to run and never came back."""
        return sorted(self.nodes - set(self.results))

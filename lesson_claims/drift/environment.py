"""What else changed between two runs: libraries, machine, commit."""

from typing import Any

import pandas as pd

LEFT_OUT = ("numerics", "workers")
"""Not named as changes: a digest of the others, and the number of processes, which moves no number."""


def changes(before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    """Name what differs between two environments, as `torch 2.12.0 → 2.13.0`."""
    names = [name for name in dict.fromkeys([*before, *after]) if name not in LEFT_OUT]
    return [
        f"{name} {before.get(name, 'none')} → {after.get(name, 'none')}"
        for name in names
        if before.get(name) != after.get(name)
    ]


def cause(before: "pd.Series[Any]", after: "pd.Series[Any]") -> str:
    """Say what changed from one row of `History.runs` to another, between which a number moved; not that it is why."""
    parts = changes(before["environment"], after["environment"])
    if before["commit"] != after["commit"]:
        parts.append(f"commit {str(before['commit'])[:10]} → {str(after['commit'])[:10]}")
    elif after["dirty"]:
        parts.append("files that differ from the commit")
    return f"coincides with {', '.join(parts)}" if parts else "neither the environment nor the commit changed"

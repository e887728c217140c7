"""The pages of a run, made from its tables alone."""

from pathlib import Path


def build(path: str | Path) -> None:
    """Write the pages of the run in directory `path`."""

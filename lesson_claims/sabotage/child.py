"""One trial in a process of its own: pytest in a copy of the project, with nothing of the project itself."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path

RESULTS, LOG, STATUS = "results.json", "log.txt", "status.json"
"""What a trial leaves in its folder: what its checks decided, what pytest printed, and how it ended."""


def run(folder: str, copy: str, root: str, own: Sequence[str], arguments: Sequence[str]) -> None:
    """Run pytest and leave three files.

    Args:
        folder: for the files.
        copy: of the project.
        root: of the project that was copied.
        own: its folders of code and claims, of which nothing may be imported here.
        arguments: of pytest.
    """
    os.setpgid(0, 0)  # so that all that it starts can be ended with it
    log = os.open(Path(folder, LOG), os.O_WRONLY | os.O_CREAT, 0o600)
    os.dup2(log, 1)
    os.dup2(log, 2)
    os.chdir(copy)
    sys.path[:] = [copy, *(_moved(entry, root, copy) for entry in sys.path)]
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (copy, os.environ.get("PYTHONPATH"))))
    import pytest

    status = int(pytest.main(list(arguments)))
    Path(folder, STATUS).write_text(json.dumps({"exit": status, "stray": _stray(own)}), encoding="utf-8")
    sys.stdout.flush()
    os._exit(0)  # what the libraries would do on the way out is of no use


def _moved(entry: str, root: str, copy: str) -> str:
    """Return the place in the copy of a folder of the project; any other as it is."""
    path = Path(entry).absolute()
    return str(Path(copy, path.relative_to(root))) if entry and path.is_relative_to(root) else entry


def _stray(own: Sequence[str]) -> str:
    """Return the name of a module that was imported from the project itself, and so without the sabotage."""
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None)
        if file and any(Path(file).is_relative_to(folder) for folder in own):
            return name
    return ""

"""The device of a session: the processor, or one that torch knows. Torch is imported for those alone."""

from __future__ import annotations

import importlib.util
import re
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch

INSTALL_TORCH = "pip install 'lesson-claims[torch]'"

NAMES = "auto, cpu, cuda, cuda:K or mps"


class DeviceError(ValueError):
    """The device that was asked for is unknown or not there; one line says which and what to do."""


@dataclass(frozen=True)
class Device:
    """A device by torch's name for it, such as "cpu" or "cuda:0"."""

    name: str

    @property
    def type(self) -> str:
        """The kind of device: "cpu", "cuda" or "mps"."""
        return self.name.partition(":")[0]

    def torch(self) -> torch.device:
        """Return it as torch has it.

        Raises:
            DeviceError: if torch is not installed.
        """
        device: torch.device = _torch("a recipe takes a device").device(self.name)
        return device

    def __str__(self) -> str:
        return self.name


CPU = Device("cpu")


def resolve_device(name: str) -> Device:
    """Return the device for `auto`, `cpu`, `cuda`, `cuda:K` or `mps`.

    `auto` is a GPU where torch is in use, in this process, and finds one; else the processor.

    Raises:
        DeviceError: if the name is none of these, or the device is not there.
    """
    if name == "auto":
        torch = sys.modules.get("torch")
        name = "cuda" if torch is not None and torch.cuda.is_available() else "cpu"
    found = re.fullmatch(r"(cpu|cuda|mps)(?::(\d{1,4}))?", name)
    if found is None or (found[2] is not None and found[1] != "cuda"):
        raise DeviceError(f"--device {name}: unknown; use {NAMES}")
    if found[1] == "cpu":
        return CPU
    torch = _torch(f"--device {name}")
    if found[1] == "cuda":
        count = torch.cuda.device_count() if torch.cuda.is_available() else 0
        if int(found[2] or 0) >= count:
            raise DeviceError(f"--device {name}: not there; this machine has {count} CUDA devices; use --device cpu")
        return Device(f"cuda:{int(found[2] or 0)}")
    if not torch.backends.mps.is_available():
        raise DeviceError(f"--device {name}: not there; use --device cpu")
    return Device("mps")


def torch_is_installed() -> bool:
    """Say whether torch could be imported."""
    return sys.modules.get("torch") is not None or importlib.util.find_spec("torch") is not None


def _torch(why: str) -> Any:
    """Return the module torch, which may not be there."""
    try:
        import torch
    except ImportError as error:
        raise DeviceError(f"{why}, and torch is not installed: {INSTALL_TORCH}") from error
    return torch

"""What a trained number depends on beside its recipe and its seed: libraries, instruction sets, device, threads."""

from __future__ import annotations

import hashlib
import json
import os
import platform
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import torch
from torch.backends import cudnn

INSTRUCTION_SETS = (
    "ATEN_CPU_CAPABILITY",
    "MKL_ENABLE_INSTRUCTIONS",
    "ONEDNN_MAX_CPU_ISA",
    "DNNL_MAX_CPU_ISA",
    "MKL_CBWR",
    "OPENBLAS_CORETYPE",
)
"""Environment variables that limit the instructions that the numerical libraries may use."""

RUN_THREADS = 1
"""Threads within one operation of a training run. It is part of the numerics, so it may not depend on how many
workers there are; and models as small as these gain nothing from a second thread."""


class DeviceError(ValueError):
    """The device that was asked for is unknown or not there; one line says which and what to do."""


def resolve_device(name: str) -> torch.device:
    """Return the device for `auto`, `cpu`, `cuda`, `cuda:K` or `mps`.

    Raises:
        DeviceError: if the name is none of these, or the device is not there.
    """
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    try:
        device = torch.device(name)
    except RuntimeError:
        device = None
    if device is None or device.type not in ("cpu", "cuda", "mps") or (device.type == "cpu" and device.index):
        raise DeviceError(f"--device {name}: unknown; use auto, cpu, cuda, cuda:K or mps")
    if device.type == "cuda":
        count = torch.cuda.device_count() if torch.cuda.is_available() else 0
        if (device.index or 0) >= count:
            raise DeviceError(f"--device {name}: not there; this machine has {count} CUDA devices; use --device cpu")
        device = torch.device("cuda", device.index or 0)
    if device.type == "mps" and not torch.backends.mps.is_available():
        raise DeviceError(f"--device {name}: not there; use --device cpu")
    return device


@contextmanager
def run_numerics() -> Iterator[None]:
    """Make a training run independent of its surroundings: a fixed number of threads, the generators put back."""
    threads = torch.get_num_threads()
    devices = range(torch.cuda.device_count()) if torch.cuda.is_available() else []
    torch.set_num_threads(int(os.environ.get("LESSON_CLAIMS_RUN_THREADS", RUN_THREADS)))
    try:
        with torch.random.fork_rng(devices):
            yield
    finally:
        torch.set_num_threads(threads)


def numerics(device: torch.device) -> dict[str, str]:
    """Describe everything outside the code that may move a trained number by a bit."""
    described = {
        "torch": torch.__version__,
        "numpy": _version("numpy"),
        "machine": platform.machine(),
        "processor": processor(),
        "cpu capability": torch.backends.cpu.get_cpu_capability(),
        "threads": os.environ.get("LESSON_CLAIMS_RUN_THREADS", str(RUN_THREADS)),
        "device": device.type,
        **{name: os.environ[name] for name in INSTRUCTION_SETS if name in os.environ},
    }
    if device.type == "cuda":
        described |= {
            "device name": torch.cuda.get_device_name(device),
            "cuda": str(torch.version.cuda),
            "cudnn": str(cudnn.version()),  # type: ignore[no-untyped-call]
        }
    return described


def fingerprint(described: dict[str, str]) -> str:
    """Return 16 hexadecimal digits that stand for a description of the numerics."""
    return hashlib.sha256(json.dumps(described, sort_keys=True).encode()).hexdigest()[:16]


def environment(device: torch.device) -> dict[str, str | int]:
    """Describe where the numbers of a report come from, for its readers."""
    described = numerics(device)
    blas = next(
        (part.strip() for part in torch.__config__.show().split("\n") if "Math Kernel Library" in part),
        "unknown",
    )
    return {
        "python": platform.python_version(),
        **{name: _version(name) for name in ("torch", "numpy", "pandas", "scikit-learn", "scipy", "pytest")},
        "platform": platform.platform(),
        "processor": described["processor"],
        "cpu capability": described["cpu capability"],
        "blas": blas.removeprefix("- "),
        "threads": int(described["threads"]),
        "device": described["device"],
        "device name": described.get("device name", described["processor"]),
        "numerics": fingerprint(described),
        **{name: described[name] for name in INSTRUCTION_SETS if name in described},
    }


@cache
def processor() -> str:
    """Return the processor's model name, as the system tells it."""
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    except OSError:
        pass  # not Linux
    return platform.processor() or "unknown"


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "unknown"

"""What a trained number depends on beside its recipe and its seed: libraries, instruction sets, device, threads."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import random
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from lesson_claims.runs.device import Device

INSTRUCTION_SETS = (
    "ATEN_CPU_CAPABILITY",
    "MKL_ENABLE_INSTRUCTIONS",
    "ONEDNN_MAX_CPU_ISA",
    "DNNL_MAX_CPU_ISA",
    "MKL_CBWR",
    "OPENBLAS_CORETYPE",
    "NPY_DISABLE_CPU_FEATURES",
)
"""Environment variables that limit the instructions that the numerical libraries may use."""

RUN_THREADS = 1
"""Threads within one operation of a run. It is part of the numerics, so it may not depend on how many workers there
are; and models as small as these gain nothing from a second thread."""

THREADS_VARIABLE = "LESSON_CLAIMS_RUN_THREADS"


def run_threads() -> int:
    """Return how many threads one operation of a run may use."""
    return int(os.environ.get(THREADS_VARIABLE, RUN_THREADS))


@contextmanager
def run_numerics() -> Iterator[None]:
    """Make a run independent of its surroundings: a fixed number of threads, the global generators put back after it.

    Torch's are among them where torch is loaded.
    """
    kept, kept_numpy = random.getstate(), np.random.get_state()  # noqa: NPY002  libraries draw from the global one
    try:
        with (
            threadpool_limits(run_threads(), user_api="blas"),
            _torch_numerics() if "torch" in sys.modules else nullcontext(),
        ):
            yield
    finally:
        random.setstate(kept)
        np.random.set_state(kept_numpy)  # noqa: NPY002


@contextmanager
def _torch_numerics() -> Iterator[None]:
    import torch

    threads = torch.get_num_threads()
    devices = range(torch.cuda.device_count()) if torch.cuda.is_available() else []
    torch.set_num_threads(run_threads())
    try:
        with torch.random.fork_rng(devices):
            yield
    finally:
        torch.set_num_threads(threads)


def numerics(device: Device, libraries: Mapping[str, str]) -> dict[str, str]:
    """Describe everything outside the project's code that may move a run's numbers by a bit.

    Args:
        device: where it runs.
        libraries: versions of the packages that the code reaches, by name.
    """
    described = {
        **libraries,
        "machine": platform.machine(),
        "processor": processor(),
        "threads": str(run_threads()),
        "device": device.type,
        **{name: os.environ[name] for name in INSTRUCTION_SETS if name in os.environ},
    }
    if "torch" in libraries:
        described |= {"numpy": np.__version__, **_of_torch(device)}
    else:
        described["cpu capability"] = _of_numpy()["SIMD Extensions"]
    return described


def _of_torch(device: Device) -> dict[str, str]:
    import torch
    from torch.backends import cudnn

    described = {"torch": torch.__version__, "cpu capability": torch.backends.cpu.get_cpu_capability()}
    if device.type == "cuda":
        described |= {
            "device name": torch.cuda.get_device_name(device.torch()),
            "cuda": str(torch.version.cuda),
            "cudnn": str(cudnn.version()),  # type: ignore[no-untyped-call]
        }
    return described


@cache
def _of_numpy() -> dict[str, str]:
    """Return the instruction sets that NumPy uses, and its linear algebra library."""
    config: dict[str, Any] = np.show_config(mode="dicts") or {}  # type: ignore[assignment]
    blas = config.get("Build Dependencies", {}).get("blas", {})
    return {
        "SIMD Extensions": " ".join(config.get("SIMD Extensions", {}).get("found", [])) or "baseline",
        "blas": " ".join(filter(None, (blas.get("name"), blas.get("version")))) or "unknown",
    }


def fingerprint(described: dict[str, str]) -> str:
    """Return 16 hexadecimal digits that stand for a description of the numerics."""
    return hashlib.sha256(json.dumps(described, sort_keys=True).encode()).hexdigest()[:16]


def environment(device: Device) -> dict[str, str | int]:
    """Describe where the numbers of a report come from, for its readers; torch counts where it is loaded."""
    torch = sys.modules.get("torch")
    loaded = ("torch", "numpy") if torch is not None else ("numpy",)
    described = numerics(device, {name: _version(name) for name in loaded})
    packages = ("torch", "numpy", "pandas", "scikit-learn", "scipy", "pytest")
    return {
        "python": platform.python_version(),
        **{name: found for name in packages if (found := _version(name)) != "unknown"},
        "platform": platform.platform(),
        "processor": described["processor"],
        "cpu capability": described["cpu capability"],
        "blas": _of_numpy()["blas"] if torch is None else _mkl(torch.__config__.show()),
        "threads": int(described["threads"]),
        "device": described["device"],
        "device name": described.get("device name", described["processor"]),
        "numerics": fingerprint(described),
        **{name: described[name] for name in INSTRUCTION_SETS if name in described},
    }


def _mkl(config: str) -> str:
    lines = (line.strip() for line in config.split("\n") if "Math Kernel Library" in line)
    return next(lines, "unknown").removeprefix("- ")


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

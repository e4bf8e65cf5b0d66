"""The machine a benchmark runs on, and its speed of matrix products."""

from __future__ import annotations

import platform
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import torch

from ssdpt.version import __version__

_REPEATS = 5


def describe(device: torch.device) -> dict[str, Any]:
    """Date, versions and processors."""
    facts = {
        "date": datetime.now(UTC).date().isoformat(),
        "ssdpt": __version__,
        "torch": torch.__version__,
        "cpu": _cpu_name(),
        "threads": torch.get_num_threads(),
    }
    if device.type == "cuda":
        facts["gpu"] = torch.cuda.get_device_name(device)
    return facts


def matrix_peak(device: torch.device) -> float:
    """FLOP/s of the best of five large matrix products: bfloat16 on a GPU, float32 on a CPU."""
    on_gpu = device.type == "cuda"
    size = 8192 if on_gpu else 2048
    kind = torch.bfloat16 if on_gpu else torch.float32
    a, b = (torch.randn(size, size, device=device, dtype=kind) for _ in range(2))
    return 2.0 * size**3 / best_seconds(lambda: a @ b, device)


def best_seconds(
    work: Callable[[], object], device: torch.device, repeats: int = _REPEATS
) -> float:
    """Seconds of the fastest of several runs, after one warm-up run."""
    work()
    return min(seconds(work, device) for _ in range(repeats))


def seconds(work: Callable[[], object], device: torch.device) -> float:
    """Seconds that `work` takes, including work queued on the device."""
    wait(device)
    begun = time.perf_counter()
    work()
    wait(device)
    return time.perf_counter() - begun


def wait(device: torch.device) -> None:
    """Wait until the device has finished all queued work."""
    if device.type == "cuda":
        torch.cuda.synchronize(device)


def _cpu_name() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text("utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()

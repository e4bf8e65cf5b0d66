"""Processor, memory, disk, GPU, compiler and microphones of this computer."""

from __future__ import annotations

import importlib.util
import os
import platform
import shutil
from pathlib import Path

from ssdpt.doctor.finding import Finding
from ssdpt.errors import SsdptError

_GIGABYTE = 1e9
_LITTLE_MEMORY = 2.0  # GB; a fit of the default model on 300 clips needs less than this
_LITTLE_DISK = 2.0  # GB; an install with torch and a month of six machines need about this


def hardware(folder: Path) -> list[Finding]:
    """All of it; `folder` is where there should be free space."""
    return [processor(), memory(), disk(folder), gpu(), compiler(), microphone()]


def processor() -> Finding:
    """How many cores there are."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return Finding("processor", "ready", f"{cores} cores, {platform.machine()}")


def memory() -> Finding:
    """How much memory the computer has."""
    try:
        size = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / _GIGABYTE
    except (AttributeError, ValueError, OSError):
        return Finding("memory", "ready", "its size cannot be asked for on this system")
    if size < _LITTLE_MEMORY:
        return Finding(
            "memory",
            "faulty",
            f"{size:.1f} GB is little",
            "fit on a larger computer and score an exported model here: ssdpt export --help",
        )
    return Finding("memory", "ready", f"{size:.0f} GB")


def disk(folder: Path) -> Finding:
    """How much space is free where the person works."""
    free = shutil.disk_usage(folder).free / _GIGABYTE
    if free < _LITTLE_DISK:
        return Finding("disk", "faulty", f"{free:.1f} GB free in this folder", "free some space")
    return Finding("disk", "ready", f"{free:.0f} GB free in this folder")


def gpu() -> Finding:
    """A graphics card that networks can be trained on."""
    use = "trains networks; the default model needs none"
    if importlib.util.find_spec("torch") is None:
        return Finding("GPU", "missing", f"cannot be told without the extra train; {use}")
    import torch

    if torch.cuda.is_available():
        return Finding("GPU", "ready", torch.cuda.get_device_name())
    if torch.version.cuda is None:
        return Finding(
            "GPU",
            "missing",
            f"this torch is built for the CPU; {use}",
            "with an NVIDIA card: install torch for CUDA as its install page says",
        )
    return Finding("GPU", "missing", f"no card that torch can use; {use}")


def compiler() -> Finding:
    """The C compiler, which makes networks several times faster on a CPU."""
    use = "networks are slower on a CPU without it; scores are the same"
    if importlib.util.find_spec("torch") is None:
        return Finding("C compiler", "missing", "only the extra train would use it")
    from ssdpt.nn.native import is_native

    if is_native():
        return Finding("C compiler", "ready", "compiles the networks for this processor")
    if os.environ.get("SSDPT_NATIVE") == "0":
        return Finding("C compiler", "missing", f"switched off by SSDPT_NATIVE=0; {use}")
    if shutil.which("cc") is None and shutil.which("gcc") is None:
        return Finding("C compiler", "missing", use, "Debian, Ubuntu: sudo apt install gcc")
    return Finding("C compiler", "missing", f"what it makes does not run here; {use}")


def microphone() -> Finding:
    """Microphones that can be recorded from."""
    if importlib.util.find_spec("sounddevice") is None:
        return Finding(
            "microphone",
            "missing",
            "cannot be told without the extra live",
            "pip install 'ssdpt[live]'",
        )
    from ssdpt.monitor.sources.microphones import microphones

    try:
        found = microphones()
    except SsdptError as error:
        return Finding("microphone", "faulty", str(error))
    if not found:
        return Finding(
            "microphone",
            "missing",
            "none is connected",
            "connect one, or use another source of sound: ssdpt help sources",
        )
    return Finding("microphone", "ready", ", ".join(one.name for one in found))

"""What a process uses of the computer, from /proc."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

_TICKS = os.sysconf("SC_CLK_TCK")
_PAGE = os.sysconf("SC_PAGE_SIZE")


@dataclass(frozen=True, slots=True)
class Usage:
    """Of one process, now."""

    cpu_seconds: float  # since its start, user and system
    memory_mb: float  # resident
    files: int  # open file handles
    threads: int


def usage_of(pid: int) -> Usage:
    """OSError where there is no such process any more."""
    process = Path(f"/proc/{pid}")
    # The name of the process, in brackets, may hold spaces.
    fields = (process / "stat").read_text("utf-8").rpartition(")")[2].split()
    pages = int((process / "statm").read_text("ascii").split()[1])
    return Usage(
        cpu_seconds=(int(fields[11]) + int(fields[12])) / _TICKS,
        memory_mb=pages * _PAGE / 2**20,
        files=len(list((process / "fd").iterdir())),
        threads=int(fields[17]),
    )

"""Threads: workers on which torch uses no further ones, and matrix routines on a single one."""

from __future__ import annotations

import os
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from functools import cache
from typing import Any

# torch builds networks from its one common generator: two threads at once would share its numbers.
BUILDING = threading.RLock()


def cores() -> int:
    """As many as torch may use, where it is loaded; else all of this process."""
    if torch := sys.modules.get("torch"):
        return int(torch.get_num_threads())
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def workers(count: int, name: str) -> ThreadPoolExecutor:
    """A pool of `count` such threads."""
    pool = ThreadPoolExecutor(count, name)
    torch = sys.modules.get("torch")
    if torch is None:
        return pool
    before = torch.get_num_threads()
    everyone = threading.Barrier(count)

    def begin() -> None:
        torch.set_num_threads(1)
        torch.get_num_threads()  # torch looks up the common number at a thread's first question
        everyone.wait()

    for started in [pool.submit(begin) for _ in range(count)]:
        started.result()
    # The number is that of the calling thread, but it is also what threads begun later take over.
    torch.set_num_threads(before)
    return pool


class _SingleBlasThread:
    """Limits numpy's matrix routines to one thread while at least one user is inside."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._inside = 0
        self._limits: AbstractContextManager[Any] = nullcontext()

    def __enter__(self) -> None:
        with self._lock:
            self._inside += 1
            if self._inside == 1:
                self._limits = _limits()
                self._limits.__enter__()

    def __exit__(self, *error: object) -> None:
        with self._lock:
            self._inside -= 1
            if self._inside == 0:
                self._limits.__exit__(None, None, None)


# Matrices of a few hundred rows take longer on several threads, which wait for each other: on a
# busy computer ten times as long.
SINGLE_BLAS_THREAD = _SingleBlasThread()


@cache
def _controller() -> Any:
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def _limits() -> AbstractContextManager[Any]:
    try:
        limits: AbstractContextManager[Any] = _controller().limit(limits=1, user_api="blas")
    except ImportError:  # it comes with what fits models; without it scores take a little longer
        return nullcontext()
    return limits

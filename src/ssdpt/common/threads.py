"""Threads: workers on which torch uses no further ones, and matrix routines on a single one."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

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


@contextmanager
def single_blas_thread() -> Iterator[None]:
    """Inside, numpy's matrix routines use one thread.

    Matrices of a few hundred rows take longer on several, which wait for each other, above all on a
    busy computer.
    """
    from threadpoolctl import threadpool_limits

    with threadpool_limits(limits=1, user_api="blas"):
        yield

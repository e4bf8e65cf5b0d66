"""Worker threads on which torch, where it is loaded, uses no further threads of its own."""

from __future__ import annotations

import os
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

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

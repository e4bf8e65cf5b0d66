"""Several trainings in parallel on one GPU, each in a thread with its own CUDA stream."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from typing import TypeVar

import torch

from ssdpt.common.progress import Relay, Reporter, Task
from ssdpt.training.loop import choose_device

_JOBS_ON_GPU = 4  # more bring no gain: the GPU is fully used

Item = TypeVar("Item")
Result = TypeVar("Result")


def parallel_jobs(device: str) -> int:
    """The number of trainings that are faster in parallel than one after the other."""
    return _JOBS_ON_GPU if choose_device(device).type == "cuda" else 1


def run_parallel(
    work: Callable[[Item, Reporter], Result],
    items: Sequence[Item],
    jobs: int,
    reporter: Reporter,
) -> list[Result]:
    """The results of `work` for all items in their order, running `jobs` at a time.

    If one fails or the user interrupts, the others stop at their next progress report.
    """
    results = dict(run_as_completed(work, items, jobs, reporter))
    return [results[index] for index in range(len(items))]


def run_as_completed(
    work: Callable[[Item, Reporter], Result],
    items: Sequence[Item],
    jobs: int,
    reporter: Reporter,
) -> Iterator[tuple[int, Result]]:
    """Like `run_parallel`, but yields the index and result of each item as it completes."""
    if min(jobs, len(items)) <= 1:
        for index, item in enumerate(items):
            yield index, work(item, reporter)
        return
    stopping = threading.Event()
    stoppable = _Stoppable(reporter, stopping)
    threads = torch.get_num_threads()
    local = threading.local()

    def begin() -> None:
        torch.set_num_threads(threads)  # a parallel training may have changed it temporarily
        local.stream = torch.cuda.Stream() if torch.cuda.is_available() else None  # type: ignore[no-untyped-call]

    def run(item: Item) -> Result:
        with torch.cuda.stream(local.stream):  # does nothing without a GPU
            return work(item, stoppable)

    with ThreadPoolExecutor(jobs, "ssdpt-fit", begin) as pool:
        futures = {pool.submit(run, item): index for index, item in enumerate(items)}
        try:
            for future in as_completed(futures):
                yield futures[future], future.result()
        except BaseException:
            stopping.set()
            for future in futures:
                future.cancel()
            raise


class _Stopped(BaseException):
    """Ends a training because another one has failed; never reaches the caller."""


class _Stoppable(Relay):
    """Forwards everything until it is time to stop."""

    def __init__(self, reporter: Reporter, stopping: threading.Event) -> None:
        super().__init__(reporter)
        self._stopping = stopping

    @contextlib.contextmanager
    def task(self, description: str, total: float | None = None) -> Iterator[Task]:
        with super().task(description, total) as task:
            yield _StoppableTask(task, self._stopping)


class _StoppableTask(Task):
    def __init__(self, task: Task, stopping: threading.Event) -> None:
        self._task, self._stopping = task, stopping

    def advance(self, steps: float = 1, note: str = "") -> None:
        if self._stopping.is_set():
            raise _Stopped
        self._task.advance(steps, note)

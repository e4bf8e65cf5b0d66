"""Several trainings at once on one GPU, each in a thread with a queue of its own."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from typing import TypeVar

import torch

from ssdpt.common.progress import Relay, Reporter, Task
from ssdpt.training.loop import choose_device

_ON_A_GPU = 4  # more gain nothing: the chip is full

Item = TypeVar("Item")
Result = TypeVar("Result")


def at_once(device: str) -> int:
    """How many trainings together are faster than one after the other."""
    return _ON_A_GPU if choose_device(device).type == "cuda" else 1


def together(
    work: Callable[[Item, Reporter], Result],
    items: Sequence[Item],
    jobs: int,
    reporter: Reporter,
) -> list[Result]:
    """`work` of every item, `jobs` of them at a time, in the order of the items.

    When one fails or the user interrupts, the others stop at their next sign of progress.
    """
    found = dict(as_they_finish(work, items, jobs, reporter))
    return [found[index] for index in range(len(items))]


def as_they_finish(
    work: Callable[[Item, Reporter], Result],
    items: Sequence[Item],
    jobs: int,
    reporter: Reporter,
) -> Iterator[tuple[int, Result]]:
    """The same as it comes: the number of an item, and what its work gave."""
    if min(jobs, len(items)) <= 1:
        for index, item in enumerate(items):
            yield index, work(item, reporter)
        return
    stopping = threading.Event()
    listener = _Stoppable(reporter, stopping)
    threads = torch.get_num_threads()
    own = threading.local()

    def begin() -> None:
        torch.set_num_threads(threads)  # not what a neighbour has set for a while
        own.queue = torch.cuda.Stream() if torch.cuda.is_available() else None  # type: ignore[no-untyped-call]

    def run(item: Item) -> Result:
        with torch.cuda.stream(own.queue):  # does nothing where there is no GPU
            return work(item, listener)

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
    """Ends a training whose neighbour has failed; nobody sees it."""


class _Stoppable(Relay):
    """Passes everything on until it is time to stop."""

    def __init__(self, listener: Reporter, stopping: threading.Event) -> None:
        super().__init__(listener)
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

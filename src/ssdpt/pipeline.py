"""Many recordings, judged on every core.

Every core takes a clip of its own from the file to the score, so that decoding, features and
network of different clips overlap. Where a device wants several clips at once, the cores make
log-mels ahead of it. Needs no torch.
"""

from __future__ import annotations

import os
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import islice

from ssdpt.data import audio
from ssdpt.errors import SsdptError
from ssdpt.judging import Heard, Judge
from ssdpt.types import Recording, Score

LONG_SECONDS = 120.0  # a longer recording waits for its turn, and then has all cores
AHEAD = 32  # clips under way at a time, at least: two batches of a GPU
_FRAMES_AT_ONCE = 5000  # log-mel frames of a batch: 16 clips of ten seconds

JudgeFor = Callable[[Recording], Judge]
_Outcome = Score | Heard | SsdptError | None
_Queue = deque[tuple[Recording, Future[_Outcome]]]


def score_all(
    recordings: Iterable[Recording], judge_for: JudgeFor, *, strict: bool = False
) -> Iterator[tuple[Recording, Score | SsdptError]]:
    """The score of every recording, in order, or why there is none.

    An SsdptError of `judge_for` is that of its recording; one of `recordings` itself comes after
    the scores of all that it gave before. However many there are, only some are in memory.
    """

    def ahead_of_time(recording: Recording) -> _Outcome:
        """On a thread of its own; None for one that is too long for it."""
        try:
            judge = judge_for(recording)
            if audio.probe(recording.path).seconds > LONG_SECONDS:
                return None
            return judge.score_ahead(recording.path, section=recording.section, strict=strict)
        except SsdptError as error:
            return error

    def in_turn(recording: Recording) -> Score | SsdptError:
        try:
            return judge_for(recording).score(
                recording.path, section=recording.section, strict=strict
            )
        except SsdptError as error:
            return error

    cores = _cores()
    pool = _pool(cores)
    waiting = iter(recordings)
    queue: _Queue = deque()
    end: SsdptError | None = None
    try:
        while True:
            try:
                for recording in islice(waiting, max(AHEAD, 2 * cores) - len(queue)):
                    queue.append((recording, pool.submit(ahead_of_time, recording)))
            except SsdptError as error:
                waiting, end = iter(()), error
            if not queue:
                break
            recording, future = queue.popleft()
            outcome = future.result()
            if outcome is None:
                yield recording, in_turn(recording)
            elif isinstance(outcome, Heard):
                batch = [(recording, outcome), *_companions(queue, recording, outcome, judge_for)]
                scores = judge_for(recording).score_heard([heard for _, heard in batch])
                for (member, _), score in zip(batch, scores, strict=True):
                    yield member, score
            else:
                yield recording, outcome
    finally:
        # Whoever interrupts does not wait for clips that nobody asks for any more.
        pool.shutdown(wait=False, cancel_futures=True)
    if end is not None:
        raise end


def _companions(
    queue: _Queue, first: Recording, heard: Heard, judge_for: JudgeFor
) -> Iterator[tuple[Recording, Heard]]:
    """The clips after the first that the same judge takes with it; they leave the queue."""
    judge, frames = judge_for(first), len(heard.frames)
    while queue and frames < _FRAMES_AT_ONCE:
        recording, future = queue[0]
        outcome = future.result()
        if not isinstance(outcome, Heard) or judge_for(recording) is not judge:
            return
        queue.popleft()
        frames += len(outcome.frames)
        yield recording, outcome


def _cores() -> int:
    """As many as torch may use, where it is there; else all of this process."""
    if torch := sys.modules.get("torch"):
        return int(torch.get_num_threads())
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _pool(workers: int) -> ThreadPoolExecutor:
    """Threads on which torch, where it is there, uses no further ones."""
    pool = ThreadPoolExecutor(workers, "ssdpt-clip")
    if torch := sys.modules.get("torch"):
        everyone = threading.Barrier(workers)

        def begin() -> None:
            torch.set_num_threads(1)
            torch.get_num_threads()  # torch looks up the common number at the first question
            everyone.wait()

        before = torch.get_num_threads()
        for started in [pool.submit(begin) for _ in range(workers)]:
            started.result()
        # What a thread sets is also what threads begun later take over.
        torch.set_num_threads(before)
    return pool

"""Many recordings, judged on every core.

Every core takes a clip of its own from the file to the score, so that decoding, features and
network of different clips overlap. Where a device wants several clips at once, the cores make
log-mels ahead of it. Needs no torch.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from itertools import islice

from ssdpt.common.threads import cores, workers
from ssdpt.data import audio
from ssdpt.detection.scorer import PendingClip, Scorer
from ssdpt.errors import SsdptError
from ssdpt.types import Recording, Score

LONG_SECONDS = 120.0  # a longer recording waits for its turn, and then has all cores
AHEAD = 32  # clips under way at a time, at least: two batches of a GPU
_FRAMES_AT_ONCE = 5000  # log-mel frames of a batch: 16 clips of ten seconds

ScorerFor = Callable[[Recording], Scorer]
_Result = Score | SsdptError
_Outcome = Score | PendingClip | SsdptError | None
_Queue = deque[tuple[Recording, Future[_Outcome]]]


def score_all(
    recordings: Iterable[Recording], judge_for: ScorerFor, *, strict: bool = False
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

    at_once = max(AHEAD, 2 * cores())
    pool = workers(cores(), "ssdpt-clip")
    waiting = iter(recordings)
    queue: _Queue = deque()
    end: SsdptError | None = None
    # The first clip waits to see whether there is a second: a lone one has all cores to itself.
    held: Recording | None = None
    try:
        held = next(waiting, None)
        while True:
            try:
                room = at_once - len(queue) - (held is not None)
                for recording in islice(waiting, room):
                    if held is not None:
                        queue.append((held, pool.submit(ahead_of_time, held)))
                        held = None
                    queue.append((recording, pool.submit(ahead_of_time, recording)))
            except SsdptError as error:
                waiting, end = iter(()), error
            if held is not None:
                yield held, in_turn(held)
                held = None
            if not queue:
                break
            recording, future = queue.popleft()
            outcome = future.result()
            if outcome is None:
                yield recording, in_turn(recording)
            elif isinstance(outcome, PendingClip):
                batch = [(recording, outcome), *_companions(queue, recording, outcome, judge_for)]
                yield from _judged(batch, judge_for(recording), in_turn)
            else:
                yield recording, outcome
    finally:
        # Whoever interrupts does not wait for clips that nobody asks for any more.
        pool.shutdown(wait=False, cancel_futures=True)
    if end is not None:
        raise end


def _judged(
    batch: list[tuple[Recording, PendingClip]],
    judge: Scorer,
    in_turn: Callable[[Recording], _Result],
) -> Iterator[tuple[Recording, _Result]]:
    """Clips that were heard ahead, together; where that fails, each on its own."""
    try:
        scores = judge.score_pending([heard for _, heard in batch])
    except SsdptError:
        for member, _ in batch:
            yield member, in_turn(member)
        return
    for (member, _), score in zip(batch, scores, strict=True):
        yield member, score


def _companions(
    queue: _Queue, first: Recording, heard: PendingClip, judge_for: ScorerFor
) -> Iterator[tuple[Recording, PendingClip]]:
    """The clips after the first that the same judge takes with it; they leave the queue."""
    judge, frames = judge_for(first), len(heard.frames)
    while queue and frames < _FRAMES_AT_ONCE:
        recording, future = queue[0]
        outcome = future.result()
        if not isinstance(outcome, PendingClip) or judge_for(recording) is not judge:
            return
        queue.popleft()
        frames += len(outcome.frames)
        yield recording, outcome

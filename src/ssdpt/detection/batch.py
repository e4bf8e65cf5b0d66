"""Many recordings, scored on every core.

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
from ssdpt.data.audio import open_audio
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
    recordings: Iterable[Recording], scorer_for: ScorerFor, *, strict: bool = False
) -> Iterator[tuple[Recording, Score | SsdptError]]:
    """The score of every recording, in order, or why there is none.

    An SsdptError of `scorer_for` is that of its recording; one of `recordings` itself comes after
    the scores of all that it gave before. However many there are, only some are in memory.
    """

    def ahead_of_time(recording: Recording) -> _Outcome:
        """On a thread of its own; None for one that is too long for it."""
        try:
            scorer = scorer_for(recording)
            with open_audio(recording) as reader:
                if reader.info.seconds > LONG_SECONDS:
                    return None
                return scorer.start_scoring(recording, reader, strict=strict)
        except SsdptError as error:
            return error

    def in_turn(recording: Recording) -> Score | SsdptError:
        try:
            return scorer_for(recording).score(recording, strict=strict)
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
                free = at_once - len(queue) - (held is not None)
                for recording in islice(waiting, free):
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
                batch = [(recording, outcome), *_companions(queue, recording, outcome, scorer_for)]
                yield from _scored(batch, scorer_for(recording), in_turn)
            else:
                yield recording, outcome
    finally:
        # After an interruption, clips whose scores are not wanted any more are not waited for.
        pool.shutdown(wait=False, cancel_futures=True)
    if end is not None:
        raise end


def _scored(
    batch: list[tuple[Recording, PendingClip]],
    scorer: Scorer,
    in_turn: Callable[[Recording], _Result],
) -> Iterator[tuple[Recording, _Result]]:
    """The clips whose frames are there, together; where that fails, each on its own."""
    try:
        scores = scorer.score_pending([pending for _, pending in batch])
    except SsdptError:
        for recording, _ in batch:
            yield recording, in_turn(recording)
        return
    for (recording, _), score in zip(batch, scores, strict=True):
        yield recording, score


def _companions(
    queue: _Queue, first: Recording, pending: PendingClip, scorer_for: ScorerFor
) -> Iterator[tuple[Recording, PendingClip]]:
    """The clips after the first that the same scorer takes with it; they leave the queue."""
    scorer, frames = scorer_for(first), len(pending.frames)
    while queue and frames < _FRAMES_AT_ONCE:
        recording, future = queue[0]
        outcome = future.result()
        if not isinstance(outcome, PendingClip) or scorer_for(recording) is not scorer:
            return
        queue.popleft()
        frames += len(outcome.frames)
        yield recording, outcome

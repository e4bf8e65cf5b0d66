"""One model that scores all machines that share it, a little at a time.

A live score is that of the last clip's length of sound. A model that averages over segments is
given those that are new, of all machines in one batch, and the mean goes over the last clip; one
that scores whole clips is given the last clip. Where time is short, a cursor asks for a part of the
new segments only, the latest: the mean then goes over fewer. The model may be fitted or exported,
on any device: only the contract of `ssdpt.detection.frame_scorer` is used.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from ssdpt.detection.scorer import Scorer
from ssdpt.errors import SsdptError
from ssdpt.monitor.capture.frame_window import FrameWindow
from ssdpt.scoring.aggregate import ClipScore
from ssdpt.scoring.section_score import score_known_or_best_section
from ssdpt.sentences import Sentence
from ssdpt.types import Floats

_Segment = tuple[int, float, dict[str, float]]
_EDGE_FRAMES = 10  # that may be missing at the end of a clip: a third of a second


@dataclass(frozen=True, slots=True)
class LiveScore:
    """The score of the last clip's length of sound."""

    value: float
    parts: dict[str, float]
    frame: int  # number after the last frame that it rests on


@dataclass(slots=True)
class ScoringCursor:
    """How far one machine's frames have been scored."""

    section: str
    every: int = 1  # of the new segments, one in so many is scored
    gaps: int = -1
    next_frame: int = 0  # of which the next new segment begins
    first: int | None = None  # number of the first segment since the last gap
    # (number, score, parts) of the segments of the last clip
    segments: deque[_Segment] = field(default_factory=deque)
    score: LiveScore | None = None  # their mean, once they make a clip

    def clear(self) -> None:
        """What follows does not belong to what was scored before."""
        self.first = self.score = None
        self.segments.clear()


class LiveModel:
    """A detector, for machines whose sound comes as a stream."""

    def __init__(self, detector: Scorer) -> None:
        self.detector = detector
        self.scorer = detector.frame_scorer
        self.clip_frames = self.scorer.clip_frames
        self.segment = self.scorer.segment_frames
        self.hop = self.scorer.hop  # None: it is given the whole clip
        self.segments_a_clip = 0 if self.hop is None else self._segments(self.clip_frames)
        # That make a clip: of a recording of its length the last frames come only with the next.
        self.fewest_segments = (
            0 if self.hop is None else max(1, self._segments(self.clip_frames - _EDGE_FRAMES))
        )

    def _segments(self, frames: int) -> int:
        assert self.hop is not None
        return (frames - self.segment) // self.hop + 1

    @property
    def digest(self) -> str:
        """Which model it is."""
        return self.detector.digest

    @property
    def clip_seconds(self) -> float:
        return self.clip_frames * self.detector.frame_seconds

    def score(self, asked: Sequence[tuple[FrameWindow, ScoringCursor]]) -> list[LiveScore | None]:
        """The score of every machine now; None where there is too little sound since a gap.

        Where no segment is new, the score is the one before. SsdptError where a score is not a
        number: it would count as normal for ever.
        """
        takes = [self._take(window, cursor) for window, cursor in asked]
        scores = [cursor.score for _, cursor in asked]
        ready = [number for number, (frames, _) in enumerate(takes) if len(frames)]
        section_scores = self.scorer.score_frames([takes[number][0] for number in ready])
        for number, score_as in zip(ready, section_scores, strict=True):
            cursor, end = asked[number][1], takes[number][1]
            clip, _ = score_known_or_best_section(score_as, self.scorer.sections, cursor.section)
            if self.hop is None:
                scores[number] = LiveScore(clip.value, dict(clip.parts), end)
            else:
                scores[number] = cursor.score = self._score_of_segments(clip, cursor, end)
        if any(score is not None and not math.isfinite(score.value) for score in scores):
            raise SsdptError(Sentence("service.scoresNotFinite", machine=self.detector.machine))
        return scores

    def _score_of_segments(
        self, new: ClipScore, cursor: ScoringCursor, end: int
    ) -> LiveScore | None:
        """The mean over the last clip, of which `new` are the latest segments."""
        names = list(new.timeline.parts)
        values = new.timeline.value.tolist()
        columns = [new.timeline.parts[name].tolist() for name in names]
        assert self.hop is not None
        last = (end - self.segment) // self.hop  # number of the last segment
        numbers = range(last - len(values) + 1, last + 1)
        for number, value, *parts in zip(numbers, values, *columns, strict=True):
            cursor.segments.append((number, value, dict(zip(names, parts, strict=True))))
        while cursor.segments[0][0] <= last - self.segments_a_clip:
            cursor.segments.popleft()
        assert cursor.first is not None
        whole = last - cursor.first + 1 >= self.fewest_segments
        return _mean(cursor.segments, end) if whole else None

    def _take(self, window: FrameWindow, cursor: ScoringCursor) -> tuple[Floats, int]:
        """The frames to score now, maybe none, and the number after the last of them."""
        if cursor.gaps != window.gaps:
            cursor.gaps, cursor.next_frame = window.gaps, 0
            cursor.clear()
        none = np.zeros((0, 1), np.float32)
        if self.hop is None:
            frames, first = window.since(window.count - self.clip_frames)
            whole = len(frames) >= self.clip_frames - _EDGE_FRAMES
            # More may have come since it was counted.
            return (frames[-self.clip_frames :], first + len(frames)) if whole else (none, 0)
        ready = (window.count - cursor.next_frame - self.segment) // self.hop + 1
        if ready <= 0:
            return none, 0
        # After more than a clip's length without scoring, the oldest segments are skipped.
        number = cursor.next_frame // self.hop  # of the first new segment
        if cursor.first is None:
            cursor.first = number + max(ready - self.segments_a_clip, 0)
        wanted = (number + ready) // cursor.every - number // cursor.every
        wanted = min(wanted, self.segments_a_clip)
        cursor.next_frame += ready * self.hop
        if not wanted:
            return none, 0
        end = cursor.next_frame - self.hop + self.segment
        start = cursor.next_frame - wanted * self.hop
        frames, first = window.since(start, end)
        if first != start:  # they were written over meanwhile
            cursor.clear()
            return none, 0
        return frames, end


def _mean(segments: deque[_Segment], frame: int) -> LiveScore:
    names = segments[0][2]
    return LiveScore(
        value=float(np.mean([value for _, value, _ in segments])),
        parts={name: float(np.mean([parts[name] for _, _, parts in segments])) for name in names},
        frame=frame,
    )

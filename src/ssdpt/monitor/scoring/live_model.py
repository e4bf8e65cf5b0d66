"""One fitted model that listens to all machines that share it, a little at a time.

A live score is that of the last clip's length of sound. A system that judges segments is given
those that are new, of all machines in one batch, and the mean goes over the last clip; one that
judges whole clips is given the last clip.
"""

from __future__ import annotations

import hashlib
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from ssdpt.config.tree import hop_of
from ssdpt.detection.detector import Detector
from ssdpt.monitor.capture.frame_window import FrameWindow
from ssdpt.scoring.section_score import score_by_rule
from ssdpt.types import Floats

_EDGE_FRAMES = 10  # that may be missing at the end of a clip: a third of a second


@dataclass(slots=True)
class ScoringCursor:
    """How far one machine's frames have been judged."""

    section: str
    gaps: int = -1
    next_frame: int = 0  # of which the next new segment begins
    # (score, parts) of the segments of the last clip
    segments: deque[tuple[float, dict[str, float]]] = field(default_factory=deque)


@dataclass(frozen=True, slots=True)
class LiveScore:
    """The score of the last clip's length of sound."""

    value: float
    parts: dict[str, float]
    frame: int  # number after the last frame that it rests on


class LiveModel:
    """A detector, for machines that are heard as they come."""

    def __init__(self, detector: Detector) -> None:
        self.detector = detector
        system = detector.system
        self.clip_frames = round(detector.audio_settings.clip_seconds / detector.frame_seconds)
        hop = hop_of(detector.config)
        self.segment = system.segment_frames
        by_segments = system.score_is_segment_mean and self.segment < self.clip_frames
        self.hop = hop if by_segments else None  # None: it is given the whole clip
        self.segments_a_clip = 0 if self.hop is None else self._segments(self.clip_frames)
        # That make a clip: of a recording of its length the last frames come only with the next.
        self.fewest_segments = (
            0 if self.hop is None else max(1, self._segments(self.clip_frames - _EDGE_FRAMES))
        )

    def _segments(self, frames: int) -> int:
        assert self.hop is not None
        return (frames - self.segment) // self.hop + 1

    @cached_property
    def digest(self) -> str:
        """Which model it is: by what it has heard, how it was made, and how it scores."""
        detector = self.detector
        parts = [
            *sorted(detector.fingerprint),
            detector.stored.version,
            detector.config.model_dump_json(),
            repr(detector.calibration.pooled),
        ]
        return hashlib.blake2b("".join(parts).encode(), digest_size=16).hexdigest()

    @property
    def clip_seconds(self) -> float:
        return self.clip_frames * self.detector.frame_seconds

    def score(self, asked: Sequence[tuple[FrameWindow, ScoringCursor]]) -> list[LiveScore | None]:
        """The score of every machine now; None where too little is heard since the last gap."""
        takes = [self._take(window, place) for window, place in asked]
        found: list[LiveScore | None] = [None] * len(asked)
        some = [number for number, (frames, _) in enumerate(takes) if len(frames)]
        heard = self.detector.system.score_many([takes[number][0] for number in some])
        for number, score_as in zip(some, heard, strict=True):
            place = asked[number][1]
            sections = self.detector.sections
            clip, _ = score_by_rule(score_as, sections, place.section)
            end = takes[number][1]
            if self.hop is None:
                found[number] = LiveScore(clip.value, dict(clip.parts), end)
                continue
            names = list(clip.timeline.parts)
            columns = zip(
                clip.timeline.value.tolist(),
                *(clip.timeline.parts[name].tolist() for name in names),
                strict=True,
            )
            for value, *parts in columns:
                place.segments.append((value, dict(zip(names, parts, strict=True))))
            while len(place.segments) > self.segments_a_clip:
                place.segments.popleft()
            if len(place.segments) >= self.fewest_segments:
                found[number] = _mean(place.segments, end)
        return found

    def _take(self, window: FrameWindow, place: ScoringCursor) -> tuple[Floats, int]:
        """The frames to judge now, maybe none, and the number after the last of them."""
        if place.gaps != window.gaps:
            place.gaps, place.next_frame = window.gaps, 0
            place.segments.clear()
        none = np.zeros((0, 1), np.float32)
        if self.hop is None:
            frames, first = window.since(window.count - self.clip_frames)
            whole = len(frames) >= self.clip_frames - _EDGE_FRAMES
            # More may have come since it was counted.
            return (frames[-self.clip_frames :], first + len(frames)) if whole else (none, 0)
        ready = (window.count - place.next_frame - self.segment) // self.hop + 1
        if ready <= 0:
            return none, 0
        # Where there was no time to judge for longer than a clip, the oldest segments are skipped.
        skipped = max(ready - self.segments_a_clip, 0)
        start = place.next_frame + skipped * self.hop
        end = start + (ready - skipped - 1) * self.hop + self.segment
        frames, first = window.since(start, end)
        place.next_frame += ready * self.hop
        if first != start:  # they were written over meanwhile
            place.segments.clear()
            return none, 0
        return frames, end


def _mean(segments: deque[tuple[float, dict[str, float]]], frame: int) -> LiveScore:
    names = segments[0][1]
    return LiveScore(
        value=float(np.mean([value for value, _ in segments])),
        parts={name: float(np.mean([parts[name] for _, parts in segments])) for name in names},
        frame=frame,
    )

"""Collects clips of normal sound from a live machine."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ssdpt.alarms.speed_and_load import SpeedAndLoad
from ssdpt.monitor.capture.capture import AudioCapture
from ssdpt.types import Floats

CLIP_SECONDS = 10.0
FEWEST_CLIPS = 6  # a minute; a model of less alarms at everything
MOST_CLIPS = 360  # an hour; from longer times clips are taken at intervals, to bound memory
_TOLERANCE = 0.1  # seconds by which a clip may be shorter: recordings are cut by other clocks


@dataclass(slots=True)
class BaselineCollector:
    """Clips spread over the requested time, only while the machine runs."""

    wanted: int  # clips
    every: float  # seconds from one clip to the next
    clips: list[Floats] = field(default_factory=list)  # (samples,) each
    operations: list[SpeedAndLoad] = field(default_factory=list)  # of each clip
    _next: float | None = None  # time of the next clip
    _running_since: float = 0.0

    @classmethod
    def for_minutes(cls, minutes: float) -> BaselineCollector:
        """Clips from so many minutes of running."""
        wanted = min(max(FEWEST_CLIPS, round(60 * minutes / CLIP_SECONDS)), MOST_CLIPS)
        return cls(wanted, max(CLIP_SECONDS, 60 * minutes / MOST_CLIPS))

    def update(
        self,
        capture: AudioCapture,
        now: float,
        *,
        running: bool,
        operation: SpeedAndLoad | None = None,
    ) -> bool:
        """Take the clip that is complete by `now`, if any; whether there are enough.

        `operation`: speed and load of the machine.
        """
        if not running:
            self._next = None  # a machine that stops ends its clip
        elif self._next is None or now < self._next - self.every:
            # It has started, or the clock was set back; the second just over counts.
            self._next, self._running_since = now, now - 1.0
        # A clip spans neither a stop nor a gap, which is filled with silence.
        begin = max(self._running_since, capture.begun)
        shortest = CLIP_SECONDS - _TOLERANCE
        if self._next is not None and now >= self._next and now - begin >= shortest:
            samples, _ = capture.samples.between(now - CLIP_SECONDS, now)
            if len(samples) >= shortest * capture.rate:
                self.clips.append(np.array(samples))
                self.operations.append(operation or SpeedAndLoad())
                self._next = now + self.every
        return len(self.clips) >= self.wanted

    @property
    def seconds(self) -> float:
        """Of running so far."""
        return len(self.clips) * self.every

    @property
    def target_seconds(self) -> float:
        return self.wanted * self.every

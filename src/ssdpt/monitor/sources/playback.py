"""Playing sound at a chosen speed, as if it were live."""

from __future__ import annotations

import threading

from ssdpt.monitor.sources.chunk import Chunk
from ssdpt.monitor.sources.clock import SYSTEM, Clock
from ssdpt.types import Floats

_MAX_DELAY = 1.0  # seconds behind that are caught up; beyond that, playback goes on later


class PlaybackTimer:
    """Gives samples their times by counting them, and waits until they would have been recorded."""

    def __init__(self, rate: int, speed: float = 1.0, clock: Clock = SYSTEM) -> None:
        """`rate` in Hz; `speed` relative to real time."""
        self._rate = rate
        self._speed = speed
        self._clock = clock
        self._start = clock.wall()
        self._due = clock.steady()
        self._count = 0

    def chunk(self, samples: Floats, stop: threading.Event) -> Chunk:
        """Wait until the last of `samples` is due (or `stop`), and give them their time."""
        begin = self._start + self._count / self._rate
        self._count += len(samples)
        self._due += len(samples) / self._rate / self._speed
        early = self._due - self._clock.steady()
        if early > 0:
            self._clock.wait(stop, early)
        elif early < -_MAX_DELAY:
            # The computer cannot keep up: play slower now instead of faster later.
            self._due = self._clock.steady()
        return Chunk(samples, begin)

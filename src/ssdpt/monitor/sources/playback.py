"""Playing sound at a chosen speed, as if it were live."""

from __future__ import annotations

import threading
from collections.abc import Callable

from ssdpt.monitor.sources.chunk import Chunk
from ssdpt.monitor.sources.clock import SYSTEM, Clock
from ssdpt.types import Floats

_MAX_DELAY = 1.0  # seconds behind that are caught up; beyond that, playback goes on later


class PlaybackClock(Clock):
    """The computer's clocks, for playback that begins while the service runs.

    At a speed above that of real time the times of what is played run ahead of the computer's. What
    begins later goes on from there, or the time of its machine would jump back.
    """

    def __init__(self, played_until: Callable[[], float]) -> None:
        """`played_until`: the time, in seconds since 1970, that the others have reached by now."""
        self._played_until = played_until
        self._opened_at = played_until()

    def wall(self) -> float:
        return max(super().wall(), self._opened_at, self._played_until())


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

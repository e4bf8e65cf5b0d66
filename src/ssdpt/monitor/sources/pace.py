"""Playing at a pace: chunks come when they would if their sound were made just now."""

from __future__ import annotations

import threading

from ssdpt.monitor.sources.chunk import Chunk
from ssdpt.monitor.sources.clock import SYSTEM, Clock
from ssdpt.types import Floats

_LATEST = 1.0  # seconds behind that are caught up; more is let go


class Pace:
    """Times by counting samples from the start; the waiting is `speed` times shorter."""

    def __init__(self, rate: int, speed: float = 1.0, clock: Clock = SYSTEM) -> None:
        self._rate = rate
        self._speed = speed
        self._clock = clock
        self._start = clock.wall()
        self._due = clock.steady()
        self._count = 0

    def chunk(self, samples: Floats, stop: threading.Event) -> Chunk:
        """Wait until the samples are over (or `stop`), and give them their time."""
        begin = self._start + self._count / self._rate
        self._count += len(samples)
        self._due += len(samples) / self._rate / self._speed
        early = self._due - self._clock.steady()
        if early > 0:
            self._clock.wait(stop, early)
        elif early < -_LATEST:
            # The computer cannot keep up: it runs slower instead of rushing later on.
            self._due = self._clock.steady()
        return Chunk(samples, begin)

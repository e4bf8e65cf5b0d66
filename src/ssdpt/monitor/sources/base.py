"""What every source of live sound has in common."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from ssdpt.errors import SsdptError
from ssdpt.monitor.sources.chunk import Chunk
from ssdpt.monitor.sources.clock import SYSTEM, Clock

CHUNK_SECONDS = 0.25


@dataclass(frozen=True, slots=True)
class SourceStatus:
    """How a source is doing."""

    connected: bool
    words: str  # for people
    since: float  # seconds since 1970: connected, or not, since then
    rate_in: int = 0  # Hz, of what comes in; 0 = not known yet
    channels_in: int = 0
    reconnects: int = 0
    gaps: int = 0
    drift_ppm: float = 0.0  # above 0: the source's clock is fast against this computer's
    speed: float = 1.0  # times real time, of what is played; else times are the computer's


class SourceLost(Exception):
    """The connection broke, or none came about; trying again may heal it. Says why, in words."""


class Source(ABC):
    """Sound as it comes: mono chunks at one rate, with the time of their first sample."""

    def __init__(self, rate: int, channel: int, clock: Clock = SYSTEM) -> None:
        """`rate` in Hz is that of the chunks; `channel` of what comes in counts from 0."""
        self.rate = rate
        self.channel = channel
        self.clock = clock
        self._status = SourceStatus(False, "not started", clock.wall())

    @abstractmethod
    def chunks(self, stop: threading.Event) -> Iterator[Chunk]:
        """Chunks of about 0.25 s and at most 1 s until `stop`; waits for them, on your thread.

        Ends by itself only where there is nothing more to come. Raises SsdptError for what no
        waiting can heal.
        """

    def once(self, stop: threading.Event) -> Iterator[Chunk]:
        """As `chunks`, but raises SourceLost where that one would try again."""
        return self.chunks(stop)

    @property
    def status(self) -> SourceStatus:
        """How it is doing; may be asked from any thread."""
        return self._status

    def _tell(self, *, connected: bool | None = None, **changes: Any) -> None:
        """Change the status; replaced as a whole, so that readers never see half of it."""
        if connected is not None and connected != self._status.connected:
            changes |= {"connected": connected, "since": self.clock.wall()}
        self._status = replace(self._status, **changes)

    def _count(self, chunk: Chunk) -> Chunk:
        if chunk.gap > 0:
            self._tell(gaps=self._status.gaps + 1)
        return chunk


def check_channel(name: str, channel: int, channels: int) -> None:
    """Refuse a channel that is not there."""
    if channel >= channels:
        raise SsdptError(
            f"{name}: there is no channel {channel}; it has "
            f"{'1 channel' if channels == 1 else f'{channels} channels'}, counted from 0: "
            f"choose one from 0 to {channels - 1}"
        )

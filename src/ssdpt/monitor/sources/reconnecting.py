"""Sources that may go away and come back by themselves."""

from __future__ import annotations

import threading
from abc import abstractmethod
from collections.abc import Iterator

from ssdpt.common.backoff import Backoff
from ssdpt.errors import SsdptError
from ssdpt.monitor.sources.base import Source, SourceLost
from ssdpt.monitor.sources.chunk import Chunk
from ssdpt.monitor.sources.clock import SYSTEM, Clock, SampleClock

_LASTING = 10.0  # seconds of sound after which a connection counts as a good one


class ReconnectingSource(Source):
    """Tries again, each time after a longer wait; what it misses is told as a gap."""

    def __init__(
        self, rate: int, channel: int, clock: Clock = SYSTEM, backoff: Backoff | None = None
    ) -> None:
        super().__init__(rate, channel, clock)
        self._times = SampleClock(rate, clock)
        self._backoff = backoff or Backoff()
        self._ever = False

    @abstractmethod
    def once(self, stop: threading.Event) -> Iterator[Chunk]:
        """The chunks of one connection; raises SourceLost when it breaks."""

    def chunks(self, stop: threading.Event) -> Iterator[Chunk]:
        while not stop.is_set():
            heard = 0.0
            try:
                for chunk in self.once(stop):
                    heard += len(chunk.samples) / self.rate
                    if heard >= _LASTING:
                        self._backoff.reset()
                    self._tell(drift_ppm=self._times.drift_ppm)
                    yield self._count(chunk)
                    if stop.is_set():
                        break
            except SsdptError as error:
                self._tell(connected=False, words=str(error))
                raise
            except SourceLost as lost:
                wait = next(self._backoff)
                self._tell(connected=False, words=f"{lost}; trying again in {wait:.1f} s")
                self.clock.wait(stop, wait)
        self._tell(connected=False, words="stopped")

    def _connected(self, words: str, rate_in: int, channels_in: int) -> None:
        """Tell that sound comes, and count the times it came back."""
        reconnects = self.status.reconnects + (1 if self._ever else 0)
        self._ever = True
        self._tell(
            connected=True,
            words=words,
            rate_in=rate_in,
            channels_in=channels_in,
            reconnects=reconnects,
        )

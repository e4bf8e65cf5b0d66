"""Sources that lose their connection and reconnect by themselves."""

from __future__ import annotations

import threading
from abc import abstractmethod
from collections.abc import Iterator

from ssdpt.common.backoff import Backoff
from ssdpt.errors import SsdptError
from ssdpt.monitor.config import SourceSettings
from ssdpt.monitor.sources.base import Source, SourceLost
from ssdpt.monitor.sources.chunk import Chunk
from ssdpt.monitor.sources.clock import SYSTEM, Clock, SampleClock
from ssdpt.sentences import Sentence, said

_STABLE = 10.0  # seconds of sound after which a connection counts as stable


class ReconnectingSource(Source):
    """Reconnects after waits that grow; the sound missed meanwhile is reported as a gap."""

    def __init__(
        self,
        settings: SourceSettings,
        rate: int,
        clock: Clock = SYSTEM,
        backoff: Backoff | None = None,
    ) -> None:
        super().__init__(settings, rate, clock)
        self._times = SampleClock(rate, clock)
        self._backoff = backoff or Backoff()
        self._was_connected = False

    @abstractmethod
    def chunks_once(self, stop: threading.Event) -> Iterator[Chunk]:
        """The chunks of one connection; raises SourceLost when it breaks."""

    def chunks(self, stop: threading.Event) -> Iterator[Chunk]:
        while not stop.is_set():
            seconds = 0.0
            try:
                for chunk in self.chunks_once(stop):
                    seconds += len(chunk.samples) / self.rate
                    if seconds >= _STABLE:
                        self._backoff.reset()
                    self._update_status(drift_ppm=self._times.drift_ppm)
                    yield self._count_gap(chunk)
                    if stop.is_set():
                        break
            except SsdptError as error:
                self._update_status(connected=False, message=said(error))
                raise
            except SourceLost as lost:
                wait = next(self._backoff)
                message = Sentence("sources.retrying", problem=lost, seconds=round(wait, 1))
                self._update_status(connected=False, message=message)
                self.clock.wait(stop, wait)
        self._update_status(connected=False, message=Sentence("sources.stopped"))

    def _connected(self, message: str, rate_in: int, channels_in: int) -> None:
        """Sound arrives: update the status, and count the reconnects."""
        reconnects = self.status.reconnects + (1 if self._was_connected else 0)
        self._was_connected = True
        self._update_status(
            connected=True,
            message=message,
            rate_in=rate_in,
            channels_in=channels_in,
            reconnects=reconnects,
        )

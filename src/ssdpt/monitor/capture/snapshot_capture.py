"""Captures the snapshots of one machine: none is lost, and the last ones are kept."""

from __future__ import annotations

import logging
import queue
import threading
import time as clock
from collections import deque

from ssdpt.errors import SsdptError
from ssdpt.monitor.capture.base import Capture
from ssdpt.monitor.sources.snapshot import Snapshot, SnapshotSource, Unusable
from ssdpt.sentences import Sentence, said

_MOST_WAITING = 100  # snapshots; the source waits while so many are not judged yet
_MOST_KEPT, _SECONDS_KEPT = 120, 600.0  # for events: so many, of so long a time
_POLL = 0.2  # seconds
_LOG = logging.getLogger(__name__)


class SnapshotCapture(Capture):
    """Reads snapshots on a thread of its own; every one waits until it is taken."""

    source: SnapshotSource

    def __init__(self, name: str, source: SnapshotSource) -> None:
        super().__init__(name, source, at_intervals=True)
        self._waiting: queue.Queue[Snapshot | Unusable] = queue.Queue(_MOST_WAITING)
        self._kept: deque[Snapshot] = deque(maxlen=_MOST_KEPT)
        self._lock = threading.Lock()  # of those kept, which jobs read

    @property
    def due(self) -> bool:
        """Whether a snapshot waits to be judged."""
        return not self._waiting.empty()

    def take(self) -> Snapshot | Unusable:
        """The next one, in the order they arrived; one must be due."""
        return self._waiting.get_nowait()

    def keep(self, snapshot: Snapshot) -> None:
        """Keep one that can be used, for the recording of an event."""
        with self._lock:
            self._kept.append(snapshot)
            while self._kept[0].time < snapshot.time - _SECONDS_KEPT:
                self._kept.popleft()

    @property
    def kept(self) -> list[Snapshot]:
        """The last ones that can be used, oldest first."""
        with self._lock:
            return list(self._kept)

    def _run(self) -> None:
        try:
            for snapshot in self.source.snapshots(self._stop):
                self.last_chunk_at = clock.monotonic()
                self.arrivals.note(self.last_chunk_at, single=True)
                self._put(snapshot)
                if self._stop.is_set():
                    return
        except SsdptError as error:
            self.failure = said(error)
        except Exception as error:
            _LOG.exception("capture of %s has ended", self.name)
            self.failure = Sentence("sources.captureEnded", error=repr(error))

    def _put(self, snapshot: Snapshot | Unusable) -> None:
        while not self._stop.is_set():
            try:
                self._waiting.put(snapshot, timeout=_POLL)
            except queue.Full:
                continue
            return

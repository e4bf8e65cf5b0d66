"""What every capture has in common: a source read on a thread of its own."""

from __future__ import annotations

import threading
import time as clock
from typing import Protocol

from ssdpt.common.background_thread import BackgroundThread
from ssdpt.monitor.capture.arrivals import Arrivals
from ssdpt.monitor.sources.base import SourceStatus


class HasStatus(Protocol):
    """A source, whatever it gives."""

    @property
    def status(self) -> SourceStatus: ...


class Capture(BackgroundThread):
    """Reads the source of one machine until it is stopped."""

    def __init__(self, name: str, source: HasStatus, *, at_intervals: bool) -> None:
        super().__init__(f"ssdpt-capture-{name}")
        self.name = name
        self.source = source
        self.last_chunk_at = clock.monotonic()  # when something last arrived
        self.arrivals = Arrivals(at_intervals=at_intervals)
        self.failure = ""  # why capture has ended, in a sentence
        self.second_judged = threading.Event()  # what was captured last has been judged

    def ask_to_stop(self) -> None:
        super().ask_to_stop()
        self.second_judged.set()  # it may wait for the loop, which has stopped

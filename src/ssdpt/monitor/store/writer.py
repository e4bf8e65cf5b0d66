"""Writes readings and events in the background; they wait while the database is unavailable."""

from __future__ import annotations

import logging
import threading
import time
from collections import deque

from ssdpt.monitor.messages import Event, Reading
from ssdpt.monitor.store.engine import StoreUnavailable
from ssdpt.monitor.store.store import Store
from ssdpt.sentences import Sentence, said

_MOST_READINGS = 200_000  # that wait; beyond that the oldest are dropped, events never
_BATCH = 5000  # readings per transaction
_PAUSE = 1.0  # seconds between batches, and between attempts
_SLOW = 5.0  # seconds that a write may take before it counts as a problem
_LOG = logging.getLogger(__name__)


class StoreWriter:
    """Writes readings in batches and events at once, on its own thread."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self._failure = ""  # of the last attempt, for people
        self._began: float | None = None  # steady time at which a write began that is not over
        self.readings_lost = 0  # dropped because too many were waiting
        self._readings: deque[Reading] = deque()
        self._events: dict[str, Event] = {}  # the newest version of each, in order of arrival
        self._lock = threading.Lock()
        self._flush_lock = threading.Lock()
        self._wake = threading.Event()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="ssdpt-writer", daemon=True)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def stop(self) -> None:
        """Stop the thread, and write what is waiting if the database is available."""
        self._stop.set()
        self._wake.set()
        if self._thread.is_alive():
            self._thread.join(10.0)
        self.flush()

    @property
    def problem(self) -> str:
        """Why nothing can be written now, for people; empty where all is well."""
        began = self._began
        waiting = 0.0 if began is None else time.monotonic() - began
        if waiting > _SLOW:
            return self._failure or Sentence("store.noAnswer", seconds=round(waiting))
        return self._failure

    def add_reading(self, reading: Reading) -> None:
        """Write it with the next batch."""
        with self._lock:
            if len(self._readings) >= _MOST_READINGS:
                self._readings.popleft()
                self.readings_lost += 1
            self._readings.append(reading)

    def add_event(self, event: Event) -> None:
        """Write it as soon as possible."""
        with self._lock:
            self._events[event.id] = event
        self._wake.set()

    def flush(self) -> bool:
        """Write everything now; False if that failed."""
        with self._flush_lock:
            with self._lock:
                events, self._events = self._events, {}
                readings, self._readings = list(self._readings), deque()
            try:
                for event in list(events.values()):
                    self._began = time.monotonic()
                    self.store.save_event(event)
                    del events[event.id]
                while readings:
                    self._began = time.monotonic()
                    self.store.add_readings(readings[:_BATCH])
                    del readings[:_BATCH]
            except Exception as error:
                # Monitoring goes on whatever the error is; what was not written waits.
                with self._lock:
                    self._events = events | self._events
                    self._readings.extendleft(reversed(readings))
                if not self._failure:
                    unexpected = not isinstance(error, StoreUnavailable)
                    _LOG.warning("%s; readings and events wait", error, exc_info=unexpected)
                self._failure = said(error)
                return False
            finally:
                self._began = None
            self._failure = ""
            return True

    def _run(self) -> None:
        while not self._stop.is_set():
            self._wake.wait(_PAUSE)
            self._wake.clear()
            if not self.flush():
                self._stop.wait(_PAUSE)

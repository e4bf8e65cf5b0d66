"""Everything the monitor writes into the store, in order, however long the store is away."""

from __future__ import annotations

import logging
import threading
from collections import deque

from ssdpt.monitor.messages import Event, Reading
from ssdpt.monitor.store import Store, StoreUnavailable

_MOST_READINGS = 200_000  # that wait; then the oldest are lost, events never
_PORTION = 5000  # readings written at once
_PAUSE = 1.0  # seconds between batches, and between attempts
_LOG = logging.getLogger(__name__)


class Writer:
    """Readings in batches, events at once, on a thread of its own."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.trouble = ""  # why nothing is written at the moment, in words
        self.lost = 0  # readings that found no room
        self._readings: deque[Reading] = deque()
        self._events: dict[str, Event] = {}  # the latest of each, in the order they came
        self._lock = threading.Lock()
        self._writing = threading.Lock()
        self._wake = threading.Event()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._work, name="ssdpt-writer", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Write what is left, if the store is there."""
        self._stop.set()
        self._wake.set()
        if self._thread.is_alive():
            self._thread.join(10.0)
        self.flush()

    def reading(self, reading: Reading) -> None:
        """Write it with the next batch."""
        with self._lock:
            if len(self._readings) >= _MOST_READINGS:
                self._readings.popleft()
                self.lost += 1
            self._readings.append(reading)

    def event(self, event: Event) -> None:
        """Write it as soon as can be."""
        with self._lock:
            self._events[event.id] = event
        self._wake.set()

    def flush(self) -> bool:
        """Write everything now; whether that went well."""
        with self._writing:
            with self._lock:
                events, self._events = self._events, {}
                readings, self._readings = list(self._readings), deque()
            try:
                for event in list(events.values()):
                    self.store.save_event(event)
                    del events[event.id]
                while readings:
                    self.store.add_readings(readings[:_PORTION])
                    del readings[:_PORTION]
            except Exception as error:
                # Whatever it is, the watch goes on, and what could not be written waits.
                with self._lock:
                    self._events = events | self._events
                    self._readings.extendleft(reversed(readings))
                if not self.trouble:
                    unforeseen = not isinstance(error, StoreUnavailable)
                    _LOG.warning("%s; readings and events wait", error, exc_info=unforeseen)
                self.trouble = str(error)
                return False
            self.trouble = ""
            return True

    def _work(self) -> None:
        while not self._stop.is_set():
            self._wake.wait(_PAUSE)
            self._wake.clear()
            if not self.flush():
                self._stop.wait(_PAUSE)

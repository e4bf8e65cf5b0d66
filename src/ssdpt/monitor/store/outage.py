"""A database server that hangs: one thread looks for its return, all others are refused at once."""

from __future__ import annotations

import threading
from collections.abc import Callable

EVERY = 1.0  # seconds between two looks


class Outage:
    """Begins when somebody has waited in vain, and ends when the server answers again.

    Whoever asks meanwhile would wait as well, and with them all threads of a page.
    """

    def __init__(self, answers: Callable[[], bool]) -> None:
        """`answers`: whether the server answers now; may take seconds."""
        self._answers = answers
        self._lock = threading.Lock()
        self._closed = threading.Event()
        self.message = ""  # why nothing is asked at present, for people; empty: it is asked

    def begin(self, message: str) -> None:
        """Ask nothing until the server answers."""
        with self._lock:
            if self.message or self._closed.is_set():
                return
            self.message = message
        threading.Thread(target=self._look, name="ssdpt-database", daemon=True).start()

    def close(self) -> None:
        """Look no longer."""
        self._closed.set()

    def _look(self) -> None:
        while not self._answers():
            if self._closed.wait(EVERY):
                return
        self.message = ""

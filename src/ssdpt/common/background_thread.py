"""A thread that works in the background until it is stopped."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod


class BackgroundThread(ABC):
    """One daemon thread; `_stop` is set when it shall end."""

    def __init__(self, name: str) -> None:
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)

    @abstractmethod
    def _run(self) -> None:
        """The work, until `_stop` is set."""

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def ask_to_stop(self) -> None:
        """It shall end soon; does not wait."""
        self._stop.set()

    def stop(self, timeout: float = 5.0) -> None:
        """Ask it to end, and wait for it for at most `timeout` seconds."""
        self.ask_to_stop()
        if self._thread.is_alive():
            self._thread.join(timeout)

    @property
    def alive(self) -> bool:
        return self._thread.is_alive()

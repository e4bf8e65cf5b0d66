"""The last frames of a stream, which the scorer reads while more come."""

from __future__ import annotations

import threading

import numpy as np

from ssdpt.types import Floats


class FrameWindow:
    """The last frames of a stream, by their number since the last gap. Threads may share it."""

    def __init__(self, frames: int, bins: int) -> None:
        self._rows = np.zeros((frames, bins), np.float32)
        self._lock = threading.Lock()
        self.count = 0  # frames since the last gap
        self.gaps = 0

    def add(self, frames: Floats) -> None:
        """(n, bins) that follow on those before."""
        size = len(self._rows)
        with self._lock:
            kept = frames[-size:]
            places = (self.count + len(frames) - len(kept) + np.arange(len(kept))) % size
            self._rows[places] = kept
            self.count += len(frames)

    def clear(self) -> None:
        """What comes next does not follow on what was."""
        with self._lock:
            self.count = 0
            self.gaps += 1

    def since(self, first: int, end: int | None = None) -> tuple[Floats, int]:
        """Frames from number `first` on, up to `end`, and the number of the first there is."""
        with self._lock:
            last = self.count if end is None else min(end, self.count)
            begin = min(max(first, self.count - len(self._rows), 0), last)
            return self._rows[np.arange(begin, last) % len(self._rows)], begin

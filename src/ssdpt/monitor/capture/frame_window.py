"""The last frames of a stream, which the scorer reads while more arrive."""

from __future__ import annotations

import threading

import numpy as np

from ssdpt.types import Floats


class FrameWindow:
    """Frames by their number since the last gap. Threads may share it."""

    def __init__(self, frames: int, bins: int) -> None:
        self._rows = np.zeros((frames, bins), np.float32)
        self._lock = threading.Lock()
        self.count = 0  # frames since the last gap
        self.gaps = 0

    def add(self, frames: Floats) -> None:
        """Append (n, bins)."""
        size = len(self._rows)
        with self._lock:
            kept = frames[-size:]
            places = (self.count + len(frames) - len(kept) + np.arange(len(kept))) % size
            self._rows[places] = kept
            self.count += len(frames)

    def clear(self) -> None:
        """A gap: the next frames do not follow the ones before."""
        with self._lock:
            self.count = 0
            self.gaps += 1

    def since(self, first: int, end: int | None = None) -> tuple[Floats, int]:
        """Frames from number `first` up to `end` as far as held, and the number of the first."""
        with self._lock:
            last = self.count if end is None else min(end, self.count)
            begin = min(max(first, self.count - len(self._rows), 0), last)
            return self._rows[np.arange(begin, last) % len(self._rows)], begin

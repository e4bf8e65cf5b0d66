"""The last minutes of a machine's sound, for the recordings of events. Threads may share it."""

from __future__ import annotations

import threading

import numpy as np

from ssdpt.types import Floats


class Ring:
    """A buffer that forgets its oldest samples; memory is fixed from the start."""

    def __init__(self, seconds: float, rate: int) -> None:
        self.rate = rate
        self._samples = np.zeros(max(1, round(seconds * rate)), np.float32)
        self._written = 0  # samples so far
        self._end = 0.0  # time after the last one
        self._lock = threading.Lock()

    def add(self, samples: Floats, time: float) -> None:
        """Samples (n,) that follow on those before, the first at `time`."""
        size = len(self._samples)
        with self._lock:
            kept = samples[-size:]
            start = (self._written + len(samples) - len(kept)) % size
            first = min(len(kept), size - start)
            self._samples[start : start + first] = kept[:first]
            self._samples[: len(kept) - first] = kept[first:]
            self._written += len(samples)
            self._end = time + len(samples) / self.rate

    def skip(self, seconds: float) -> None:
        """A gap: what is missing is silence, so that what was before it is still there."""
        missing = min(round(seconds * self.rate), len(self._samples))
        self.add(np.zeros(missing, np.float32), self._end)

    def between(self, begin: float, end: float) -> tuple[Floats, float]:
        """What there is of the time from `begin` to `end`, (samples,), and when it begins."""
        with self._lock:
            held = min(self._written, len(self._samples))
            oldest = self._end - held / self.rate
            first = min(max(round((begin - oldest) * self.rate), 0), held)
            last = min(max(round((end - oldest) * self.rate), first), held)
            places = (self._written - held + np.arange(first, last)) % len(self._samples)
            return self._samples[places], oldest + first / self.rate

    @property
    def seconds(self) -> float:
        """How much it holds."""
        return len(self._samples) / self.rate

    @property
    def end(self) -> float:
        """The time after the last sample."""
        return self._end

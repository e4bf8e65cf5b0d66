"""The last minutes of sound, as 16-bit samples: half the memory of floats."""

from __future__ import annotations

import numpy as np

from ssdpt.monitor.capture.ring import Ring
from ssdpt.types import Floats

_FULL_SCALE = 32767


class RecentSound:
    """What can be kept on demand: at 16 kHz, 1.9 MB for each minute. Threads may share it."""

    def __init__(self, seconds: float, rate: int) -> None:
        self._ring = Ring(seconds, rate, dtype=np.int16)

    @property
    def seconds(self) -> float:
        """How much it can hold."""
        return self._ring.seconds

    @property
    def end(self) -> float:
        """The time after the last sample."""
        return self._ring.end

    def add(self, samples: Floats, time: float) -> None:
        """Append samples (n,) within ±1, the first at `time`."""
        self._ring.add(to_16_bits(samples), time)

    def skip(self, seconds: float) -> None:
        """Fill a gap with silence."""
        self._ring.skip(seconds)

    def between(self, begin: float, end: float) -> tuple[Floats, float]:
        """The samples (n,) as far as they are held, without a gap at the beginning; their time."""
        rows, begin = self._ring.between(self._ring.first_captured(begin), end)
        return rows.astype(np.float32) / np.float32(_FULL_SCALE), begin


def to_16_bits(samples: Floats) -> np.ndarray:
    """Samples within ±1 as 16-bit integers; louder ones are clipped."""
    return np.rint(np.clip(samples, -1.0, 1.0) * _FULL_SCALE).astype(np.int16)

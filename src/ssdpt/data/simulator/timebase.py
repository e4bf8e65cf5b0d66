"""Sample rate, clip length and the time and frequency axes of all simulated sound."""

from __future__ import annotations

import zlib
from functools import cache

import numpy as np
from numpy.typing import NDArray

RATE = 16_000  # Hz
SECONDS = 10.0
SAMPLES = int(RATE * SECONDS)
# Longer than a clip, so that nothing wraps around in the FFT; 2^15 · 5 makes the FFT fast.
PADDED = 163_840

Wave = NDArray[np.float32]  # (PADDED,) samples
Spectrum = NDArray[np.complex64]  # (PADDED // 2 + 1,) FFT bins
Shape = NDArray[np.float32]  # (PADDED // 2 + 1,) amplitude for each FFT bin
Times = NDArray[np.float64]  # (events,) seconds


@cache
def seconds() -> NDArray[np.float64]:
    """Time of each sample, (PADDED,) seconds."""
    axis = np.arange(PADDED) / RATE
    axis.flags.writeable = False
    return axis


@cache
def hertz() -> Shape:
    """Frequency of each FFT bin, (PADDED // 2 + 1,) Hz."""
    axis = np.fft.rfftfreq(PADDED, 1 / RATE).astype(np.float32)
    axis.flags.writeable = False
    return axis


def stream(seed: int, *names: str | int) -> np.random.Generator:
    """The random generator of `names`; it does not depend on what else is drawn or when."""
    keys = [name if isinstance(name, int) else zlib.crc32(name.encode()) for name in names]
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence([seed, *keys])))

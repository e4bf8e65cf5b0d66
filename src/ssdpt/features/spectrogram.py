"""Linear spectrogram: the power of every frequency in dB, without mel filters.

Frames are those of the log-mel: centred, Hann windowed, zeros beyond both ends. The bin at 0 Hz is
left out, so that a window of 2048 samples gives the 1024 bins of the second-placed system of
DCASE 2021.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from ssdpt.features.front_end import FrontEnd, centred_windows
from ssdpt.types import Floats

_AT_ONCE = 64  # frames


class LinearSpectrogram(FrontEnd):
    """10·log10(max(power, floor)) of n_fft // 2 frequencies. Threads may share it."""

    name: ClassVar[str] = "spectrogram"
    # Eight times as many values as a log-mel: stored, and therefore used, to 0.03 dB (0.06 dB below
    # −128 dB).
    storage: ClassVar[Literal["<f4", "<f2"]] = "<f2"

    def __init__(self, n_fft: int, hop_length: int, floor: float, sample_rate: int) -> None:
        self.n_fft, self.hop_length, self.floor = n_fft, hop_length, floor
        self.sample_rate = sample_rate
        self.bins = n_fft // 2
        self.frame_seconds = hop_length / sample_rate
        turns = np.arange(n_fft) / n_fft
        self.window = 0.5 - 0.5 * np.cos(2 * np.pi * turns)  # (n_fft,) Hann, periodic

    def stream(self, blocks: Iterable[Floats]) -> Iterator[Floats]:
        for stretch in centred_windows(blocks, self.n_fft, self.hop_length):
            windows = sliding_window_view(stretch, self.n_fft)[:: self.hop_length]
            for first in range(0, len(windows), _AT_ONCE):
                yield self._decibels(windows[first : first + _AT_ONCE])

    @property
    def settings(self) -> dict[str, Any]:
        return {
            "n_fft": self.n_fft,
            "hop_length": self.hop_length,
            "floor": self.floor,
            "sample_rate": self.sample_rate,
        }

    @property
    def frequencies(self) -> Floats:
        steps = np.arange(1, self.bins + 1, dtype=np.float32)
        return steps * np.float32(self.sample_rate / self.n_fft)

    def _decibels(self, windows: Floats) -> Floats:
        """(frames, n_fft) to (frames, bins)."""
        spectrum = np.fft.rfft(windows * self.window)[:, 1:]
        power = spectrum.real**2 + spectrum.imag**2
        decibels = 10.0 * np.log10(np.maximum(power, self.floor))
        return decibels.astype(np.float16).astype(np.float32)

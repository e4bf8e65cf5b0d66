"""Log-mel spectrogram, the front end of the paper and of most systems.

The definition is the paper's front end as its code spells it out: power spectrum of centred, Hann
windowed frames (zeros beyond both ends), mel filters on the Slaney scale with unit area, then
10·log10(max(power, floor)). librosa with `center=True, pad_mode="constant"` agrees.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, ClassVar

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from ssdpt.config.settings import FeatureConfig
from ssdpt.features.front_end import FrontEnd, centred_windows
from ssdpt.types import Floats

# Slaney's auditory scale: linear up to 1 kHz (15 mel), then logarithmic, 27 mel for a factor 6.4.
_LINEAR_HZ_PER_MEL = 200.0 / 3
_BREAK_HZ = 1000.0
_BREAK_MEL = _BREAK_HZ / _LINEAR_HZ_PER_MEL
_LOG_STEP = np.log(6.4) / 27.0

_AT_ONCE = 64  # frames
_BAND = 16  # mel bins


def hz_to_mel(hz: float) -> float:
    """Frequency in Hz to mel (Slaney)."""
    if hz < _BREAK_HZ:
        return hz / _LINEAR_HZ_PER_MEL
    return float(_BREAK_MEL + np.log(hz / _BREAK_HZ) / _LOG_STEP)


def mel_to_hz(mel: np.ndarray) -> np.ndarray:
    """Mel (Slaney) to frequency in Hz."""
    linear = mel * _LINEAR_HZ_PER_MEL
    logarithmic = _BREAK_HZ * np.exp((mel - _BREAK_MEL) * _LOG_STEP)
    return np.where(mel < _BREAK_MEL, linear, logarithmic)


def mel_edges(config: FeatureConfig, sample_rate: int) -> np.ndarray:
    """Corner frequencies in Hz of the triangular filters: filter i spans edges i to i + 2."""
    f_max = config.f_max or sample_rate / 2
    mels = np.linspace(hz_to_mel(config.f_min), hz_to_mel(f_max), config.n_mels + 2)
    return mel_to_hz(mels)


def resolved_filters(f_min: float, f_max: float, line_hz: float) -> int:
    """How many filters from `f_min` to `f_max` each hold a line of a transform, `line_hz` apart."""
    mels = hz_to_mel(f_max) - hz_to_mel(f_min)
    return max(1, int(mels * _LINEAR_HZ_PER_MEL / line_hz) - 1)


def mel_frequencies(config: FeatureConfig, sample_rate: int) -> Floats:
    """Centre frequency in Hz of every mel bin."""
    return mel_edges(config, sample_rate)[1:-1].astype(np.float32)


def mel_filters(config: FeatureConfig, sample_rate: int) -> Floats:
    """Triangular filters of unit area, (bins, n_fft // 2 + 1)."""
    edges = mel_edges(config, sample_rate)
    frequencies = np.linspace(0, sample_rate / 2, config.n_fft // 2 + 1)
    lower, centre, upper = edges[:-2, None], edges[1:-1, None], edges[2:, None]
    rising = (frequencies - lower) / (centre - lower)
    falling = (upper - frequencies) / (upper - centre)
    triangles = np.maximum(0.0, np.minimum(rising, falling))
    return (triangles * (2.0 / (upper - lower))).astype(np.float32)


class LogMel(FrontEnd):
    """(frames, bins) in dB; frames = 1 + samples // hop_length. Threads may share it."""

    name: ClassVar[str] = "log-mel"

    def __init__(self, config: FeatureConfig, sample_rate: int) -> None:
        self.config = config
        self.sample_rate = sample_rate
        self.bins = self.mel_bins = config.n_mels
        self.frame_seconds = config.hop_length / sample_rate
        # In float64: beside a strong tone, float32 would bury the quiet bins in rounding noise.
        turns = np.arange(config.n_fft) / config.n_fft
        self.window = 0.5 - 0.5 * np.cos(2 * np.pi * turns)  # (n_fft,) Hann, periodic
        filters = mel_filters(config, sample_rate)
        self.filters = filters.T.astype(np.float64, order="C")  # (n_fft // 2 + 1, bins)
        self._bands = list(_bands(self.filters))

    def stream(self, blocks: Iterable[Floats]) -> Iterator[Floats]:
        for stretch in centred_windows(blocks, self.config.n_fft, self.config.hop_length):
            windows = sliding_window_view(stretch, self.config.n_fft)[:: self.config.hop_length]
            yield self.of_windows(windows)

    @property
    def settings(self) -> dict[str, Any]:
        return {**self.config.model_dump(), "sample_rate": self.sample_rate}

    @property
    def frequencies(self) -> Floats:
        return mel_frequencies(self.config, self.sample_rate)

    def of_windows(self, frames: Floats) -> Floats:
        """Windows of samples (frames, n_fft) to (frames, bins) in dB."""
        result = np.empty((len(frames), self.config.n_mels), np.float32)
        # A few at a time in the same memory, which stays in the core's own cache.
        windowed = np.empty((_AT_ONCE, self.config.n_fft))
        power = np.empty((_AT_ONCE, len(self.filters)))
        mel = np.empty((_AT_ONCE, self.config.n_mels))
        for first in range(0, len(frames), _AT_ONCE):
            some = frames[first : first + _AT_ONCE]  # (count, n_fft)
            count = len(some)
            np.multiply(some, self.window, out=windowed[:count])
            spectrum = np.fft.rfft(windowed[:count])  # (count, n_fft // 2 + 1)
            squares = spectrum.view(np.float64)  # of real and imaginary parts in turn
            np.square(squares, out=squares)
            np.add(squares[:, ::2], squares[:, 1::2], out=power[:count])
            for frequencies, bins, filters in self._bands:
                np.matmul(power[:count, frequencies], filters, out=mel[:count, bins])
            decibels = np.maximum(mel[:count], self.config.floor, out=mel[:count])
            np.log10(decibels, out=decibels)
            np.multiply(decibels, 10.0, out=result[first : first + count], casting="same_kind")
        return result


def _bands(filters: np.ndarray) -> Iterator[tuple[slice, slice, np.ndarray]]:
    """The filters (frequencies, bins) in groups of neighbours, without most of the zeros.

    Gives the frequencies that a group covers, its bins, and their filters at these frequencies.
    """
    for first in range(0, filters.shape[1], _BAND):
        bins = slice(first, min(first + _BAND, filters.shape[1]))
        covered = np.flatnonzero(filters[:, bins].any(axis=1))
        # Bins narrower than the resolution of the transform cover no frequency at all.
        frequencies = slice(covered[0], covered[-1] + 1) if len(covered) else slice(0, 1)
        yield frequencies, bins, np.ascontiguousarray(filters[frequencies, bins])

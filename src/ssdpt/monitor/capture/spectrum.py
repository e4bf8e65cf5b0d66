"""The normal range of the spectrum of a machine, at each operating point."""

from __future__ import annotations

import math
from typing import Any, Self

import numpy as np

from ssdpt.monitor.messages import Spectrogram, Spectrum
from ssdpt.types import Floats

_MIN_SECONDS = 20  # before there is a range
_DEVIATIONS = 2.0  # of the range, to either side
_LOWEST_DB, _HIGHEST_DB = -100.0, 0.0  # of a picture


class SpectrumRange:
    """Mean and spread of normal spectra (bins,)."""

    def __init__(self, bins: int) -> None:
        self._mean, self._variance = np.zeros(bins), np.zeros(bins)
        self._seconds = 0

    @property
    def bins(self) -> int:
        return len(self._mean)

    def add(self, spectrum: Floats) -> None:
        """One second."""
        step = 1 / (self._seconds + 1)
        change = spectrum - self._mean
        self._mean += step * change
        self._variance += step * (change * (spectrum - self._mean) - self._variance)
        self._seconds += 1

    def to_json(self) -> dict[str, Any]:
        """State that outlives a restart."""
        return {
            "mean": self._mean.round(2).tolist(),
            "variance": self._variance.round(3).tolist(),
            "seconds": self._seconds,
        }

    @classmethod
    def from_json(cls, state: dict[str, Any]) -> Self:
        """The reverse of `to_json`."""
        spectrum = cls(len(state["mean"]))
        spectrum._mean = np.array(state["mean"])
        spectrum._variance = np.array(state["variance"])
        spectrum._seconds = int(state["seconds"])
        return spectrum

    def edges(self) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
        """Low, mean and high, in dB; None before enough normal seconds."""
        if self._seconds < _MIN_SECONDS:
            return None
        width = _DEVIATIONS * np.sqrt(np.maximum(self._variance, 0.0))
        return self._mean - width, self._mean, self._mean + width


class SpectrumBaseline:
    """The normal range at each operating point, by the number of the point."""

    def __init__(self) -> None:
        self._ranges: dict[int, SpectrumRange] = {}
        self._last_point = 0

    def learn(self, spectrum: Floats, point: int) -> None:
        """A normal second with this spectrum (bins,) in dB, at this operating point."""
        self._last_point = point
        normal_range = self._ranges.get(point)
        if normal_range is None or normal_range.bins != len(spectrum):
            normal_range = self._ranges[point] = SpectrumRange(len(spectrum))
        normal_range.add(spectrum)

    def forget(self, point: int) -> None:
        """Learn anew what is normal at this operating point."""
        self._ranges.pop(point, None)

    def to_json(self) -> dict[str, Any]:
        """State that outlives a restart."""
        return {str(point): spectrum.to_json() for point, spectrum in self._ranges.items()}

    def restore(self, state: dict[str, Any]) -> None:
        """The reverse of `to_json`."""
        for point, spectrum in state.items():
            self._ranges[int(point)] = SpectrumRange.from_json(spectrum)
            self._last_point = int(point)

    def compare(self, frequencies: Floats, now: Floats | None, point: int) -> Spectrum:
        """The spectrum now (bins,) beside the normal range at this operating point.

        Where nothing is known of this point, that of the last one.
        """
        candidates = [self._ranges.get(number) for number in (point, self._last_point)]
        edges = next((found for one in candidates if one and (found := one.edges())), None)
        low, mean, high = edges or (None, None, None)
        return Spectrum(
            hz=_numbers(frequencies),
            now=_numbers(now),
            low=_numbers(low),
            mean=_numbers(mean),
            high=_numbers(high),
        )


def spectrogram(
    frames: Floats, begin: float, frequencies: Floats, frame_seconds: float
) -> Spectrogram:
    """A picture of log-mel frames (frames, bins) in dB that begin at `begin`."""
    return Spectrogram(
        hz=_numbers(frequencies),
        begin=begin,
        seconds_per_column=frame_seconds,
        columns=as_bytes(frames, _LOWEST_DB, _HIGHEST_DB).tolist(),
        low_db=_LOWEST_DB,
        high_db=_HIGHEST_DB,
    )


def as_bytes(values: Floats, low: float, high: float) -> np.ndarray:
    """0 at `low` and below, 255 at `high` and above."""
    scaled = (np.asarray(values, np.float32) - low) / max(high - low, 1e-9)
    return np.clip(np.round(255 * scaled), 0, 255).astype(np.uint8)


def _numbers(values: np.ndarray | None) -> tuple[float, ...]:
    if values is None:
        return ()
    return tuple(round(float(value), 2) if math.isfinite(value) else 0.0 for value in values)

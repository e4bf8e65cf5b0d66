"""The spectrum of a machine now, against the band in which it lies when all is well."""

from __future__ import annotations

import math
from typing import Any, Self

import numpy as np

from ssdpt.config.settings import FeatureConfig
from ssdpt.features.logmel import LogMel
from ssdpt.monitor.capture.ring import Ring
from ssdpt.types import Floats

_HALF_LIFE = 600.0  # seconds of normal running after which a spectrum counts half
_LEAST = 20  # seconds, until there is a band
_DEVIATIONS = 2.0  # of the band, to either side
_LOWEST_DB, _HIGHEST_DB = -100.0, 0.0  # of a picture; below is black


class Band:
    """Mean and spread of normal spectra (bins,), forgetting old ones."""

    def __init__(self, bins: int) -> None:
        self._mean, self._square = np.zeros(bins), np.zeros(bins)
        self._seconds = 0

    def add(self, spectrum: Floats) -> None:
        """One second."""
        # A plain mean at first, then one that forgets.
        step = max(1 / (self._seconds + 1), 1 - 0.5 ** (1 / _HALF_LIFE))
        change = spectrum - self._mean
        self._mean += step * change
        self._square += step * (change * (spectrum - self._mean) - self._square)
        self._seconds += 1

    def to_json(self) -> dict[str, Any]:
        """To be remembered."""
        return {
            "mean": self._mean.round(2).tolist(),
            "square": self._square.round(3).tolist(),
            "seconds": self._seconds,
        }

    @classmethod
    def from_json(cls, tree: dict[str, Any]) -> Self:
        """The reverse of `to_json`."""
        band = cls(len(tree["mean"]))
        band._mean, band._square = np.array(tree["mean"]), np.array(tree["square"])
        band._seconds = int(tree["seconds"])
        return band

    def edges(self) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
        """Low, mean and high, in dB; None where too little was heard."""
        if self._seconds < _LEAST:
            return None
        width = _DEVIATIONS * np.sqrt(np.maximum(self._square, 0.0))
        return self._mean - width, self._mean, self._mean + width


class SpectrumBaseline:
    """Log-mel spectra of single seconds, and the band of normal ones at each operating point."""

    def __init__(self, rate: int) -> None:
        self.log_mel = LogMel(FeatureConfig(), rate)
        self.now: Floats | None = None  # (bins,) dB
        self._bands: dict[int, Band] = {}  # by the number of the operating point
        self._point = 0

    def hear(self, samples: Floats) -> None:
        """One second of sound, (samples,)."""
        enough = len(samples) >= self.log_mel.sample_rate // 2
        self.now = self.log_mel(samples).mean(0) if enough else None

    def settle(self, point: int) -> None:
        """The last second was a normal one, at this operating point."""
        self._point = point
        if self.now is not None:
            self._bands.setdefault(point, Band(self.log_mel.bins)).add(self.now)

    def learn(self, clip: Floats, point: int) -> None:
        """A normal clip (samples,) that was heard before."""
        rate = self.log_mel.sample_rate
        for first in range(0, len(clip) - rate + 1, rate):
            self.hear(clip[first : first + rate])
            self.settle(point)

    def to_json(self) -> dict[str, Any]:
        """The bands, to be remembered."""
        return {str(point): band.to_json() for point, band in self._bands.items()}

    def recall(self, tree: dict[str, Any]) -> None:
        """Take up what `to_json` gave."""
        for point, band in tree.items():
            self._bands[int(point)] = Band.from_json(band)
            self._point = int(point)

    def as_json(self, point: int) -> dict[str, list[float]]:
        """Hz of the bins, the spectrum now, and the band; empty where nothing is known.

        The band of another operating point where nothing is known of this one.
        """
        bands = [self._bands.get(one) for one in (point, self._point)]
        edges = next((found for band in bands if band and (found := band.edges())), None)
        low, mean, high = edges or (None, None, None)
        return {
            "hz": _numbers(self.log_mel.frequencies),
            "now": _numbers(self.now),
            "low": _numbers(low),
            "mean": _numbers(mean),
            "high": _numbers(high),
        }


def picture(samples: Floats, begin: float, log_mel: LogMel) -> dict[str, object]:
    """A spectrogram of sound that begins at `begin`, its columns as bytes."""
    enough = len(samples) >= log_mel.config.hop_length
    frames = log_mel(samples) if enough else np.zeros((0, log_mel.bins), np.float32)
    return {
        "hz": _numbers(log_mel.frequencies),
        "begin": begin,
        "seconds_per_column": log_mel.frame_seconds,
        "columns": as_bytes(frames, _LOWEST_DB, _HIGHEST_DB).tolist(),
        "low_db": _LOWEST_DB,
        "high_db": _HIGHEST_DB,
    }


def waterfall(ring: Ring, seconds: float, log_mel: LogMel) -> dict[str, object]:
    """A spectrogram of the last seconds."""
    samples, begin = ring.between(ring.end - seconds, ring.end)
    return picture(samples, begin, log_mel)


def as_bytes(values: Floats, low: float, high: float) -> np.ndarray:
    """0 at `low` and below, 255 at `high` and above."""
    scaled = (np.asarray(values, np.float32) - low) / max(high - low, 1e-9)
    return np.clip(np.round(255 * scaled), 0, 255).astype(np.uint8)


def _numbers(values: np.ndarray | None) -> list[float]:
    if values is None:
        return []
    return [round(float(value), 2) if math.isfinite(value) else 0.0 for value in values]

"""Condition indicators of a second or a snapshot: level, peaks and bands, as engineers trend them.

They need no model and no learning, react within one snapshot, and each says something a person can
check with another instrument. Levels are in dB against full scale, like the samples.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ssdpt.types import Floats

BANDS = 8
_LOWEST_HZ = 30.0  # below it sensors and their cables say more than the machine does
_LEAST_BINS = 2  # of the transform in the lowest band
_KURTOSIS_BINS = 32  # of the transform; a narrower band swings like a tone, whatever it carries
_NOISE_KURTOSIS = 3.0
_FLOOR = 1e-15  # power; below the quantisation noise of 24 bits


@dataclass(frozen=True, slots=True)
class Indicators:
    """One second or one snapshot of one sensor."""

    level_db: float  # root mean square against a full-scale sine
    crest_db: float  # peak over root mean square: single knocks raise it
    kurtosis: float  # 3 for noise, 1.5 for a tone, above 4 for knocks
    bands_db: Floats  # (bands,), the level of each band
    bands_kurtosis: Floats  # (bands,), of each band alone; 3 where it is too narrow to tell


class IndicatorMeter:
    """Measures samples of one sample rate. Threads may share it."""

    def __init__(self, sample_rate: int, samples: int) -> None:
        """`samples`: of one second or snapshot; the lowest band depends on how long it is."""
        self.sample_rate = sample_rate
        self.edges = band_edges(sample_rate, samples)  # (bands + 1,) Hz

    def of(self, samples: Floats) -> Indicators:
        """Indicators of (samples,); a constant offset does not count."""
        centred = np.asarray(samples, np.float64) - np.mean(samples, dtype=np.float64)
        power = float(np.mean(centred**2))
        peak = float(np.abs(centred).max(initial=0.0))
        hz = np.fft.rfftfreq(len(centred), 1 / self.sample_rate)
        first = np.searchsorted(hz, self.edges).tolist()  # line of the transform of each edge
        return Indicators(
            level_db=_db(2 * power),
            crest_db=_db(peak**2) - _db(power),
            kurtosis=float(np.mean(centred**4)) / max(power, _FLOOR) ** 2,
            bands_db=_band_levels(centred, first),
            bands_kurtosis=_band_kurtosis(centred, first),
        )


def band_edges(sample_rate: int, samples: int) -> np.ndarray:
    """Edges (bands + 1,) in Hz of bands of equal width in octaves, up to half the sample rate.

    The lowest band holds at least two lines of the transform of `samples`.
    """
    highest = sample_rate / 2
    resolution = sample_rate / samples
    edges = np.geomspace(_LOWEST_HZ, highest, BANDS + 1)
    while edges[1] - edges[0] < _LEAST_BINS * resolution:
        edges = np.geomspace(edges[0] * 1.1, highest, BANDS + 1)
    return edges


def _db(power: float) -> float:
    return 10 * float(np.log10(max(power, _FLOOR)))


def _band_levels(centred: np.ndarray, first: list[int]) -> Floats:
    """The level of each band; `first` are the lines of the transform at the edges."""
    window = np.hanning(len(centred))
    spectrum = np.abs(np.fft.rfft(centred * window)) ** 2
    # One-sided; the window's own power is taken out, so that bands sum to the level.
    spectrum *= 4 / (len(centred) * float(np.sum(window**2)))
    return np.array([_db(spectrum[low:high].sum()) for low, high in pairwise(first)], np.float32)


def _band_kurtosis(centred: np.ndarray, first: list[int]) -> Floats:
    """The kurtosis of each band, from the fourth moment of its envelope.

    The lines of a band alone, transformed back, are its complex envelope at a low rate; twice as
    many lines, half of them zero, keep the square of the envelope free of aliases. Of noise, the
    fourth moment is twice the squared second one.
    """
    lines = np.fft.rfft(centred)
    kurtosis = np.full(len(first) - 1, _NOISE_KURTOSIS)
    for band, (low, high) in enumerate(pairwise(first)):
        if high - low >= _KURTOSIS_BINS:
            power = np.abs(np.fft.ifft(lines[low:high], 2 * (high - low))) ** 2
            mean = float(power.mean())
            if mean > _FLOOR * 1e-3:
                kurtosis[band] = _NOISE_KURTOSIS / 2 * float(np.mean(power**2)) / mean**2
    return kurtosis.astype(np.float32)

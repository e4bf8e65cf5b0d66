"""Condition indicators of a second or a snapshot: level, peaks and bands, as engineers trend them.

They need no model and no learning, react within one snapshot, and each says something a person can
check with another instrument. Levels are in dB against full scale, like the samples.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
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
        squares = np.square(centred)
        power = float(np.mean(squares))
        peak = float(np.abs(centred).max(initial=0.0))
        bands = _bands(self.sample_rate, tuple(self.edges.tolist()), len(centred))
        return Indicators(
            level_db=_db(2 * power),
            crest_db=_db(peak**2) - _db(power),
            kurtosis=float(np.mean(np.square(squares))) / max(power, _FLOOR) ** 2,
            bands_db=_band_levels(centred, bands),
            bands_kurtosis=_band_kurtosis(centred, bands),
        )


@dataclass(frozen=True, slots=True)
class _Bands:
    """What the bands of so many samples need: the same for every second."""

    lines: tuple[tuple[int, int], ...]  # of the transform: the first, and that after the last
    lengths: tuple[int, ...]  # of the transform back, of each band
    window: np.ndarray  # (samples,)
    scale: float  # of the power of a line; one-sided, and without the window's own power


@lru_cache(maxsize=16)
def _bands(sample_rate: int, edges: tuple[float, ...], samples: int) -> _Bands:
    first = np.searchsorted(np.fft.rfftfreq(samples, 1 / sample_rate), edges).tolist()
    lines = tuple(pairwise(first))
    window = np.hanning(samples)
    # So that the bands sum to the level.
    scale = 4 / (samples * float(np.sum(window**2)))
    return _Bands(
        lines, tuple(_fast_length(2 * (high - low)) for low, high in lines), window, scale
    )


def _fast_length(least: int) -> int:
    """The next length whose only prime factors are 2, 3 and 5: others take several times longer."""
    length = max(least, 1)
    while True:
        rest = length
        for factor in (2, 3, 5):
            while rest % factor == 0:
                rest //= factor
        if rest == 1:
            return length
        length += 1


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


def _band_levels(centred: np.ndarray, bands: _Bands) -> Floats:
    """The level of each band."""
    power = _power(np.fft.rfft(centred * bands.window))
    return np.array(
        [_db(bands.scale * power[low:high].sum()) for low, high in bands.lines], np.float32
    )


def _band_kurtosis(centred: np.ndarray, bands: _Bands) -> Floats:
    """The kurtosis of each band, from the fourth moment of its envelope.

    The lines of a band alone, transformed back, are its complex envelope at a low rate; at least
    twice as many lines, the others zero, keep the square of the envelope free of aliases. Of noise,
    the fourth moment is twice the squared second one.
    """
    lines = np.fft.rfft(centred)
    kurtosis = np.full(len(bands.lines), _NOISE_KURTOSIS)
    for band, ((low, high), length) in enumerate(zip(bands.lines, bands.lengths, strict=True)):
        count = high - low
        if count >= _KURTOSIS_BINS:
            power = _power(np.fft.ifft(lines[low:high], length))
            mean = float(power.mean())
            if mean * (length / (2 * count)) ** 2 > _FLOOR * 1e-3:
                kurtosis[band] = _NOISE_KURTOSIS / 2 * float(np.mean(np.square(power))) / mean**2
    return kurtosis.astype(np.float32)


def _power(values: np.ndarray) -> np.ndarray:
    """The squared magnitude of complex values, without the square root of `abs`."""
    return np.square(values.real) + np.square(values.imag)

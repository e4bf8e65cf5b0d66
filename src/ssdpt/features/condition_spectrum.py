"""What a machine sounds like in numbers that can be named: lines, bands, knocks and their rhythm.

The lines of a fine spectrum show tones. Third-octave bands show where sound has grown; the level
that a band exceeds in a few moments shows knocks; the spectrum of its envelope shows how often they
come. All of it works from 2 to 51.2 kHz, on clips of seconds and on snapshots of a tenth of one:
what a length cannot resolve is left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ssdpt.features.rhythm import PERIODS
from ssdpt.types import Floats

Decibels = NDArray[np.float64]

LONGEST_SECONDS = 10.0  # of a piece; longer sound is measured in several
_LINE_SECONDS = 0.5  # of sound behind each line: 2 Hz apart
_LOWEST_BAND_HZ, _BANDS_PER_OCTAVE = 35.0, 3
_BAND_LINES = 24  # of the transform of a piece in the narrowest band
_PEAK_SECONDS = 0.008  # that a knock lasts at least
_NEAR_PEAK = 0.25  # of the power at the peak
_PEAK_SHARE = 0.02  # of the time in which a band is at its peak level
_RATES_PER_OCTAVE = 12
_RATE_RANGE = (0.4, 500.0)  # per second
_STILL = 1e-6  # the least swing of power, relative to its mean
_FLOOR = 1e-15  # power; below the quantisation noise of 24 bits


@dataclass(frozen=True, slots=True)
class ConditionSpectrum:
    """Of one clip or of some snapshots together; levels in dB against a full-scale sine.

    NaN where the length does not resolve a band or a rhythm.
    """

    level_db: float
    windows: int  # that each line is the mean of
    hz: Decibels  # (lines,)
    lines_db: Decibels  # (lines,), mean power; a sine reads its level
    bands_db: Decibels  # (bands,), mean power
    peaks_db: Decibels  # (bands,), exceeded in two per cent of the time: knocks
    # (bands, rates): how strongly the band's power swings at each rate; at 0 dB it goes down to
    # nothing and up to twice the mean.
    rhythm_db: Decibels


class SpectrumMeter:
    """Measures sound of one sample rate. Threads may share it."""

    def __init__(self, sample_rate: int) -> None:
        self.sample_rate = sample_rate
        highest = sample_rate / 2
        bands = int(_BANDS_PER_OCTAVE * np.log2(highest / _LOWEST_BAND_HZ))
        # Third octaves, (bands + 1,) Hz, up to half the sample rate.
        self.edges = highest * 2.0 ** (np.arange(-bands, 1) / _BANDS_PER_OCTAVE)
        slowest, fastest = _RATE_RANGE
        rates = int(_RATES_PER_OCTAVE * np.log2(min(fastest, sample_rate / 16) / slowest))
        # The cells in which rhythms are compared, (rates + 1,) per second.
        self.rate_edges = slowest * 2.0 ** (np.arange(rates + 1) / _RATES_PER_OCTAVE)

    def of(self, pieces: Sequence[Floats]) -> ConditionSpectrum:
        """Of a clip (samples,), or of snapshots that are measured together."""
        parts = self._parts(pieces)
        size = min(len(parts[0]), round(_LINE_SECONDS * self.sample_rate))
        lines = [line_powers(part, size) for part in parts]
        bands = [self._bands(part) for part in parts]
        return ConditionSpectrum(
            level_db=float(decibels(np.mean([2 * np.mean(part**2) for part in parts]))),
            windows=sum(map(len, lines)),
            hz=np.linspace(0.0, (size // 2) * self.sample_rate / size, size // 2 + 1),
            lines_db=decibels(np.mean(np.concatenate(lines), axis=0)),
            bands_db=decibels(np.mean([band.power for band in bands], axis=0)),
            peaks_db=decibels(np.mean([band.peak for band in bands], axis=0)),
            rhythm_db=decibels(np.mean([band.rhythm for band in bands], axis=0), _STILL),
        )

    def line_spacing(self, pieces: Sequence[Floats]) -> float:
        """Hz from one line to the next, of `of`."""
        shortest = min(map(len, pieces)) & ~1
        return self.sample_rate / min(shortest, round(_LINE_SECONDS * self.sample_rate))

    def rate_spacing(self, pieces: Sequence[Floats]) -> float:
        """Per second from one line to the next, of `rhythm`."""
        longest = round(LONGEST_SECONDS * self.sample_rate)
        return self.sample_rate / (min(longest, *map(len, pieces)) & ~1)

    def rhythm(self, pieces: Sequence[Floats], band: int) -> tuple[Decibels, Decibels]:
        """Rates per second and strength in dB, (lines,) each: the fine spectrum of one envelope."""
        parts = self._parts(pieces)
        spacing = float(self.sample_rate / len(parts[0]))
        swings = [swing_power(self._envelope(part, band)) for part in parts]
        strength = decibels(np.mean(swings, axis=0), _STILL)
        return np.linspace(0.0, spacing * (len(strength) - 1), len(strength)), strength

    def busy_share(self, pieces: Sequence[Floats], band: int) -> float:
        """The share of the time in which a band is near its peak level: little where it knocks."""
        width = float(self.edges[band + 1] - self.edges[band])
        powers = [_smooth(self._envelope(part, band), width) for part in self._parts(pieces)]
        peaks = [np.quantile(power, 1 - _PEAK_SHARE) for power in powers]
        shares = [
            float(np.mean(power >= _NEAR_PEAK * peak))
            for power, peak in zip(powers, peaks, strict=True)
        ]
        return float(np.mean(shares))

    def _envelope(self, part: NDArray[np.float64], band: int) -> NDArray[np.float64]:
        low, high = self.edges[band : band + 2]
        return envelope_power(np.fft.rfft(part), low, high, self.sample_rate / len(part))

    def _parts(self, pieces: Sequence[Floats]) -> list[NDArray[np.float64]]:
        return equal_parts(pieces, round(LONGEST_SECONDS * self.sample_rate))

    def _bands(self, part: NDArray[np.float64]) -> _Bands:
        lines = np.fft.rfft(part)
        spacing = self.sample_rate / len(part)
        bands, rates = len(self.edges) - 1, len(self.rate_edges) - 1
        power, peak = np.full(bands, np.nan), np.full(bands, np.nan)
        rhythm = np.full((bands, rates), np.nan)
        for band, (low, high) in enumerate(pairwise(self.edges)):
            if high - low >= _BAND_LINES * spacing:
                envelope = envelope_power(lines, low, high, spacing)
                power[band], peak[band] = envelope.mean(), _peak(envelope, high - low)
                rhythm[band] = self._strongest(swing_power(envelope), spacing, (high - low) / 2)
        return _Bands(power, peak, rhythm)

    def _strongest(
        self, swing: NDArray[np.float64], spacing: float, fastest: float
    ) -> NDArray[np.float64]:
        """The strongest line of an envelope's spectrum in every cell of rates, (rates,)."""
        firsts = np.rint(self.rate_edges / spacing).astype(int)
        strength = np.full(len(firsts) - 1, np.nan)
        for cell, (first, last) in enumerate(pairwise(firsts)):
            if first >= PERIODS and self.rate_edges[cell + 1] <= fastest:
                strength[cell] = swing[first : max(last, first + 1)].max()
        return strength


@dataclass(frozen=True, slots=True)
class _Bands:
    """Of one piece, as power."""

    power: NDArray[np.float64]  # (bands,)
    peak: NDArray[np.float64]  # (bands,)
    rhythm: NDArray[np.float64]  # (bands, rates)


def equal_parts(pieces: Sequence[Floats], longest: int) -> list[NDArray[np.float64]]:
    """Parts of one length, at most `longest` samples, without any offset.

    The last part of a piece overlaps the one before.
    """
    size = min(longest, *(len(piece) for piece in pieces)) & ~1
    parts = []
    for piece in pieces:
        starts = np.linspace(0, len(piece) - size, -(-(len(piece) - 1) // size)).astype(int)
        parts += [np.asarray(piece[start : start + size], np.float64) for start in starts]
    return [part - part.mean() for part in parts]


def decibels(power: NDArray[np.float64] | np.floating, floor: float = _FLOOR) -> Decibels:
    """Of power; NaN stays NaN."""
    return np.asarray(10 * np.log10(np.maximum(power, floor)))


def line_powers(part: NDArray[np.float64], size: int) -> NDArray[np.float64]:
    """The power of each line in half-overlapping windows of `size` samples, (windows, lines)."""
    window = np.hanning(size)
    starts = range(0, len(part) - size + 1, max(1, size // 2))
    frames = np.stack([part[start : start + size] for start in starts]) * window
    # A full-scale sine reads 0 dB at its line.
    return np.asarray(np.abs(np.fft.rfft(frames)) ** 2 * (2 / window.sum()) ** 2)


def envelope_power(
    lines: NDArray[np.complex128], low: float, high: float, spacing: float
) -> NDArray[np.float64]:
    """The power of a band over time, from its lines alone, at twice the band's width.

    Half of the transformed lines are zero, which keeps the square free of aliases.
    """
    first, last = (round(edge / spacing) for edge in (low, high))
    samples = 2 * (len(lines) - 1)
    count = last - first
    envelope = np.fft.ifft(lines[first:last], 2 * count) * (2 * count) * 2 / samples
    return np.asarray(np.abs(envelope) ** 2)


def swing_power(power: NDArray[np.float64]) -> NDArray[np.float64]:
    """The spectrum of an envelope's power: 1 where it swings from nothing to twice the mean."""
    window = np.hanning(len(power))
    swing = (power / max(float(power.mean()), _FLOOR) - 1) * window
    return np.asarray(np.abs(np.fft.rfft(swing)) ** 2 * (2 / window.sum()) ** 2)


def _smooth(power: NDArray[np.float64], width: float) -> NDArray[np.float64]:
    """The power of a band of `width` Hz, averaged over as long as a knock lasts."""
    size = min(len(power), max(1, round(_PEAK_SECONDS * 2 * width)))
    sums = np.cumsum(np.concatenate([[0.0], power]))
    return np.asarray((sums[size:] - sums[:-size]) / size)


def _peak(power: NDArray[np.float64], width: float) -> float:
    """What the power of a band of `width` Hz exceeds in a few moments."""
    return float(np.quantile(_smooth(power, width), 1 - _PEAK_SHARE))

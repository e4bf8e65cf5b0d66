"""Spectra that a person reads line by line: of the sound, and of the envelope of one band.

Lines are half a hertz apart where the sound is long enough, so that those of a shaft, a bearing and
a gear can be told apart. What is shorter than two seconds has wider lines.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ssdpt.features.condition_spectrum import (
    LONGEST_SECONDS,
    Decibels,
    decibels,
    envelope_power,
    equal_parts,
    line_powers,
    swing_power,
)
from ssdpt.types import Floats

HIGHEST_RATE = 500.0  # per second, of an envelope
_LINE_SECONDS = 2.0  # of sound behind each line: half a hertz apart
_LOWEST_BAND_HZ = 125.0
_BAND_LINES = 64  # of the transform in a band whose knocks can be told
_STILL = 1e-6  # the least swing of power, relative to its mean

Band = tuple[float, float]  # Hz


@dataclass(frozen=True, slots=True)
class FineSpectrum:
    """Levels in dB, (lines,), from 0 Hz on."""

    spacing_hz: float
    levels_db: Decibels

    def up_to(self, hz: float, most: int) -> FineSpectrum:
        """As far as `hz`, in at most `most` lines: of each few the strongest, a peak stays."""
        levels = self.levels_db[: round(hz / self.spacing_hz) + 1]
        joined = -(-len(levels) // most)
        if joined > 1:
            padded = np.pad(levels, (0, -len(levels) % joined), constant_values=-np.inf)
            levels = padded.reshape(-1, joined).max(1)
        return FineSpectrum(self.spacing_hz * joined, levels)


def common_length(sounds: Sequence[Sequence[Floats]], sample_rate: int) -> int:
    """Samples of the parts in which several sounds have the same lines."""
    shortest = min(len(piece) for pieces in sounds for piece in pieces)
    return min(shortest, round(LONGEST_SECONDS * sample_rate)) & ~1


def fine_spectrum(pieces: Sequence[Floats], sample_rate: int, length: int) -> FineSpectrum:
    """The mean power of every line, against a full-scale sine; `length` of parts, in samples."""
    parts = equal_parts(pieces, length)
    size = min(len(parts[0]), round(_LINE_SECONDS * sample_rate) & ~1)
    powers = np.concatenate([line_powers(part, size) for part in parts])  # (windows, lines)
    return FineSpectrum(sample_rate / size, decibels(powers.mean(0)))


def envelope_spectrum(
    pieces: Sequence[Floats], sample_rate: int, length: int, band: Band
) -> FineSpectrum:
    """How strongly the power of a band swings at each rate, up to 500 per second.

    At 0 dB it goes down to nothing and up to twice the mean.
    """
    parts = equal_parts(pieces, length)
    spacing = float(sample_rate / len(parts[0]))
    swings = [swing_power(envelope_power(np.fft.rfft(part), *band, spacing)) for part in parts]
    levels = decibels(np.mean(swings, axis=0), _STILL)
    # A band of some width cannot swing faster than that.
    return FineSpectrum(spacing, levels).up_to(min(HIGHEST_RATE, band[1] - band[0]), len(levels))


def envelope_bands(sample_rate: int, samples: int) -> tuple[Band, ...]:
    """Octaves from 125 Hz to half the sample rate that `samples` of sound resolve."""
    spacing, high = sample_rate / samples, sample_rate / 2
    bands: list[Band] = []
    while high / 2 >= max(_LOWEST_BAND_HZ, _BAND_LINES * spacing):
        bands.insert(0, (high / 2, high))
        high /= 2
    return tuple(bands)


def most_impulsive(
    pieces: Sequence[Floats], sample_rate: int, length: int, bands: Sequence[Band]
) -> Band:
    """The band with the sharpest knocks: the highest kurtosis of its envelope."""
    parts = equal_parts(pieces, length)
    spacing = sample_rate / len(parts[0])
    transforms = [np.fft.rfft(part) for part in parts]

    def kurtosis(band: Band) -> float:
        powers = [envelope_power(lines, *band, spacing) for lines in transforms]
        return float(np.mean([np.mean(one**2) / max(one.mean() ** 2, 1e-30) for one in powers]))

    return max(bands, key=kurtosis)

"""Which bands of the spectrum an anomaly map points at, in Hz and as text."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ssdpt.types import Floats

_LEAST_SHARE = 0.05  # of what is unusual; less is not worth a line


@dataclass(frozen=True, slots=True)
class Band:
    """A band that stands out. `share`: its part of all that is unusual in the clip, 0 to 1."""

    low_hz: float
    high_hz: float
    share: float

    def __str__(self) -> str:
        return f"{hertz(self.low_hz)}–{hertz(self.high_hz)} ({100 * self.share:.0f} %)"


def top_bands(heat: Floats, frequencies: Floats, number: int = 3) -> tuple[Band, ...]:
    """The bands that an anomaly map (frames, bins) points at most, largest share first.

    A band reaches as far as the map, averaged over time, stays above half of the band's peak.
    Nothing stands out of a map that is the same at all frequencies.
    """
    profile = heat.mean(axis=0, dtype=np.float64)
    profile = np.maximum(profile - np.median(profile), 0.0)
    total = float(profile.sum())
    left = profile.copy()
    bands: list[Band] = []
    while len(bands) < number and total > 0:
        low, high = half_height(left)
        share = float(left[low : high + 1].sum()) / total
        if share < _LEAST_SHARE:
            break
        bands.append(Band(*edges(low, high, frequencies), share))
        left[_foot(left, low, -1) : _foot(left, high, 1) + 1] = 0.0
    return tuple(sorted(bands, key=lambda band: band.share, reverse=True))


def _foot(profile: np.ndarray, place: int, step: int) -> int:
    """Where the flank of a peak ends: the shoulder of one band is no band of its own."""
    while 0 <= place + step < len(profile) and 0 < profile[place + step] <= profile[place]:
        place += step
    return place


def half_height(profile: np.ndarray) -> tuple[int, int]:
    """First and last index of the stretch around the peak that stays above half of it."""
    peak = int(np.argmax(profile))
    below = np.flatnonzero(profile < profile[peak] / 2)
    before, after = below[below < peak], below[below > peak]
    return (
        int(before[-1]) + 1 if before.size else 0,
        int(after[0]) - 1 if after.size else len(profile) - 1,
    )


def edges(low: int, high: int, frequencies: Floats) -> tuple[float, float]:
    """The edges in Hz of the bins from `low` to `high`, whose centres are `frequencies`."""
    bins = np.arange(len(frequencies))
    first, last = np.interp([low - 0.5, high + 0.5], bins, frequencies)
    return float(first), float(last)


def hertz(value: float) -> str:
    """A frequency as a person writes it."""
    return f"{value:.0f} Hz" if value < 1000 else f"{value / 1000:.3g} kHz"

"""Where in time and frequency a fault is audible."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from ssdpt.data.simulator.timebase import SECONDS, Times


@dataclass(frozen=True, slots=True)
class Region:
    """A rectangle of the time–frequency plane: seconds from the clip's start, Hz."""

    start_s: float
    end_s: float
    low_hz: float
    high_hz: float


def regions(
    starts: Times, ends: Times, bands: Iterable[tuple[float, float]], gap_s: float = 0.03
) -> list[Region]:
    """One region per interval and band; intervals closer than `gap_s` are merged."""
    intervals: list[list[float]] = []
    for start, end in sorted(zip(starts.tolist(), ends.tolist(), strict=True)):
        start, end = max(0.0, start), min(SECONDS, end)
        if end <= start:
            continue
        if intervals and start - intervals[-1][1] <= gap_s:
            intervals[-1][1] = max(intervals[-1][1], end)
        else:
            intervals.append([start, end])
    return [
        Region(round(start, 3), round(end, 3), round(max(low, 0.0)), round(min(high, 8000.0)))
        for low, high in bands
        for start, end in intervals
    ]


def impacts(moments: Times, bands: Iterable[tuple[float, float]]) -> list[Region]:
    """The regions of impacts at `moments`: an impact rings for about 70 ms."""
    return regions(moments - 0.01, moments + 0.07, bands)


def throughout(bands: Iterable[tuple[float, float]]) -> list[Region]:
    """Regions that last the whole clip."""
    return regions(np.array([0.0]), np.array([SECONDS]), bands)


def coverage(areas: Sequence[Region], frames: int = 313, bins: int = 128) -> float:
    """The share of the mel map (`frames` × `bins`, 0–8000 Hz) inside any of the regions."""
    mel = np.linspace(0.0, _mel(8000.0), bins)
    time = np.linspace(0.0, SECONDS, frames)
    inside = np.zeros((frames, bins), dtype=bool)
    for region in areas:
        rows = (time >= region.start_s) & (time <= region.end_s)
        columns = (mel >= _mel(region.low_hz)) & (mel <= _mel(region.high_hz))
        inside |= rows[:, None] & columns
    return float(inside.mean())


def _mel(hz: float) -> float:
    """Slaney's mel scale: linear to 1 kHz, logarithmic above."""
    if hz < 1000.0:
        return hz * 3.0 / 200.0
    return float(15.0 + 27.0 * np.log(hz / 1000.0) / np.log(6.4))

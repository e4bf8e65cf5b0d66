"""Where in time and frequency a clip is anomalous."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.ndimage import uniform_filter1d

from ssdpt.scoring.bands import Band, edges, half_height, hertz, top_bands
from ssdpt.types import Floats, Recording

if TYPE_CHECKING:
    from ssdpt.detection.detector import Detector

LONGEST_SECONDS = 20.0
_SMOOTHING_SECONDS = 0.5


@dataclass(frozen=True, slots=True)
class Explanation:
    """Spectrogram and anomaly map of a clip, cut to the most anomalous 20 s if it is longer.

    `frames` and `heat` are (frames, bins): the spectrogram in dB and the anomaly map.
    `seconds` and `hertz` bound the most anomalous part, or are None if nothing is anomalous.
    """

    frames: Floats
    heat: Floats
    frequencies: Floats  # (bins,) Hz
    frame_seconds: float
    start: float  # seconds into the clip
    seconds: tuple[float, float] | None
    hertz: tuple[float, float] | None
    bands: tuple[Band, ...]  # with the largest contributions, strongest first

    @property
    def end(self) -> float:
        """Seconds into the clip."""
        return self.start + len(self.frames) * self.frame_seconds

    @property
    def peak_text(self) -> str:
        """Time and frequency range of the most anomalous part; empty if there is none."""
        if self.seconds is None or self.hertz is None:
            return ""
        begin, finish = self.seconds
        whole = finish - begin > 0.95 * (self.end - self.start)
        when = "throughout" if whole else f"{begin:.1f}–{finish:.1f} s"
        return f"{when}, {hertz(self.hertz[0])}–{hertz(self.hertz[1])}"

    @property
    def band_text(self) -> str:
        """The bands with the largest contributions and their shares; empty if there are none."""
        return ", ".join(str(band) for band in self.bands)


def explain(recording: Recording, detector: Detector) -> Explanation:
    """Compute spectrogram, anomaly map and their most anomalous part for one clip."""
    # Some systems add further features to each frame, after the spectrogram.
    frames = detector.frames(recording)[:, : len(detector.frequencies)]
    heat = detector.anomaly_map(recording, section=recording.section)
    step = detector.frame_seconds
    span = max(1, round(LONGEST_SECONDS / step))
    centre = int(np.argmax(heat.mean(axis=1)))
    first = int(np.clip(centre - span // 2, 0, max(0, len(frames) - span)))
    window = slice(first, first + span)
    start = first * step
    seconds, band = most_anomalous_range(heat[window], detector.frequencies, step)
    return Explanation(
        frames=frames[window],
        heat=heat[window],
        frequencies=detector.frequencies,
        frame_seconds=step,
        start=start,
        seconds=None if seconds is None else (start + seconds[0], start + seconds[1]),
        hertz=band,
        bands=top_bands(heat[window], detector.frequencies),
    )


def most_anomalous_range(
    heat: Floats, frequencies: Floats, frame_seconds: float
) -> tuple[tuple[float, float] | None, tuple[float, float] | None]:
    """Time range (s) and frequency range (Hz) of the peak of an anomaly map (frames, bins).

    The band is searched first, then the time within the band, smoothed over half a second so that
    a fluctuating tone is not cut into pieces. Each range ends where the map falls below half of its
    peak.
    """
    if not np.any(heat > 0):
        return None, None
    low, high = half_height(heat.mean(axis=0))
    smoothing = max(1, round(_SMOOTHING_SECONDS / frame_seconds))
    begin, end = half_height(uniform_filter1d(heat[:, low : high + 1].mean(axis=1), smoothing))
    return (begin * frame_seconds, (end + 1) * frame_seconds), edges(low, high, frequencies)

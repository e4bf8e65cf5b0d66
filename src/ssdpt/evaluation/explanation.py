"""Where in time and frequency one clip is odd, ready to be drawn and put into words."""

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
    """A clip and what is odd in it, cut to the loudest 20 s of the anomaly map if longer.

    `frames` and `heat` are (frames, bins): the spectrogram in dB and the anomaly map laid over it.
    `seconds` and `hertz` bound what stands out most, or are None where nothing does.
    """

    frames: Floats
    heat: Floats
    frequencies: Floats  # (bins,) Hz
    frame_seconds: float
    start: float  # seconds into the clip
    seconds: tuple[float, float] | None
    hertz: tuple[float, float] | None
    bands: tuple[Band, ...]  # that contribute most, strongest first

    @property
    def end(self) -> float:
        """Seconds into the clip."""
        return self.start + len(self.frames) * self.frame_seconds

    @property
    def place(self) -> str:
        """When and at which frequencies it stands out most, in words; empty where nowhere."""
        if self.seconds is None or self.hertz is None:
            return ""
        begin, finish = self.seconds
        whole = finish - begin > 0.95 * (self.end - self.start)
        when = "throughout" if whole else f"{begin:.1f}–{finish:.1f} s"
        return f"{when}, {hertz(self.hertz[0])}–{hertz(self.hertz[1])}"

    @property
    def band_words(self) -> str:
        """The bands that contribute most, with their share of what is odd; empty where none."""
        return ", ".join(str(band) for band in self.bands)


def explain(recording: Recording, detector: Detector) -> Explanation:
    """Compute the picture of one clip."""
    # Some systems hear more in a frame than a spectrogram, which then comes first.
    frames = detector.frames(recording.path)[:, : len(detector.frequencies)]
    heat = detector.anomaly_map(recording.path, section=recording.section)
    step = detector.frame_seconds
    span = max(1, round(LONGEST_SECONDS / step))
    centre = int(np.argmax(heat.mean(axis=1)))
    first = int(np.clip(centre - span // 2, 0, max(0, len(frames) - span)))
    window = slice(first, first + span)
    start = first * step
    seconds, band = stands_out(heat[window], detector.frequencies, step)
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


def stands_out(
    heat: Floats, frequencies: Floats, frame_seconds: float
) -> tuple[tuple[float, float] | None, tuple[float, float] | None]:
    """The seconds and the hertz around the strongest part of an anomaly map (frames, bins).

    The band is looked for first, the time then within the band, smoothed over half a second so
    that a steady tone is not cut at its flicker; each reaches as far as the map stays above half
    of its peak.
    """
    if not np.any(heat > 0):
        return None, None
    low, high = half_height(heat.mean(axis=0))
    smoothing = max(1, round(_SMOOTHING_SECONDS / frame_seconds))
    begin, end = half_height(uniform_filter1d(heat[:, low : high + 1].mean(axis=1), smoothing))
    return (begin * frame_seconds, (end + 1) * frame_seconds), edges(low, high, frequencies)

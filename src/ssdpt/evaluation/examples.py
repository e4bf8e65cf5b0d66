"""The clips worth looking at and listening to: the most anomalous of a machine."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import soundfile
import soxr
from scipy.ndimage import uniform_filter1d

from ssdpt.evaluation.clips import ScoredClip
from ssdpt.types import Floats

if TYPE_CHECKING:
    from ssdpt.detector import Detector

LONGEST_SECONDS = 20.0
_SMOOTHING_SECONDS = 0.5
_MP3_RATES = (8000, 11025, 12000, 16000, 22050, 24000, 32000, 44100, 48000)


@dataclass(frozen=True, slots=True)
class Example:
    """A clip with its picture and its sound, cut to the loudest 20 s of the anomaly map if longer.

    `frames` and `heat` are (frames, bins): the spectrogram in dB and the anomaly map laid over it.
    `seconds` and `hertz` bound what stands out most, or are None where nothing does.
    """

    clip: ScoredClip
    frames: Floats
    heat: Floats
    frequencies: Floats  # (bins,) Hz
    frame_seconds: float
    start: float  # seconds into the clip
    sound: bytes
    mime: str
    seconds: tuple[float, float] | None
    hertz: tuple[float, float] | None


def most_anomalous(clips: Sequence[ScoredClip], number: int) -> list[ScoredClip]:
    """The `number` least normal clips, first the smallest p-value, then the highest score."""
    return sorted(
        clips, key=lambda clip: (clip.score.p_value, clip.score.threshold - clip.score.value)
    )[:number]


def make_example(clip: ScoredClip, detector: Detector) -> Example:
    """Compute picture and sound of one clip."""
    path = clip.recording.path
    frames = detector.frames(path)
    heat = detector.anomaly_map(path, section=clip.recording.section)
    step = detector.frame_seconds
    span = max(1, round(LONGEST_SECONDS / step))
    centre = int(np.argmax(heat.mean(axis=1)))
    first = int(np.clip(centre - span // 2, 0, max(0, len(frames) - span)))
    window = slice(first, first + span)
    start = first * step
    rate = detector.sample_rate
    samples = detector.audio(path)[round(start * rate) : round((start + LONGEST_SECONDS) * rate)]
    sound, mime = compress(samples, rate)
    seconds, hertz = stands_out(heat[window], detector.frequencies, step)
    return Example(
        clip=clip,
        frames=frames[window],
        heat=heat[window],
        frequencies=detector.frequencies,
        frame_seconds=step,
        start=start,
        sound=sound,
        mime=mime,
        seconds=None if seconds is None else (start + seconds[0], start + seconds[1]),
        hertz=hertz,
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
    low, high = _half_height(heat.mean(axis=0))
    smoothing = max(1, round(_SMOOTHING_SECONDS / frame_seconds))
    begin, end = _half_height(uniform_filter1d(heat[:, low : high + 1].mean(axis=1), smoothing))
    bins = np.arange(len(frequencies))
    edges = np.interp([low - 0.5, high + 0.5], bins, frequencies)
    return (begin * frame_seconds, (end + 1) * frame_seconds), (float(edges[0]), float(edges[1]))


def _half_height(profile: Floats) -> tuple[int, int]:
    """First and last index of the stretch around the peak that stays above half of it."""
    peak = int(np.argmax(profile))
    below = np.flatnonzero(profile < profile[peak] / 2)
    before, after = below[below < peak], below[below > peak]
    return (
        int(before[-1]) + 1 if before.size else 0,
        int(after[0]) - 1 if after.size else len(profile) - 1,
    )


def compress(samples: Floats, rate: int) -> tuple[bytes, str]:
    """A small sound file for a web page and its media type; the level is raised to be audible.

    MP3 plays in every browser; where libsndfile was built without it, Ogg Vorbis.
    """
    peak = float(np.max(np.abs(samples), initial=0.0))
    audible = samples * (0.7 / peak) if peak > 0 else samples
    mp3 = "MP3" in soundfile.available_formats()
    if mp3 and rate not in _MP3_RATES:
        audible = soxr.resample(audible, rate, 48000)
        rate = 48000
    buffer = io.BytesIO()
    soundfile.write(buffer, audible, rate, format="MP3" if mp3 else "OGG")
    return buffer.getvalue(), "audio/mpeg" if mp3 else "audio/ogg"

"""Example clips of the report, with picture and sound: the most anomalous, and false alarms."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import soundfile
import soxr

from ssdpt.evaluation.clips import ScoredClip
from ssdpt.evaluation.explanation import Explanation, explain
from ssdpt.types import Floats

if TYPE_CHECKING:
    from ssdpt.detection.detector import Detector

_MP3_RATES = (8000, 11025, 12000, 16000, 22050, 24000, 32000, 44100, 48000)


@dataclass(frozen=True, slots=True)
class Example:
    """A scored clip with its spectrogram and its sound, of the same time range."""

    clip: ScoredClip
    explanation: Explanation
    sound: bytes
    mime: str


@dataclass(frozen=True, slots=True)
class Examples:
    """The clips of one machine that the report shows."""

    most_anomalous: tuple[Example, ...] = ()
    false_alarms: tuple[Example, ...] = ()  # further ones


def false_alarms(clips: Sequence[ScoredClip]) -> list[ScoredClip]:
    """Normal clips above the threshold, the most anomalous first."""
    alarms = [clip for clip in clips if clip.score.is_anomalous and not clip.is_faulty]
    return most_anomalous(alarms, len(alarms))


def most_anomalous(clips: Sequence[ScoredClip], number: int) -> list[ScoredClip]:
    """The `number` most anomalous clips: smallest p-value first, then highest score."""
    return sorted(
        clips, key=lambda clip: (clip.score.p_value, clip.score.threshold - clip.score.value)
    )[:number]


def make_example(clip: ScoredClip, detector: Detector) -> Example:
    """Compute explanation and sound of one clip."""
    explanation = explain(clip.recording, detector)
    rate = detector.sample_rate
    samples = detector.audio(clip.recording)
    sound, mime = compress(
        samples[round(explanation.start * rate) : round(explanation.end * rate)], rate
    )
    return Example(clip, explanation, sound, mime)


def compress(samples: Floats, rate: int) -> tuple[bytes, str]:
    """A small sound file for a web page and its media type; normalised to a peak of 0.7.

    MP3, which plays in every browser; Ogg Vorbis if libsndfile was built without MP3.
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

"""Example clips of the report, with picture and sound: the most anomalous, and false alarms."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ssdpt.data.compressed import compress
from ssdpt.evaluation.clips import ScoredClip
from ssdpt.evaluation.explanation import Explanation, explain

if TYPE_CHECKING:
    from ssdpt.detection.detector import Detector


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

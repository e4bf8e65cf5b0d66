"""Learns the normal sound of a machine whose model comes from elsewhere."""

from __future__ import annotations

from ssdpt.alarms.sound_reference import SoundReference
from ssdpt.features.condition_spectrum import ConditionSpectrum, SpectrumMeter
from ssdpt.monitor.capture.capture import AudioCapture
from ssdpt.monitor.learning.collector import CLIP_SECONDS, BaselineCollector

_CLIPS = 30  # five minutes


class SoundLearner:
    """Measures clips of the first minutes that are judged normal; no sound is kept."""

    def __init__(self, rate: int) -> None:
        self._meter = SpectrumMeter(rate)
        self._collector = BaselineCollector(_CLIPS, CLIP_SECONDS)
        self._spectra: list[ConditionSpectrum] = []

    def update(self, capture: AudioCapture, now: float, *, normal: bool) -> SoundReference | None:
        """After a second that was normal or not; the reference once it is learned."""
        self._collector.update(capture, now, running=normal)
        if self._collector.clips:
            self._spectra.append(self._meter.of([self._collector.clips.pop()]))
        if len(self._spectra) < _CLIPS:
            return None
        return SoundReference.of(self._spectra, capture.rate)

"""A machine learns its own baseline: normal sound is collected live, and a model fitted to it."""

from __future__ import annotations

import io
import os
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import soundfile

from ssdpt.alarms.operating_points import OperatingPoints
from ssdpt.config.settings import FeatureConfig
from ssdpt.config.tree import load_config
from ssdpt.detection.detector import Detector
from ssdpt.features.cache import kept_in
from ssdpt.features.logmel import LogMel
from ssdpt.features.loudness import Loudness
from ssdpt.monitor.capture.capture import AudioCapture
from ssdpt.types import Floats, Recording

MOST_CLIPS = 360  # an hour: more are spread over the time, not held in memory
_EDGE = 0.1  # seconds by which a clip may be shorter: recordings are cut by other clocks
FEWEST_CLIPS = 6  # a minute; what is learnt from less alarms at everything


@dataclass(slots=True)
class Learning:
    """Clips of normal sound, spread over the time asked for, only while the machine runs."""

    wanted: int  # clips
    clip_seconds: float
    every: float  # seconds from one clip to the next
    clips: list[Floats] = field(default_factory=list)
    _next: float | None = None  # time from which on another clip is wanted
    _began: float = 0.0  # since when it runs

    def listen(self, hearing: AudioCapture, now: float, *, runs: bool) -> bool:
        """Take the clip that has become whole; whether there are enough."""
        if not runs:
            self._next = None  # half a clip of a machine that stops is none
        elif self._next is None or now < self._next - self.every:
            # It begins, or the clock was set back; the second that has just ended counts.
            self._next, self._began = now, now - 1.0
        # Neither from before a stop nor over a gap, which is silence that nobody made.
        begin = max(self._began, hearing.begun)
        if (
            self._next is not None
            and now >= self._next
            and now - begin >= self.clip_seconds - _EDGE
        ):
            samples, _ = hearing.ring.between(now - self.clip_seconds, now)
            if len(samples) >= (self.clip_seconds - _EDGE) * hearing.rate:
                self.clips.append(np.array(samples))
                self._next = now + self.every
        return len(self.clips) >= self.wanted

    @property
    def seconds(self) -> float:
        """Of running so far."""
        return len(self.clips) * self.every

    @property
    def wanted_seconds(self) -> float:
        return self.wanted * self.every


def fit_baseline(clips: Sequence[Floats], rate: int, machine: str) -> Detector:
    """A model of these normal clips, (samples,) each. Nothing of the sound stays on disk."""
    # In memory where there is such a place: nothing is left on a disk even by a power cut.
    memory = Path("/dev/shm")
    place = memory if os.access(memory, os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="ssdpt-", dir=place) as folder:
        recordings = []
        for number, samples in enumerate(clips):
            path = Path(folder) / f"normal-{number:04d}.wav"
            soundfile.write(path, samples, rate, subtype="FLOAT")
            recordings.append(Recording(path, machine, "00", split="train", label="normal"))
        config = load_config("best", {"audio.sample_rate": rate, "device": "cpu"})
        with kept_in(Path(folder) / "features"):
            return Detector.fit(recordings, config=config)


def points_of(clips: Sequence[Floats], rate: int, detector: Detector) -> OperatingPoints | None:
    """The operating points that clips (samples,) show, of which `detector` has just been fitted.

    None where it cannot say how each of them scores: they are then learnt live.
    """
    scores = [score for group in detector.system.held_out_scores().values() for score in group]
    if len(scores) != len(clips):
        return None
    log_mel = LogMel(FeatureConfig(), rate)
    spectra = np.array([log_mel(clip).mean(0) for clip in clips])
    levels = np.array([Loudness.of(clip).dbfs for clip in clips])
    return OperatingPoints.learn(spectra, levels, np.array(scores))


def flac(samples: Floats, rate: int) -> bytes:
    """Sound (samples,) as a FLAC file, 16 bits."""
    file = io.BytesIO()
    soundfile.write(file, np.clip(samples, -1.0, 1.0), rate, format="FLAC", subtype="PCM_16")
    return file.getvalue()

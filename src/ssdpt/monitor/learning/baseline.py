"""A machine's own baseline: everything that is learned from its normal clips."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ssdpt.alarms.operating_points import UNKNOWN, OperatingPoints
from ssdpt.alarms.sound_reference import SoundReference
from ssdpt.alarms.speed_and_load import SpeedAndLoad
from ssdpt.config.tree import Config, load_config
from ssdpt.detection.detector import Detector
from ssdpt.features.front_end import FrontEnd
from ssdpt.features.indicators import IndicatorMeter
from ssdpt.features.loudness import Loudness
from ssdpt.features.rate import at_rate
from ssdpt.monitor.learning.references import References
from ssdpt.systems import system_class
from ssdpt.types import Clip, Floats

RATE = 16000  # Hz, of a machine without a model
_PRESET = "default"


@dataclass(frozen=True, slots=True)
class LearnedBaseline:
    """A model, the operating points, and what the machine is compared with at each of them."""

    detector: Detector
    points: OperatingPoints | None  # None: learned live, from scores
    references: References


def baseline_front_end(rate: int = RATE) -> FrontEnd:
    """What turns samples into frames while there is no model; the learned model has the same."""
    config = _config(rate)
    return system_class(config.system).front_end_of(config)


def learn_baseline(
    clips: Sequence[Floats],
    rate: int,
    machine: str,
    learned_at: float = 0.0,
    operations: Sequence[SpeedAndLoad] = (),
) -> LearnedBaseline:
    """Fit a model to normal clips, (samples,) each at `rate` Hz. No sound is written to disk.

    `operations`: speed and load at each clip, or nothing.
    """
    operations = list(operations) or [SpeedAndLoad()] * len(clips)
    detector = Detector.fit(
        [
            Clip(samples, rate, section="00", name=f"normal-{number:04d}")
            for number, samples in enumerate(clips)
        ],
        config=_config(rate),
        machine=machine,
    )
    front_end = detector.system.front_end
    log_mels = [_log_mel(samples, front_end) for samples in clips]
    points = _operating_points(clips, log_mels, operations, detector)
    numbers = [
        UNKNOWN if points is None else points.at(log_mel.mean(0), operation)
        for log_mel, operation in zip(log_mels, operations, strict=True)
    ]
    return LearnedBaseline(
        detector, points, _references(clips, log_mels, numbers, front_end, rate, learned_at)
    )


def _config(rate: int) -> Config:
    return at_rate(load_config(_PRESET, {"device": "cpu"}), rate)


def _log_mel(samples: Floats, front_end: FrontEnd) -> Floats:
    """(frames, mel bins) in dB, as live capture computes it."""
    return front_end(samples)[:, : front_end.mel_bins]


def _operating_points(
    clips: Sequence[Floats],
    log_mels: Sequence[Floats],
    operations: Sequence[SpeedAndLoad],
    detector: Detector,
) -> OperatingPoints | None:
    """None where the detector cannot tell how each clip of its own fit scores."""
    scores = [score for group in detector.system.held_out_scores().values() for score in group]
    if len(scores) != len(clips):
        return None
    return OperatingPoints.learn(
        np.array([log_mel.mean(0) for log_mel in log_mels]),
        np.array([Loudness.of(samples).dbfs for samples in clips]),
        np.array(scores),
        operations,
    )


def _references(
    clips: Sequence[Floats],
    log_mels: Sequence[Floats],
    numbers: Sequence[int],
    front_end: FrontEnd,
    rate: int,
    learned_at: float,
) -> References:
    """`numbers`: the operating point of each clip."""
    references = References()
    second = max(1, round(1 / front_end.frame_seconds))  # frames
    for samples, log_mel, number in zip(clips, log_mels, numbers, strict=True):
        references.samples[number] = samples
        for first in range(0, len(log_mel) - second + 1, second):
            references.spectrum.learn(log_mel[first : first + second].mean(0), number)
    meter = IndicatorMeter(rate, rate)
    steps = [
        meter.of(samples[first : first + rate])
        for samples in clips
        for first in range(0, len(samples) - rate + 1, rate)
    ]
    references.sound = SoundReference.learn(clips, rate)
    references.finish(steps, learned_at)
    return references

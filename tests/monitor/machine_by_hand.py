"""A machine whose seconds are given by hand, without threads and clocks."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np

from ssdpt.alarms.settings import AlarmSettings
from ssdpt.config.settings import DecisionConfig, FeatureConfig
from ssdpt.diagnosis.catalogue import BearingCatalogue
from ssdpt.features.indicators import IndicatorMeter
from ssdpt.features.logmel import LogMel
from ssdpt.features.loudness import Loudness
from ssdpt.monitor.capture.capture import AudioCapture
from ssdpt.monitor.config import MachineSettings
from ssdpt.monitor.messages import EventChanged, StateChanged
from ssdpt.monitor.scoring.live_model import LiveScore
from ssdpt.monitor.service.shaft import open_shaft
from ssdpt.monitor.service.status import machine_status
from ssdpt.monitor.service.stream_machine import StreamMonitor
from ssdpt.monitor.sources.base import SourceStatus
from ssdpt.monitor.sources.pushed_source import PushedSettings
from ssdpt.scoring.calibrate import fit_tail

RATE = 16000
SETTINGS = MachineSettings(
    id="pump",
    name="Pump",
    source=PushedSettings(),
    alarm=AlarmSettings(smoothing=1.0, min_duration=2.0, clear_after=3.0),
)


class Machine:
    """A machine whose seconds are given by hand."""

    def __init__(self, settings=SETTINGS, model=True):
        tail = fit_tail([np.random.default_rng(0).normal(0, 1, 200)], DecisionConfig(), 0)
        detector = SimpleNamespace(
            calibration=SimpleNamespace(tail=lambda section: tail),
            system_name="texture",
            fingerprint=("a", "b", "c"),
        )
        live = SimpleNamespace(detector=detector, clip_seconds=10.0) if model else None
        source = SimpleNamespace(status=SourceStatus(True, "plays", 0.0))
        self.log_mel = LogMel(FeatureConfig(), RATE)
        self.capture = AudioCapture("pump", source, self.log_mel, RATE, seconds=20.0)
        self.capture.last_chunk_at = float("inf")
        self.meter = IndicatorMeter(RATE, RATE)
        self.monitor = StreamMonitor(
            settings, self.capture, open_shaft(settings, BearingCatalogue.shipped()), live, "00"
        )
        self.now = 1000.0

    def frames(self, samples):
        """The log-mel of one second."""
        return self.log_mel(samples)[: round(1 / self.log_mel.frame_seconds)]

    def seconds(self, count, score=0.0, dbfs=-30.0, clipped=0.0, sound=None):
        """So many seconds like this, `score` one or a list of them; all messages."""
        messages = []
        scores = score if isinstance(score, list) else [score] * count
        for score, _ in zip(scores, self._captured(len(scores), dbfs, clipped, sound), strict=True):
            live_score = None if score is None else LiveScore(score, {"spectrum": score}, 0)
            messages += self.monitor.process(live_score)
            assert not self.monitor.due
        return messages

    def unscored(self, count, dbfs=-30.0, sound=None):
        """So many seconds that the model is not asked about; all messages."""
        messages = []
        for _ in self._captured(count, dbfs, 0.0, sound):
            messages += self.monitor.process(None, scored=False)
            assert not self.monitor.due
        return messages

    def skipped(self, count, dbfs=-30.0, sound=None):
        """So many seconds that nothing is done with."""
        for _ in self._captured(count, dbfs, 0.0, sound):
            self.monitor.look()
            assert not self.monitor.due

    def _captured(self, count, dbfs, clipped, sound):
        """Capture so many seconds, one after the other."""
        samples = np.full(RATE, 0.01, np.float32) if sound is None else sound
        frames, indicators = self.frames(samples), self.meter.of(samples)
        for _ in range(count):
            self.now += 1.0
            self.capture.samples.add(samples, self.now - 1)
            self.capture.log_mel.add(frames, self.now - 1)
            self.capture.indicators.append((self.now, indicators))
            self.capture.levels.append((self.now, Loudness(dbfs, clipped)))
            assert self.monitor.due
            yield

    @property
    def status(self):
        return machine_status(self.monitor, added_on_page=False)


def events(messages):
    return [message.event for message in messages if isinstance(message, EventChanged)]


def states(messages):
    return [message.state for message in messages if isinstance(message, StateChanged)]

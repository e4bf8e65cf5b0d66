"""A source on trial: opened so that a person sees whether the right sound arrives, then closed."""

from __future__ import annotations

import logging
import time as clock
from abc import abstractmethod
from collections import deque

import numpy as np

from ssdpt.common.background_thread import BackgroundThread
from ssdpt.config.settings import FeatureConfig
from ssdpt.errors import SsdptError
from ssdpt.features.logmel import LogMel
from ssdpt.features.loudness import Loudness
from ssdpt.monitor.capture.arrivals import Arrivals
from ssdpt.monitor.capture.ring import Ring
from ssdpt.monitor.capture.snapshot_spectrum import snapshot_spectrogram
from ssdpt.monitor.capture.spectrum import spectrogram
from ssdpt.monitor.config import MachineSettings, MonitorConfig
from ssdpt.monitor.learning.baseline import RATE
from ssdpt.monitor.messages import Spectrogram
from ssdpt.monitor.service.listening import SoundStream, listening
from ssdpt.monitor.setup_messages import TrialStatus
from ssdpt.monitor.sources import open_snapshots, open_source
from ssdpt.monitor.sources.base import SourceWithStatus
from ssdpt.monitor.sources.snapshot import Snapshot
from ssdpt.sentences import Sentence, said

_SECONDS_HELD = 60.0  # of sound, in memory alone
_SNAPSHOTS_HELD = 60
_LOG = logging.getLogger(__name__)


class Trial(BackgroundThread):
    """Reads one source on a thread of its own; what arrives is held in memory and never judged."""

    def __init__(self, id: str, settings: MachineSettings, source: SourceWithStatus) -> None:
        super().__init__(f"ssdpt-trial-{id}")
        self.id, self.settings, self.source = id, settings, source
        self._failure = ""

    @property
    def stream(self) -> SoundStream | None:
        """Its sound as it arrives; None: it sends snapshots."""
        return None

    def status(self, seconds: float, config: MonitorConfig) -> TrialStatus:
        """How it is doing, with a picture of the last seconds."""
        source = self.source.status
        return TrialStatus(
            id=self.id,
            connected=source.connected and not self._failure,
            message=self._failure or source.message,
            level_dbfs=self._level(),
            sample_rate=self._rate(),
            listening=listening(self, config),
            spectrogram=self._spectrogram(seconds),
        )

    def _run(self) -> None:
        try:
            self._read()
        except SsdptError as error:
            self._failure = said(error)
        except Exception as error:
            _LOG.exception("the trial of a source has ended")
            # The text of an error of a library might hold a password.
            self._failure = Sentence("service.trialFailed", error=type(error).__name__)

    @abstractmethod
    def _read(self) -> None:
        """Read the source until it shall end."""

    @abstractmethod
    def _level(self) -> float | None:
        """dBFS of the last second or snapshot; None before any."""

    @abstractmethod
    def _rate(self) -> int:
        """Hz of its sound, or of the last snapshot; 0 before any."""

    @abstractmethod
    def _spectrogram(self, seconds: float) -> Spectrogram:
        """A picture of the last seconds."""


class StreamTrial(Trial):
    """A source of sound without pauses."""

    def __init__(self, id: str, settings: MachineSettings) -> None:
        self.rate = settings.sensor.sample_rate or RATE
        self._source = open_source(settings.source, self.rate)
        super().__init__(id, settings, self._source)
        self._log_mel = LogMel(FeatureConfig(), self.rate)
        self.samples = Ring(_SECONDS_HELD, self.rate)
        self.in_files = settings.source.arrives_in_files
        self.arrivals = Arrivals(at_intervals=self.in_files)
        self.last_chunk_at = clock.monotonic()

    @property
    def stream(self) -> SoundStream | None:
        return self

    def _read(self) -> None:
        for chunk in self._source.chunks(self._stop):
            if chunk.gap > 0:
                self.samples.skip(chunk.gap)
            self.samples.add(chunk.samples, chunk.time)
            self.last_chunk_at = clock.monotonic()
            self.arrivals.note(self.last_chunk_at, len(chunk.samples) / self.rate)

    def _level(self) -> float | None:
        second, _ = self.samples.between(self.samples.end - 1.0, self.samples.end)
        return Loudness.of(second).dbfs if len(second) else None

    def _rate(self) -> int:
        return self.rate

    def _spectrogram(self, seconds: float) -> Spectrogram:
        end = self.samples.end
        samples, begin = self.samples.between(end - seconds, end)
        nothing = np.zeros((0, self._log_mel.bins), np.float32)
        frames = self._log_mel(samples) if len(samples) else nothing
        return spectrogram(frames, begin, self._log_mel.frequencies, self._log_mel.frame_seconds)


class SnapshotTrial(Trial):
    """A source of short measurements."""

    def __init__(self, id: str, settings: MachineSettings) -> None:
        self._source = open_snapshots(settings.source, settings.sensor)
        super().__init__(id, settings, self._source)
        self._snapshots: deque[Snapshot] = deque(maxlen=_SNAPSHOTS_HELD)

    def _read(self) -> None:
        for snapshot in self._source.snapshots(self._stop):
            if isinstance(snapshot, Snapshot):
                self._snapshots.append(snapshot)

    def _level(self) -> float | None:
        snapshots = list(self._snapshots)
        return Loudness.of(snapshots[-1].samples).dbfs if snapshots else None

    def _rate(self) -> int:
        snapshots = list(self._snapshots)
        return snapshots[-1].sample_rate if snapshots else 0

    def _spectrogram(self, seconds: float) -> Spectrogram:
        return snapshot_spectrogram(list(self._snapshots), "", seconds)

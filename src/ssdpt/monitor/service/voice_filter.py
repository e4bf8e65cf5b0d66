"""Cuts voices out of what is stored and played, where the configuration wants it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

import numpy as np

from ssdpt.monitor.capture.voice import (
    DEFAULT_THRESHOLD,
    LiveVoiceFilter,
    SoundWithoutVoices,
    VoiceNetwork,
    learn_threshold,
    without_voices,
)
from ssdpt.monitor.config import RetentionSettings
from ssdpt.monitor.service.machine_values import MachineValues
from ssdpt.types import Floats

_THRESHOLD = "voice_threshold"


class VoiceFilter:
    """One network for all machines, and a threshold for each."""

    def __init__(self, retention: Callable[[], RetentionSettings], values: MachineValues) -> None:
        """SsdptError where voices are to be dropped and there is no detector."""
        self._retention, self._values = retention, values
        self._network: VoiceNetwork | None = None
        self._lock = threading.Lock()
        self.require(retention())

    def require(self, retention: RetentionSettings) -> None:
        """Load the detector where these settings need it; SsdptError if there is none."""
        if retention.drop_speech:
            self._loaded()

    def cleaned(self, machine: str, samples: Floats, rate: int) -> SoundWithoutVoices:
        """The sound (n,) or (n, channels) of a machine as it may be stored and played.

        A voice in one channel is dropped from all.
        """
        if not self._retention().drop_speech:
            return SoundWithoutVoices.untouched(samples, rate)
        network, threshold = self._loaded(), self._threshold(machine)
        if samples.ndim == 1:
            return without_voices(network, samples, rate, threshold)
        channels = [without_voices(network, channel, rate, threshold) for channel in samples.T]
        silent = np.any([one.removed for one in channels], axis=0)
        return SoundWithoutVoices.of(samples, silent, rate)

    def live(self, machine: str | None, rate: int) -> LiveVoiceFilter | None:
        """For the sound of a machine as it arrives; None where voices stay.

        `machine` None: a source of which nothing was learned yet.
        """
        if not self._retention().drop_speech:
            return None
        return LiveVoiceFilter(self._loaded(), rate, self._threshold(machine))

    def learn(self, machine: str, clips: Sequence[Floats], rate: int) -> None:
        """Learn from normal clips, (samples,) each, how much like a voice the machine sounds."""
        if self._retention().drop_speech and clips:
            self._values.set(machine, _THRESHOLD, learn_threshold(self._loaded(), clips, rate))

    def _threshold(self, machine: str | None) -> float:
        threshold = None if machine is None else self._values.get(machine, _THRESHOLD)
        return DEFAULT_THRESHOLD if threshold is None else float(threshold)

    def _loaded(self) -> VoiceNetwork:
        with self._lock:
            if self._network is None:
                self._network = VoiceNetwork()
            return self._network

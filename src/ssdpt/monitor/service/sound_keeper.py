"""Keeps the last minutes of a machine's sound when someone wants them."""

from __future__ import annotations

import secrets
import threading
import time as clock
from collections.abc import Callable

from ssdpt.data.audio import flac_bytes
from ssdpt.errors import SsdptError
from ssdpt.monitor.config import RetentionSettings
from ssdpt.monitor.messages import KeptRecording
from ssdpt.monitor.service.registry import MachineRegistry
from ssdpt.monitor.service.voice_filter import VoiceFilter
from ssdpt.monitor.store import Store
from ssdpt.sentences import Sentence


class SoundKeeper:
    """From the sound in memory to a recording in the store."""

    def __init__(
        self,
        machines: MachineRegistry,
        store: Store,
        voices: VoiceFilter,
        retention: Callable[[], RetentionSettings],
    ) -> None:
        self._machines, self._store, self._voices = machines, store, voices
        self._retention = retention
        self._lock = threading.Lock()  # one at a time is encoded, to bound memory

    def keep(self, id: str, minutes: float, who: str, note: str) -> KeptRecording:
        """Keep the last minutes of sound, or as much as there is."""
        capture = self._machines.stream(id).capture
        retention = self._retention()
        if not retention.keep_audio:
            raise SsdptError(Sentence("machines.noSoundKept"))
        if not retention.recent_minutes:
            raise SsdptError(Sentence("machines.noSoundHeld"))
        with self._lock:
            end = capture.recent.end
            samples, begin = capture.recent.between(end - 60 * minutes, end)
            if not len(samples):
                raise SsdptError(Sentence("machines.noSoundYet", id=id))
            sound = self._voices.cleaned(id, samples, capture.rate)
            content = flac_bytes(sound.samples, capture.rate)
            recording = KeptRecording(
                id=secrets.token_hex(16),
                machine=id,
                begin=begin,
                end=end,
                who=who,
                at=clock.time(),
                note=note,
                bytes=len(content),
                sample_rate=capture.rate,
                voice_seconds=sound.removed_seconds,
            )
        self._store.keep_recording(recording, content, ".flac")
        return recording

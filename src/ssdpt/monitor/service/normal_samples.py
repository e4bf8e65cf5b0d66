"""Some seconds of normal sound of each machine, kept to compare with."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from ssdpt.data.audio import flac_bytes
from ssdpt.errors import SsdptError
from ssdpt.monitor.service.jobs import JobQueue
from ssdpt.monitor.service.stream_machine import StreamMonitor
from ssdpt.monitor.store import Store


class NormalSamples:
    """The normal sample of a machine, in memory and, across restarts, in the store."""

    def __init__(self, store: Store, jobs: JobQueue, keep_audio: Callable[[], bool]) -> None:
        self._store, self._jobs, self._keep_audio = store, jobs, keep_audio
        self._stored: dict[str, float] = {}  # when the baseline was learned, by machine

    def flac(self, machine: StreamMonitor) -> bytes:
        """As a FLAC file; that of before the last start, until there is a new one."""
        sample = machine.normal.sample
        stored = self._store.sample(machine.id)
        if not self._keep_audio() or (sample is None and stored is None):
            raise SsdptError(f"machine {machine.id}: there is no normal sound to compare with yet")
        if sample is not None:
            return flac_bytes(sample, machine.capture.rate)
        assert stored is not None
        return stored.read_bytes()

    def store_due(self, machine: StreamMonitor) -> None:
        """Store it in the background, once for each baseline."""
        learned_at = machine.references.learned_at
        new = learned_at is not None and learned_at != self._stored.get(machine.id)
        if new and machine.references.samples:
            self.store_later(machine)

    def store_later(self, machine: StreamMonitor) -> None:
        """Store it in the background."""
        failure = f"{machine.settings.title}: its normal sound was not kept"
        self._jobs.submit(failure, partial(self.store, machine))

    def store(self, machine: StreamMonitor) -> None:
        """Store it now."""
        sample, learned_at = machine.normal.sample, machine.references.learned_at
        if learned_at is not None:
            self._stored[machine.id] = learned_at
        if sample is not None and self._keep_audio():
            content = flac_bytes(np.asarray(sample), machine.capture.rate)
            self._store.keep_sample(machine.id, content, ".flac")

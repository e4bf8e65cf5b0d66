"""Some seconds of normal sound of each machine, kept to compare with."""

from __future__ import annotations

import io
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import soundfile

from ssdpt.data.audio import flac_bytes
from ssdpt.errors import SsdptError
from ssdpt.monitor.service.jobs import JobQueue
from ssdpt.monitor.service.machine import MachineMonitor
from ssdpt.monitor.service.snapshot_machine import SnapshotMonitor
from ssdpt.monitor.service.stream_machine import StreamMonitor
from ssdpt.monitor.service.voice_filter import VoiceFilter
from ssdpt.monitor.store import Store
from ssdpt.sentences import Sentence
from ssdpt.types import Floats

_MOST_CHANNELS = 8  # that a FLAC file can hold


class NormalSamples:
    """The normal sample of a machine, in memory and, across restarts, in the store.

    Of a sensor with several axes all are stored; the one that has changed most is given out.
    """

    def __init__(
        self, store: Store, jobs: JobQueue, voices: VoiceFilter, keep_audio: Callable[[], bool]
    ) -> None:
        self._store, self._jobs, self._voices = store, jobs, voices
        self._keep_audio = keep_audio
        self._stored: dict[str, float] = {}  # when the baseline was learned, by machine

    def flac(self, machine: MachineMonitor) -> bytes:
        """As a FLAC file; that of before the last start, until there is a new one."""
        content = self._encoded(machine) if self._keep_audio() else None
        stored = self._store.sample(machine.id)
        if self._keep_audio() and content is None and stored is not None:
            content = self._read(machine, stored)
        if content is None:
            raise SsdptError(Sentence("machines.noNormalSound", id=machine.id))
        return content

    def store_due(self, machine: StreamMonitor) -> None:
        """Store it in the background, once for each baseline."""
        learned_at = machine.references.learned_at
        new = learned_at is not None and learned_at != self._stored.get(machine.id)
        if new and machine.references.samples:
            self.store_later(machine)

    def store_later(self, machine: MachineMonitor) -> None:
        """Store it in the background."""
        failure = Sentence("service.sampleNotKept", machine=machine.settings.title)
        self._jobs.submit(failure, partial(self.store, machine))

    def store(self, machine: MachineMonitor) -> None:
        """Store it now."""
        if isinstance(machine, StreamMonitor) and machine.references.learned_at is not None:
            self._stored[machine.id] = machine.references.learned_at
        if not self._keep_audio():
            return
        content = self._encoded(machine, all_axes=True)
        if content is not None:
            self._store.keep_sample(machine.id, content, ".flac")

    def _encoded(self, machine: MachineMonitor, *, all_axes: bool = False) -> bytes | None:
        """The sample in memory as a FLAC file; None where there is none."""
        sample = _sample(machine, all_axes=all_axes)
        if sample is None:
            return None
        return self._without_voices(machine, *sample)

    def _read(self, machine: MachineMonitor, stored: Path) -> bytes | None:
        """The stored sample; of snapshots the axis that is shown, None where it is of others.

        It may be from before voices were to be cut out.
        """
        samples, rate = soundfile.read(io.BytesIO(stored.read_bytes()), dtype="float32")
        if isinstance(machine, SnapshotMonitor):
            if machine.judge is None:
                return None
            samples = samples.reshape(len(samples), -1)
            form = machine.judge.form
            axes = min(len(form.axes), _MOST_CHANNELS)
            if (samples.shape[1], rate) != (axes, form.sample_rate) or machine.shown_row >= axes:
                return None
            samples = samples[:, machine.shown_row]
        return self._without_voices(machine, samples, rate)

    def _without_voices(self, machine: MachineMonitor, samples: Floats, rate: int) -> bytes:
        return flac_bytes(self._voices.cleaned(machine.id, samples, rate).samples, rate)


def _sample(machine: MachineMonitor, *, all_axes: bool) -> tuple[Floats, int] | None:
    """The sample in memory, (n,) or (n, axes), and its rate in Hz; None where there is none."""
    if isinstance(machine, StreamMonitor):
        sample = machine.normal.sample
        return None if sample is None else (np.asarray(sample), machine.capture.rate)
    assert isinstance(machine, SnapshotMonitor)
    if machine.judge is None or machine.normal.sample is None:
        return None
    rows = machine.normal.sample[:_MOST_CHANNELS]
    samples = rows.T if all_axes else machine.normal.sample[machine.shown_row]
    return samples, machine.judge.form.sample_rate

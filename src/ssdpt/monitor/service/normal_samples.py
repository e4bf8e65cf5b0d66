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
from ssdpt.monitor.store import Store

_MOST_CHANNELS = 8  # that a FLAC file can hold


class NormalSamples:
    """The normal sample of a machine, in memory and, across restarts, in the store.

    Of a sensor with several axes all are stored; the one that has changed most is given out.
    """

    def __init__(self, store: Store, jobs: JobQueue, keep_audio: Callable[[], bool]) -> None:
        self._store, self._jobs, self._keep_audio = store, jobs, keep_audio
        self._stored: dict[str, float] = {}  # when the baseline was learned, by machine

    def flac(self, machine: MachineMonitor) -> bytes:
        """As a FLAC file; that of before the last start, until there is a new one."""
        content = _encoded(machine) if self._keep_audio() else None
        stored = self._store.sample(machine.id)
        if self._keep_audio() and content is None and stored is not None:
            content = _read(machine, stored)
        if content is None:
            raise SsdptError(f"machine {machine.id}: there is no normal sound to compare with yet")
        return content

    def store_due(self, machine: StreamMonitor) -> None:
        """Store it in the background, once for each baseline."""
        learned_at = machine.references.learned_at
        new = learned_at is not None and learned_at != self._stored.get(machine.id)
        if new and machine.references.samples:
            self.store_later(machine)

    def store_later(self, machine: MachineMonitor) -> None:
        """Store it in the background."""
        failure = f"{machine.settings.title}: its normal sound was not kept"
        self._jobs.submit(failure, partial(self.store, machine))

    def store(self, machine: MachineMonitor) -> None:
        """Store it now."""
        if isinstance(machine, StreamMonitor) and machine.references.learned_at is not None:
            self._stored[machine.id] = machine.references.learned_at
        if not self._keep_audio():
            return
        content = _encoded(machine, all_axes=True)
        if content is not None:
            self._store.keep_sample(machine.id, content, ".flac")


def _encoded(machine: MachineMonitor, *, all_axes: bool = False) -> bytes | None:
    """The sample in memory as a FLAC file; None where there is none."""
    if isinstance(machine, StreamMonitor):
        sample = machine.normal.sample
        return None if sample is None else flac_bytes(np.asarray(sample), machine.capture.rate)
    assert isinstance(machine, SnapshotMonitor)
    if machine.judge is None or machine.normal_sample is None:
        return None
    rows = machine.normal_sample[:_MOST_CHANNELS]
    samples = rows.T if all_axes else machine.normal_sample[machine.shown_row]
    return flac_bytes(samples, machine.judge.form.sample_rate)


def _read(machine: MachineMonitor, stored: Path) -> bytes | None:
    """The stored sample; of snapshots the axis that is shown, None where it is of others."""
    content = stored.read_bytes()
    if not isinstance(machine, SnapshotMonitor):
        return content
    if machine.judge is None:
        return None
    samples, rate = soundfile.read(io.BytesIO(content), dtype="float32", always_2d=True)
    form = machine.judge.form
    axes = min(len(form.axes), _MOST_CHANNELS)
    if (samples.shape[1], rate) != (axes, form.sample_rate) or machine.shown_row >= axes:
        return None
    return flac_bytes(samples[:, machine.shown_row], rate)

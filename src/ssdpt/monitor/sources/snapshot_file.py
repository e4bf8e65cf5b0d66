"""Recordings that are snapshots: one in a file, or many end to end."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ssdpt.data import audio
from ssdpt.data.sensor import sensor_of
from ssdpt.errors import SsdptError
from ssdpt.monitor.config import SensorSettings
from ssdpt.monitor.sources.snapshot import Snapshot, to_full_scale
from ssdpt.sentences import Sentence
from ssdpt.types import Floats


@dataclass(frozen=True, slots=True, eq=False)
class SnapshotFile:
    """A recording that has been read."""

    samples: Floats  # (axes, samples) of all snapshots
    sample_rate: int  # Hz
    axes: tuple[str, ...]
    length: int  # samples of one snapshot
    every: float  # seconds from the start of one to that of the next

    @classmethod
    def read(
        cls,
        path: Path,
        sensor: SensorSettings,
        snapshot: float | None = None,
        every: float | None = None,
    ) -> SnapshotFile:
        """All channels at their own rate; SsdptError where they cannot be read.

        `snapshot` (seconds of one) and `every` replace what `sensor.yaml` beside the file says;
        where neither says it, the file is one snapshot.
        """
        info, layout = audio.probe(path), sensor_of(path)
        snapshot, every = snapshot or layout.snapshot, every or layout.every
        length = info.frames if snapshot is None else max(1, round(snapshot * info.sample_rate))
        if length > info.frames:
            seconds = round(info.seconds, 2)
            raise SsdptError(
                Sentence("snapshots.fileTooShort", path=path, seconds=seconds, snapshot=snapshot)
            )
        samples = np.stack([_channel(path, info, number) for number in range(info.channels)])
        if info.unit:
            samples = to_full_scale(samples * np.float32(info.full_scale), info.unit, sensor)
        return cls(samples, info.sample_rate, info.axes, length, every or length / info.sample_rate)

    @property
    def count(self) -> int:
        """Whole snapshots; what is left over at the end is none."""
        return self.samples.shape[1] // self.length

    @property
    def span(self) -> float:
        """Seconds from the start of the first to the end of the last."""
        return (self.count - 1) * self.every + self.length / self.sample_rate

    def snapshots(self, begin: float) -> Iterator[Snapshot]:
        """All of them; `begin` is the time of the first sample."""
        for number in range(self.count):
            samples = self.samples[:, number * self.length : (number + 1) * self.length]
            yield Snapshot(samples, self.sample_rate, begin + number * self.every, self.axes)


def _channel(path: Path, info: audio.AudioInfo, number: int) -> Floats:
    """One channel; a dead one as zeros, so that the axis is named."""
    try:
        return audio.read(path, info.sample_rate, number)
    except audio.AudioError as error:
        if error.problem != "silent":
            raise
        return np.zeros(info.frames, np.float32)

"""Snapshots: short measurements taken at intervals, by one or several axes of one sensor."""

from __future__ import annotations

import threading
from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ssdpt.data.sensor import conversion
from ssdpt.errors import SsdptError
from ssdpt.monitor.config import SensorSettings, SourceSettings
from ssdpt.monitor.sources.base import SourceWithStatus
from ssdpt.monitor.sources.clock import SYSTEM, Clock
from ssdpt.sentences import Sentence
from ssdpt.types import Floats, Unit


@dataclass(frozen=True, slots=True, eq=False)
class Snapshot:
    """One measurement. It is judged as a whole and never joined with the next."""

    samples: Floats  # (axes, samples), a sample of 1 means the sensor's full scale
    sample_rate: int  # Hz, that of the sensor: nothing is resampled
    time: float  # of the first sample, seconds since 1970
    axes: tuple[str, ...] = ()  # names of the axes; empty where the sender gives none

    @property
    def seconds(self) -> float:
        """Its length."""
        return self.samples.shape[1] / self.sample_rate

    @property
    def end(self) -> float:
        """Time of the end of its last sample."""
        return self.time + self.seconds


@dataclass(frozen=True, slots=True)
class Unusable:
    """Something arrived that is no snapshot, or none that can be used."""

    reason: str  # a sentence


class SnapshotSource(SourceWithStatus):
    """Snapshots as they arrive, in order of time.

    A kind of source that gives snapshots beside a stream of sound names the class as the
    `snapshot_class` of its `Source`; one that gives snapshots alone is itself of this class.
    """

    def __init__(
        self, settings: SourceSettings, sensor: SensorSettings, clock: Clock = SYSTEM
    ) -> None:
        super().__init__(settings, clock)
        self.sensor = sensor

    @abstractmethod
    def snapshots(self, stop: threading.Event) -> Iterator[Snapshot | Unusable]:
        """Snapshots until `stop` is set. Blocks while it waits.

        What cannot be read as a snapshot is given as `Unusable`. The values of those that can are
        checked by the machine: a source need not look for dead axes or wrong units. Raises
        SsdptError where trying again cannot help.
        """

    @abstractmethod
    def probe(self, timeout: float) -> str:
        """Open it for a moment, for a check; what was found, for people.

        Raises SourceLost or SsdptError where it cannot be opened; `timeout` in seconds.
        """


def to_full_scale(values: Floats, unit: Unit, sensor: SensorSettings) -> Floats:
    """Values in `unit` (empty: the sensor's own) as samples of which 1 means its full scale."""
    factor = conversion(unit or sensor.unit, sensor.unit)
    if factor is None:
        if not sensor.unit:
            raise SsdptError(Sentence("snapshots.noUnit", unit=unit))
        raise SsdptError(Sentence("snapshots.otherUnit", unit=unit, own=sensor.unit))
    return values * np.float32(factor / sensor.scale)

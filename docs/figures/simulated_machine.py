"""Clips of one simulated machine, made in memory: healthy ones to learn, others to judge."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from ssdpt.data.simulator import ClipName, clip
from ssdpt.data.simulator.catalogue import MACHINES
from ssdpt.data.simulator.timebase import RATE
from ssdpt.detection.detector import Detector
from ssdpt.types import Clip, Label, Split

_SECTION = "00"
_FIRST = datetime(2026, 1, 1)  # of recordings an hour apart: each clip is one of its own


@dataclass(frozen=True, slots=True)
class SimulatedMachine:
    """One machine of the simulated plant; `preset` says how difficult its sound is."""

    kind: str
    preset: str

    def fit(self, count: int) -> Detector:
        """A detector that has learned from so many healthy clips."""
        return Detector.fit(self.healthy("train", count), machine=self.kind)

    def healthy(self, split: Split, count: int) -> list[Clip]:
        """So many healthy clips of ten seconds; those of another split are others."""
        return self._clips(split, "normal", range(count))

    def faulty(self, count: int, fault: str = "") -> list[Clip]:
        """So many faulty clips: of this fault, or of all faults in turn."""
        faults = MACHINES[self.kind].faults
        if not fault:
            return self._clips("test", "anomaly", range(count))
        first, step = faults.index(fault), len(faults)  # faults take turns
        return self._clips("test", "anomaly", range(first, first + step * count, step))

    def _clips(self, split: Split, label: Label, numbers: range) -> list[Clip]:
        names = [ClipName(self.kind, int(_SECTION), "source", split, label, n) for n in numbers]
        return [
            Clip(
                clip(name, preset=self.preset).samples,
                RATE,
                section=_SECTION,
                name=f"{_FIRST + timedelta(hours=name.index):%Y-%m-%d_%H-%M-%S}",
            )
            for name in names
        ]

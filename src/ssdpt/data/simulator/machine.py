"""The base class of all simulated machine types; an object is one specimen of its type."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from ssdpt.data.simulator.region import Region
from ssdpt.data.simulator.resonance import Casing
from ssdpt.data.simulator.timebase import PADDED, Wave
from ssdpt.types import Domain


@dataclass(frozen=True, slots=True)
class SpeedAndLoad:
    """How the machine runs in one clip. `speed` has the unit of its type, `load` starts at 1."""

    speed: int
    load: int

    @property
    def attributes(self) -> tuple[tuple[str, str], ...]:
        """Names and values as written into the clip's file name."""
        return (("speed", str(self.speed)), ("load", str(self.load)))


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong with the machine. `severity` is from 0 (inaudible) to 1 (obvious)."""

    name: str
    severity: float

    @property
    def gain(self) -> float:
        """Amplitude of the fault's sound relative to the impacts of healthy operation."""
        return float(10.0 ** ((-18.0 + 26.0 * self.severity) / 20.0))


@dataclass(slots=True)
class Take:
    """The sound of one specimen in one clip, without the room: (PADDED,) samples each."""

    healthy: Wave = field(default_factory=lambda: np.zeros(PADDED, dtype=np.float32))
    faulty: Wave = field(default_factory=lambda: np.zeros(PADDED, dtype=np.float32))
    regions: list[Region] = field(default_factory=list)
    tones_hz: list[float] = field(default_factory=list)  # of the fault
    rates: list[float] = field(default_factory=list)  # per second; how often the fault comes


class Machine(ABC):
    """One specimen. Each section is a specimen with its own design, mounting and wear."""

    name: ClassVar[str]
    faults: ClassVar[tuple[str, ...]]
    speeds: ClassVar[Mapping[Domain, tuple[int, ...]]]
    loads: ClassVar[Mapping[Domain, tuple[int, ...]]] = {"source": (1, 2, 3), "target": (2, 4)}
    mode_hz: ClassVar[tuple[float, ...]]
    decay_s: ClassVar[float] = 0.02

    def __init__(self, section: int, rng: np.random.Generator) -> None:
        self.section = section
        self.casing = Casing(rng, section, self.mode_hz, self.decay_s)

    @classmethod
    def operating_point(cls, domain: Domain, rng: np.random.Generator) -> SpeedAndLoad:
        """A random operating point of that domain."""
        return SpeedAndLoad(
            speed=int(rng.choice(cls.speeds[domain])), load=int(rng.choice(cls.loads[domain]))
        )

    @abstractmethod
    def run(self, point: SpeedAndLoad, fault: Fault | None, rng: np.random.Generator) -> Take:
        """Run the specimen for one clip, with the fault if there is one."""

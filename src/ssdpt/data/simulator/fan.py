"""An axial fan behind a wire guard: blade-pass tones, flow noise, a guard that ticks."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from ssdpt.data.simulator.machine import Fault, Machine, SpeedAndLoad, Take
from ssdpt.data.simulator.noise import noise, turbulence, wander
from ssdpt.data.simulator.region import impacts, regions, throughout
from ssdpt.data.simulator.rotor import Rotor
from ssdpt.data.simulator.timebase import SECONDS


class Fan(Machine):
    """Speed in revolutions per minute."""

    name = "fan"
    faults = ("bearing", "imbalance", "rub", "loose_guard")
    speeds: ClassVar = {"source": (840, 960, 1080), "target": (1260, 1440)}
    mode_hz = (600.0, 770.0, 1000.0, 1290.0, 1660.0, 2140.0, 2760.0, 3570.0, 4600.0)

    def __init__(self, section: int, rng: np.random.Generator) -> None:
        super().__init__(section, rng)
        self.blades = (5, 7, 9)[section % 3]
        self.turns_per_tick = (4, 5, 7)[section % 3]

    def run(self, point: SpeedAndLoad, fault: Fault | None, rng: np.random.Generator) -> Take:
        take = Take()
        rotor = Rotor(rng, point.speed / 60.0 * rng.uniform(0.985, 1.015))
        tone = 0.5 * 10.0 ** (rng.normal(0.0, 2.0) / 20.0)
        take.healthy += rotor.harmonics(self.blades, [tone / k**1.3 for k in range(1, 7)])
        take.healthy += rotor.harmonics(1, [0.15, 0.1, 0.05])
        flow = noise(rng, turbulence(rng, (3.0, 5.0), 60.0))
        take.healthy += flow * wander(rng, 1.0, 1.0) * np.float32(0.5 + 0.2 * point.load)
        ticks = rotor.moments(1.0 / self.turns_per_tick, rng.uniform())
        stiffness = 1.0
        if fault is not None:
            stiffness = self._add_fault(take, rotor, fault, rng)
        if stiffness != 1.0:
            take.regions += impacts(ticks, self.casing.bands(self.casing.mount, stiffness))
            take.rates.append(rotor.hz / self.turns_per_tick)
        mount = self.casing.mount
        take.healthy += self.casing.ring(rng, ticks, 2.0, mount, stiffness=stiffness)
        return take

    def _add_fault(self, take: Take, rotor: Rotor, fault: Fault, rng: np.random.Generator) -> float:
        """Add the fault's sound; return the remaining stiffness of the casing, 1 = all of it."""
        gains = self.casing.defect(rng)
        match fault.name:
            case "bearing":
                # A pitted outer race is hit hard only while the loaded rollers pass it.
                hits = rotor.moments(3.1, rng.uniform())
                load = np.clip(np.sin(2 * np.pi * 0.08 * rotor.at(hits)), 0.0, 1.0) ** 6
                take.faulty += self.casing.ring(rng, hits, 2.0 * fault.gain * load, gains)
                take.regions += impacts(hits[load > 0.25], self.casing.bands(gains))
                take.rates += [3.1 * rotor.hz, 0.08 * rotor.hz]
            case "imbalance":
                # The whole fan sways once per revolution and knocks against its feet.
                take.faulty += rotor.harmonics(1, [0.5 * fault.gain, 0.2 * fault.gain])
                knocks = rotor.moments(1.0 / 9.0, rng.uniform())
                take.faulty += self.casing.ring(rng, knocks, 2.2 * fault.gain, gains)
                take.regions += throughout([(0.6 * rotor.hz, 2.4 * rotor.hz)])
                take.tones_hz += [rotor.hz, 2.0 * rotor.hz]
                take.rates += [rotor.hz / 9.0]
                take.regions += impacts(knocks, self.casing.bands(gains))
            case "rub":
                starts = np.sort(rng.uniform(0.0, SECONDS, int(rng.integers(8, 16))))
                ends = starts + rng.uniform(0.1, 0.35, starts.size)
                take.faulty += self.casing.rub(rng, starts, ends, 2.0 * fault.gain, gains)
                take.regions += regions(starts, ends, self.casing.bands(gains))
            case "loose_guard":
                return 1.0 - 0.25 * fault.severity
        return 1.0

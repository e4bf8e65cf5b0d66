"""A piston pump: pressure pulses, liquid in the pipe, a check valve that claps at each stroke."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from ssdpt.data.simulator.machine import Fault, Machine, SpeedAndLoad, Take
from ssdpt.data.simulator.noise import noise, turbulence
from ssdpt.data.simulator.region import impacts, regions
from ssdpt.data.simulator.rotor import Rotor


class Pump(Machine):
    """Speed in strokes per minute."""

    name = "pump"
    faults = ("cavitation", "leak", "worn_valve", "bearing", "clogged")
    speeds: ClassVar = {"source": (130, 150, 170), "target": (110, 200)}
    mode_hz = (480.0, 620.0, 800.0, 1030.0, 1330.0, 1710.0, 2210.0, 2850.0, 3680.0)

    def __init__(self, section: int, rng: np.random.Generator) -> None:
        super().__init__(section, rng)
        self.cylinders = (1, 2, 3)[section % 3]
        self.pulse = float(rng.uniform(0.25, 0.4))
        self.motor = float(rng.uniform(8.5, 11.5))

    def run(self, point: SpeedAndLoad, fault: Fault | None, rng: np.random.Generator) -> Take:
        take = Take()
        crank = Rotor(rng, point.speed / 60.0 * rng.uniform(0.985, 1.015))
        hum = 0.3 * 10.0 ** (rng.normal(0.0, 2.0) / 20.0)
        take.healthy += crank.harmonics(self.motor * 4, [hum / k for k in range(1, 6)])
        liquid = noise(rng, turbulence(rng, (3.0, 5.0), 100.0))
        depth = self.pulse + 0.03 * point.load
        take.healthy += liquid * crank.modulation(self.cylinders, depth)
        claps = crank.moments(self.cylinders, rng.uniform())
        strengths = np.full(claps.size, 2.0)
        stiffness = 1.0
        if fault is not None:
            stiffness = self._add_fault(take, crank, fault, claps, strengths, rng)
        mount = self.casing.mount
        take.healthy += self.casing.ring(rng, claps, strengths, mount, stiffness=stiffness)
        return take

    def _add_fault(
        self,
        take: Take,
        crank: Rotor,
        fault: Fault,
        claps: np.ndarray,
        strengths: np.ndarray,
        rng: np.random.Generator,
    ) -> float:
        """Add the fault's sound, weaken the claps in place; return the remaining stiffness."""
        gains = self.casing.defect(rng)
        bands = self.casing.bands(gains)
        match fault.name:
            case "cavitation":
                # On each suction stroke, dozens of bubbles collapse against the casing.
                starts = crank.moments(1.0, rng.uniform())
                count = rng.poisson(4 + 12 * fault.severity, starts.size)
                hits = np.repeat(starts, count) + rng.uniform(0.0, 0.14, int(count.sum()))
                force = 0.9 * fault.gain * rng.exponential(1.0, hits.size)
                take.faulty += self.casing.ring(rng, hits, force, gains)
                take.regions += regions(starts, starts + 0.18, bands)
                take.rates += [crank.hz]
            case "leak":
                # The jet lasts while the stroke builds up pressure, and makes the pipes ring.
                starts = crank.moments(1.0, rng.uniform())
                ends = starts + 0.3 / crank.hz
                take.faulty += self.casing.rub(rng, starts, ends, 1.6 * fault.gain, gains)
                take.regions += regions(starts, ends, bands)
                take.rates += [crank.hz]
            case "worn_valve":
                # The plate bounces and hits its seat a second time.
                fallen = claps[rng.uniform(size=claps.size) < 0.5]
                again = fallen + rng.uniform(0.07, 0.13) + rng.normal(0.0, 0.01, fallen.size)
                take.faulty += self.casing.ring(rng, again, 2.4 * fault.gain, gains)
                take.regions += impacts(again, bands)
            case "bearing":
                hits = crank.moments(self.motor, rng.uniform())
                zone = np.clip(np.sin(2 * np.pi * crank.at(hits) * 0.55), 0.0, 1.0) ** 6
                take.faulty += self.casing.ring(rng, hits, 2.4 * fault.gain * zone, gains)
                take.regions += impacts(hits[zone > 0.3], bands)
                take.rates += [self.motor * crank.hz, 0.55 * crank.hz]
            case "clogged":
                # The plate no longer seats: its clap is dull and lower in pitch.
                strengths *= 1.0 - 0.6 * fault.severity * rng.uniform(size=claps.size)
                stiffness = 1.0 - 0.25 * fault.severity
                take.regions += impacts(claps, self.casing.bands(self.casing.mount, stiffness))
                take.rates += [self.cylinders * crank.hz]
                return stiffness
        return 1.0

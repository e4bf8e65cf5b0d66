"""A one-stage gearbox: mesh tones with sidebands, and a casing that rings with each revolution."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from ssdpt.data.simulator.machine import Fault, Machine, SpeedAndLoad, Take
from ssdpt.data.simulator.noise import noise, turbulence, wander
from ssdpt.data.simulator.region import impacts, regions
from ssdpt.data.simulator.rotor import Rotor


class Gearbox(Machine):
    """Speed in revolutions per minute of the input shaft."""

    name = "gearbox"
    faults = ("tooth_crack", "wear", "bearing", "scuffing", "loose_mount")
    speeds: ClassVar = {"source": (300, 345, 390), "target": (255, 450)}
    mode_hz = (520.0, 670.0, 870.0, 1120.0, 1440.0, 1860.0, 2400.0, 3090.0, 3990.0)

    def __init__(self, section: int, rng: np.random.Generator) -> None:
        super().__init__(section, rng)
        self.teeth = (19, 23, 29)[section % 3]
        self.ratio = (2.4, 1.9, 1.5)[section % 3]
        self.sideband = float(rng.uniform(0.15, 0.3))

    def run(self, point: SpeedAndLoad, fault: Fault | None, rng: np.random.Generator) -> Take:
        take = Take()
        shaft = Rotor(rng, point.speed / 60.0 * rng.uniform(0.985, 1.015))
        level = (0.25 + 0.06 * point.load) * 10.0 ** (rng.normal(0.0, 2.0) / 20.0)
        mesh = shaft.harmonics(self.teeth, [level / k**0.7 for k in range(1, 9)])
        depth, stiffness = self.sideband, 1.0
        if fault is not None:
            depth, stiffness = self._add_fault(take, shaft, fault, rng)
        take.healthy += mesh * shaft.modulation(1.0 / self.ratio, depth)
        take.healthy += noise(rng, turbulence(rng, (3.0, 5.0), 80.0)) * wander(rng, 1.0, 1.0)
        # The run-out of the wheel unloads the teeth once per revolution; then they knock together.
        knocks = shaft.moments(1.0 / self.ratio, rng.uniform())
        mount = self.casing.mount
        take.healthy += self.casing.ring(rng, knocks, 2.0, mount, stiffness=stiffness)
        if stiffness != 1.0:
            take.regions += impacts(knocks, self.casing.bands(mount, stiffness))
            take.rates.append(shaft.hz / self.ratio)
        return take

    def _add_fault(
        self, take: Take, shaft: Rotor, fault: Fault, rng: np.random.Generator
    ) -> tuple[float, float]:
        """Add the fault's sound; return the mesh modulation and the remaining stiffness."""
        gains = self.casing.defect(rng)
        bands = self.casing.bands(gains)
        match fault.name:
            case "tooth_crack":
                hits = shaft.moments(0.25, rng.uniform())
                take.faulty += self.casing.ring(rng, hits, 2.8 * fault.gain, gains)
                take.regions += impacts(hits, bands)
                take.rates += [0.25 * shaft.hz]
            case "wear":
                # Worn flanks beat: the mesh tone swells and fades, and scrapes while it swells.
                swells = shaft.moments(0.2, rng.uniform())
                ends = swells + 1.0 / shaft.hz
                take.faulty += self.casing.rub(rng, swells, ends, 1.6 * fault.gain, gains)
                take.regions += regions(swells, ends, bands)
                take.rates += [0.2 * shaft.hz, shaft.hz / self.ratio]
                return self.sideband + 0.5 * fault.severity, 1.0
            case "bearing":
                hits = shaft.moments(4.6, rng.uniform())
                zone = np.clip(np.sin(2 * np.pi * shaft.at(hits) * 0.2), 0.0, 1.0) ** 6
                take.faulty += self.casing.ring(rng, hits, 2.0 * fault.gain * zone, gains)
                take.regions += impacts(hits[zone > 0.3], bands)
                take.rates += [4.6 * shaft.hz, 0.2 * shaft.hz]
            case "scuffing":
                starts = shaft.moments(1.0 / self.ratio, rng.uniform())
                starts = starts[rng.uniform(size=starts.size) < 0.6]
                ends = starts + rng.uniform(0.06, 0.16, starts.size)
                take.faulty += self.casing.rub(rng, starts, ends, 2.0 * fault.gain, gains)
                take.regions += regions(starts, ends, bands)
                take.rates += [shaft.hz / self.ratio]
            case "loose_mount":
                return self.sideband, 1.0 - 0.25 * fault.severity
        return self.sideband, 1.0

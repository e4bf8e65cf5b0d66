"""A toy car on a test bench: a whining brushed motor, plastic gears, ticking wheels."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from ssdpt.data.simulator.machine import Fault, Machine, SpeedAndLoad, Take
from ssdpt.data.simulator.noise import noise, turbulence, wander
from ssdpt.data.simulator.region import impacts, regions, throughout
from ssdpt.data.simulator.rotor import Rotor


class ToyCar(Machine):
    """Speed in tenths of a volt at the motor."""

    name = "ToyCar"
    faults = ("loose_wheel", "bent_shaft", "chipped_gear", "voltage_ripple", "tangle")
    speeds: ClassVar = {"source": (28, 31, 34), "target": (25, 40)}
    mode_hz = (640.0, 830.0, 1070.0, 1370.0, 1770.0, 2290.0, 2950.0, 3800.0, 4910.0)

    def __init__(self, section: int, rng: np.random.Generator) -> None:
        super().__init__(section, rng)
        self.reduction = (9.0, 11.0, 13.0)[section % 3]
        self.ticks_per_turn = (0.5, 1.0 / 3.0, 2.0 / 3.0)[section % 3]
        self.pinion = (8, 10, 12)[section % 3]

    def run(self, point: SpeedAndLoad, fault: Fault | None, rng: np.random.Generator) -> Take:
        take = Take()
        ripple = 0.0
        if fault is not None and fault.name == "voltage_ripple":
            ripple = 0.12 * fault.severity
        wheel = Rotor(
            rng,
            point.speed * 0.18 * rng.uniform(0.985, 1.015),
            flutter=0.008,
            ripple_hz=rng.uniform(1.5, 3.0),
            ripple=ripple,
        )
        whine = 0.35 * 10.0 ** (rng.normal(0.0, 2.0) / 20.0)
        motor = wheel.harmonics(self.reduction * 3, [whine, 0.6 * whine, 0.4 * whine])
        motor += wheel.harmonics(self.reduction * self.pinion, [whine, 0.5 * whine])
        depth = 0.15
        stiffness = 1.0
        if fault is not None:
            depth, stiffness = self._add_fault(take, wheel, fault, rng)
        take.healthy += motor * wheel.modulation(1.0, depth)
        brushes = noise(rng, turbulence(rng, (2.0, 4.0), 150.0)) * wander(rng, 2.0, 1.0)
        take.healthy += brushes * np.float32(0.7 + 0.1 * point.load)
        ticks = wheel.moments(self.ticks_per_turn, rng.uniform())
        mount = self.casing.mount
        take.healthy += self.casing.ring(rng, ticks, 2.0, mount, stiffness=stiffness)
        if stiffness != 1.0:
            take.regions += impacts(ticks, self.casing.bands(mount, stiffness))
        return take

    def _add_fault(
        self, take: Take, wheel: Rotor, fault: Fault, rng: np.random.Generator
    ) -> tuple[float, float]:
        """Add the fault's sound; return the modulation of the whine and the remaining stiffness."""
        gains = self.casing.defect(rng)
        bands = self.casing.bands(gains)
        match fault.name:
            case "loose_wheel":
                hits = wheel.moments(0.35, rng.uniform())
                hits = hits + rng.normal(0.0, 0.02, hits.size)
                force = rng.exponential(1.8 * fault.gain, hits.size)
                take.faulty += self.casing.ring(rng, hits, force, gains)
                take.regions += impacts(hits, bands)
                return 0.15, 1.0 - 0.1 * fault.severity
            case "bent_shaft":
                # The bent shaft binds once per revolution: the gears are loaded and rub.
                starts = wheel.moments(0.25, rng.uniform())
                ends = starts + 0.7 / wheel.hz
                take.faulty += self.casing.rub(rng, starts, ends, 1.6 * fault.gain, gains)
                take.regions += regions(starts, ends, bands)
                take.rates += [0.25 * wheel.hz, wheel.hz]
                return 0.15 + 0.6 * fault.severity, 1.0
            case "chipped_gear":
                hits = wheel.moments(0.45, rng.uniform())
                take.faulty += self.casing.ring(rng, hits, 2.4 * fault.gain, gains)
                take.regions += impacts(hits, bands)
                take.rates += [0.45 * wheel.hz]
            case "voltage_ripple":
                # With a pulsing voltage the gear train hammers through its backlash.
                hits = wheel.moments(0.3, rng.uniform())
                take.faulty += self.casing.ring(rng, hits, 2.6 * fault.gain, gains)
                take.regions += impacts(hits, bands)
                take.rates += [0.3 * wheel.hz]
                tone = self.reduction * 3 * wheel.hz
                take.regions += throughout([(0.85 * tone, 1.15 * tone)])
                take.tones_hz.append(tone)
            case "tangle":
                starts = wheel.moments(0.3, rng.uniform())
                starts = starts[rng.uniform(size=starts.size) < 0.7]
                ends = starts + rng.uniform(0.08, 0.25, starts.size)
                take.faulty += self.casing.rub(rng, starts, ends, 2.0 * fault.gain, gains)
                take.regions += regions(starts, ends, bands)
        return 0.15, 1.0

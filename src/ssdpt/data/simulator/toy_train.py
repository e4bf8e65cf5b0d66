"""A toy train on a loop of rails: rolling noise, a small motor, axles clacking over joints."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from ssdpt.data.simulator.machine import Fault, Machine, SpeedAndLoad, Take
from ssdpt.data.simulator.noise import noise, turbulence, wander
from ssdpt.data.simulator.region import impacts, regions
from ssdpt.data.simulator.rotor import Rotor
from ssdpt.data.simulator.timebase import Times


class ToyTrain(Machine):
    """Speed in millimetres per second; a rail is 170 mm long, a wheel turns once in 60 mm."""

    name = "ToyTrain"
    faults = ("raised_joint", "flat_wheel", "derailing", "loose_coupling", "worn_axle")
    speeds: ClassVar = {"source": (250, 285, 320), "target": (215, 380)}
    mode_hz = (550.0, 710.0, 920.0, 1180.0, 1520.0, 1960.0, 2530.0, 3270.0, 4220.0)

    def __init__(self, section: int, rng: np.random.Generator) -> None:
        super().__init__(section, rng)
        self.wheelbase = (0.2, 0.33, 0.45)[section % 3]
        self.rails = (8, 10, 12)[section % 3]

    def run(self, point: SpeedAndLoad, fault: Fault | None, rng: np.random.Generator) -> Take:
        take = Take()
        # One revolution of this shaft is one rail passed.
        track = Rotor(rng, point.speed / 170.0 * rng.uniform(0.985, 1.015), flutter=0.01)
        curve = track.modulation(2.0 / self.rails, 0.25)
        rolling = noise(rng, turbulence(rng, (3.0, 5.0), 80.0)) * wander(rng, 2.0, 1.0)
        take.healthy += rolling * curve * np.float32(0.7 + 0.1 * point.load)
        whine = 0.3 * 10.0 ** (rng.normal(0.0, 2.0) / 20.0)
        take.healthy += track.harmonics(170.0 / 60.0 * 14.0, [whine, 0.6 * whine, 0.3 * whine])
        first = track.moments(1.0)
        second = track.moments(1.0, -self.wheelbase)
        stiffness = 1.0
        if fault is not None:
            stiffness = self._add_fault(take, track, fault, first, rng)
        mount = self.casing.mount
        take.healthy += self.casing.ring(rng, first, 2.0, mount, stiffness=stiffness)
        take.healthy += self.casing.ring(rng, second, 1.6, mount, stiffness=stiffness)
        if stiffness != 1.0:
            clacks = np.concatenate([first, second])
            take.regions += impacts(clacks, self.casing.bands(mount, stiffness))
            take.rates += [track.hz, 2.0 * track.hz]
        return take

    def _add_fault(
        self, take: Take, track: Rotor, fault: Fault, first: Times, rng: np.random.Generator
    ) -> float:
        """Add the fault's sound; return the remaining stiffness."""
        gains = self.casing.defect(rng)
        bands = self.casing.bands(gains)
        match fault.name:
            case "raised_joint":
                # Every vehicle of the train hits the one joint that protrudes.
                joint = first[int(rng.integers(3)) :: 3]
                hits = (joint[:, None] + np.arange(3) * 0.14 + 0.02).ravel()
                take.faulty += self.casing.ring(rng, hits, 2.8 * fault.gain, gains)
                take.regions += impacts(hits, bands)
                take.rates += [track.hz / 3.0, 1.0 / 0.14]
            case "flat_wheel":
                every = track.moments(170.0 / 60.0, rng.uniform())
                turns = int(rng.integers(2, 4))
                hits = every[::turns]
                take.faulty += self.casing.ring(rng, hits, 2.4 * fault.gain, gains)
                take.regions += impacts(hits, bands)
                take.rates += [170.0 / 60.0 * track.hz / turns]
            case "derailing":
                starts = track.moments(0.5, rng.uniform())
                ends = starts + rng.uniform(0.1, 0.4, starts.size)
                take.faulty += self.casing.rub(rng, starts, ends, 1.8 * fault.gain, gains)
                take.regions += regions(starts, ends, bands)
                take.rates += [0.5 * track.hz]
            case "loose_coupling":
                hits = first + rng.uniform(0.15, 0.25, first.size)
                hits = np.concatenate([hits, hits + 0.08])
                take.faulty += self.casing.ring(rng, hits, 1.8 * fault.gain, gains)
                take.regions += impacts(hits, bands)
                take.rates += [track.hz]
            case "worn_axle":
                return 1.0 - 0.25 * fault.severity
        return 1.0

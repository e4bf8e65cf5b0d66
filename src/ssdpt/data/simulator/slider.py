"""A slide on a rail: it runs back and forth, rollers tick over joints, end stops knock."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from ssdpt.data.simulator.machine import Fault, Machine, SpeedAndLoad, Take
from ssdpt.data.simulator.noise import bursts, noise, turbulence
from ssdpt.data.simulator.region import impacts, regions
from ssdpt.data.simulator.rotor import Rotor
from ssdpt.data.simulator.timebase import Times, Wave


class Slider(Machine):
    """Speed in hundredths of a cycle per second; a cycle is one way there and back."""

    name = "slider"
    faults = ("rail_dent", "stick_slip", "belt_squeal", "loose_stop", "dry_rail")
    speeds: ClassVar = {"source": (55, 62, 70), "target": (48, 80)}
    mode_hz = (580.0, 750.0, 970.0, 1250.0, 1610.0, 2070.0, 2670.0, 3450.0, 4450.0)

    def __init__(self, section: int, rng: np.random.Generator) -> None:
        super().__init__(section, rng)
        self.joints = np.array([(0.3, 0.7), (0.15, 0.5, 0.85), (0.5,)][section % 3])

    def run(self, point: SpeedAndLoad, fault: Fault | None, rng: np.random.Generator) -> Take:
        take = Take()
        drive = Rotor(rng, point.speed / 100.0 * rng.uniform(0.985, 1.015))
        pace = np.abs(np.sin(2 * np.pi * drive.turns)).astype(np.float32)
        rolling = noise(rng, turbulence(rng, (3.0, 5.0), 80.0))
        take.healthy += rolling * (0.25 + pace * np.float32(0.8 + 0.1 * point.load))
        whine = 0.25 * 10.0 ** (rng.normal(0.0, 2.0) / 20.0)
        take.healthy += drive.harmonics(180.0, [whine, 0.5 * whine, 0.3 * whine]) * pace
        stops = drive.moments(2.0)
        ticks = self.passes(drive, self.joints)
        stiffness = 1.0
        if fault is not None:
            stiffness = self._add_fault(take, drive, pace, fault, stops, rng)
        mount = self.casing.mount
        take.healthy += self.casing.ring(rng, stops, 2.6, mount, stiffness=stiffness)
        take.healthy += self.casing.ring(rng, ticks, 1.6, mount, stiffness=stiffness)
        return take

    @staticmethod
    def passes(drive: Rotor, places: np.ndarray) -> Times:
        """When the slide passes `places` (0 one stop, 1 the other), going there and coming back."""
        going = np.arccos(1.0 - 2.0 * places) / (2.0 * np.pi)
        times = [drive.moments(1.0, -turn) for turn in np.concatenate([going, 1.0 - going])]
        return np.sort(np.concatenate(times))

    def _add_fault(
        self,
        take: Take,
        drive: Rotor,
        pace: Wave,
        fault: Fault,
        stops: Times,
        rng: np.random.Generator,
    ) -> float:
        """Add the fault's sound; return the remaining stiffness."""
        gains = self.casing.defect(rng)
        bands = self.casing.bands(gains)
        match fault.name:
            case "rail_dent":
                hits = self.passes(drive, rng.uniform(0.1, 0.9, 2))
                take.faulty += self.casing.ring(rng, hits, 3.2 * fault.gain, gains)
                take.regions += impacts(hits, bands)
                take.rates += [drive.hz, 4.0 * drive.hz]
            case "stick_slip":
                # Before each stop the slide sticks and jumps instead of gliding.
                step = rng.uniform(0.05, 0.08)
                hits = (stops[:, None] - 0.08 - step * np.arange(6)).ravel()
                hits = hits[hits > 0.0]
                take.faulty += self.casing.ring(rng, hits, 1.7 * fault.gain, gains)
                take.regions += impacts(hits, bands)
                take.rates += [2.0 * drive.hz, 1.0 / step]
            case "belt_squeal":
                starts = drive.moments(2.0, -0.3)
                starts = starts[rng.uniform(size=starts.size) < 0.7]
                ends = starts + rng.uniform(0.2, 0.3) / drive.hz
                gate = bursts(starts, ends, 0.04)
                for mode in np.flatnonzero(gains > 0.5):
                    pitch = Rotor(rng, float(self.casing.hz[mode]), flutter=0.01)
                    squeal = pitch.harmonics(1.0, [1.0]) * gate
                    take.faulty += squeal * np.float32(0.8 * fault.gain * gains[mode])
                take.regions += regions(starts, ends, bands)
            case "loose_stop":
                again = stops + rng.uniform(0.08, 0.14)
                take.faulty += self.casing.ring(rng, again, 1.6 * fault.gain, gains)
                stiffness = 1.0 - 0.25 * fault.severity
                moved = self.casing.bands(self.casing.mount, stiffness)
                struck = np.concatenate([stops, self.passes(drive, self.joints)])
                take.regions += impacts(again, bands) + impacts(struck, moved)
                take.rates += [2.0 * drive.hz]
                return stiffness
            case "dry_rail":
                middle = drive.moments(2.0, -0.5)
                half = rng.uniform(0.04, 0.1, middle.size) / drive.hz
                rub = self.casing.rub(rng, middle - half, middle + half, 1.6 * fault.gain, gains)
                take.faulty += rub * pace
                take.regions += regions(middle - half, middle + half, bands)
                take.rates += [2.0 * drive.hz]
        return 1.0

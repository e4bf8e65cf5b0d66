"""A solenoid valve: it clicks open and shut in rhythm, and gas flows in between."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from ssdpt.data.simulator.machine import Fault, Machine, SpeedAndLoad, Take
from ssdpt.data.simulator.noise import bursts, noise, turbulence
from ssdpt.data.simulator.region import impacts, regions
from ssdpt.data.simulator.rotor import Rotor
from ssdpt.data.simulator.timebase import Times


class Valve(Machine):
    """Speed in cycles of the switching programme per minute."""

    name = "valve"
    faults = ("late", "missed", "leak", "bounce", "contamination")
    speeds: ClassVar = {"source": (48, 54, 60), "target": (42, 70)}
    mode_hz = (680.0, 880.0, 1130.0, 1460.0, 1880.0, 2430.0, 3130.0, 4040.0, 5210.0)

    def __init__(self, section: int, rng: np.random.Generator) -> None:
        super().__init__(section, rng)
        self.programme = np.array([(0.0, 0.5), (0.0, 0.3, 0.6), (0.0, 0.25)][section % 3])
        self.open_share = 0.14

    def run(self, point: SpeedAndLoad, fault: Fault | None, rng: np.random.Generator) -> Take:
        take = Take()
        clock = Rotor(rng, point.speed / 60.0 * rng.uniform(0.99, 1.01), flutter=0.001)
        start = rng.uniform()
        opens = np.sort(np.concatenate([clock.moments(1.0, start - at) for at in self.programme]))
        opens = opens + rng.normal(0.0, 0.004, opens.size)
        shuts = opens + self.open_share / clock.hz
        strengths = np.full(opens.size, 2.4)
        stiffness = 1.0
        if fault is not None:
            stiffness = self._add_fault(take, fault, opens, shuts, strengths, rng)
            if fault.name != "missed":  # the others come with every stroke
                take.rates += [clock.hz, self.programme.size * clock.hz]
        passed = strengths > 0.0
        flow = noise(rng, turbulence(rng, (0.0, 2.0), 400.0))
        gate = bursts(opens[passed], shuts[passed], 0.01)
        take.healthy += flow * gate * np.float32(0.3 + 0.1 * point.load)
        hum = Rotor(rng, 100.0, flutter=0.0005).harmonics(1.0, [0.3, 0.2, 0.1, 0.05])
        take.healthy += hum + np.float32(0.35) * noise(rng, turbulence(rng, (3.0, 5.0), 50.0))
        mount = self.casing.mount
        take.healthy += self.casing.ring(rng, opens, strengths, mount, stiffness=stiffness)
        take.healthy += self.casing.ring(rng, shuts, 0.7 * strengths, mount, stiffness=stiffness)
        return take

    def _add_fault(
        self,
        take: Take,
        fault: Fault,
        opens: Times,
        shuts: Times,
        strengths: np.ndarray,
        rng: np.random.Generator,
    ) -> float:
        """Add the fault's sound, change strokes in place; return the remaining stiffness."""
        gains = self.casing.defect(rng)
        bands = self.casing.bands(gains)
        normal_bands = self.casing.bands(self.casing.mount)
        match fault.name:
            case "late":
                # A sluggish armature arrives late and hits a soft seat.
                lag = fault.severity * rng.uniform(0.02, 0.12, opens.size)
                due = opens.copy()
                opens += lag
                stiffness = 1.0 - 0.25 * fault.severity
                moved = self.casing.bands(self.casing.mount, stiffness)
                take.regions += regions(due, opens + 0.07, moved) + impacts(shuts, moved)
                return stiffness
            case "missed":
                lost = rng.uniform(size=opens.size) < 0.1 + 0.6 * fault.severity
                lost[0] |= not lost.any()
                strengths[lost] = 0.0
                take.regions += impacts(np.concatenate([opens[lost], shuts[lost]]), normal_bands)
                # The coil still pulls, so the stuck armature buzzes.
                take.faulty += self.casing.ring(rng, opens[lost], 1.5 * fault.gain, gains)
                take.regions += impacts(opens[lost], bands)
            case "leak":
                # The pressure builds up behind the closed seat until it escapes.
                starts = shuts + rng.uniform(0.06, 0.12, shuts.size)
                ends = starts + rng.uniform(0.1, 0.25, shuts.size)
                take.faulty += self.casing.rub(rng, starts, ends, 1.3 * fault.gain, gains)
                take.regions += regions(starts, ends, bands)
            case "bounce":
                again = (opens[:, None] + np.array([0.05, 0.09, 0.12])).ravel()
                force = np.tile([1.0, 0.7, 0.4], opens.size) * 2.0 * fault.gain
                take.faulty += self.casing.ring(rng, again, force, gains)
                take.regions += impacts(again, bands)
            case "contamination":
                starts = opens - rng.uniform(0.08, 0.16, opens.size)
                take.faulty += self.casing.rub(rng, starts, opens, 1.8 * fault.gain, gains)
                take.regions += regions(starts, opens, bands)
        return 1.0

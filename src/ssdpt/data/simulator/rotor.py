"""A rotating shaft: its angle at each moment, and the sounds tied to its rotation."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ssdpt.data.simulator.timebase import PADDED, RATE, Times, Wave, seconds


class Rotor:
    """One shaft through one clip; `turns` counts its revolutions, (PADDED,) and rising."""

    def __init__(
        self,
        rng: np.random.Generator,
        hz: float,
        *,
        flutter: float = 0.004,
        ripple_hz: float = 0.0,
        ripple: float = 0.0,
    ) -> None:
        """`flutter` is the relative spread of the speed; `ripple` its swing at `ripple_hz`."""
        knots = np.arange(0.0, PADDED / RATE + 0.5, 0.5)
        speed = np.interp(seconds(), knots, hz * (1.0 + flutter * rng.standard_normal(knots.size)))
        if ripple:
            start = rng.uniform(0, 2 * np.pi)
            speed *= 1.0 + ripple * np.sin(2 * np.pi * ripple_hz * seconds() + start)
        self.hz = hz
        self.turns: NDArray[np.float64] = np.cumsum(speed / RATE) + rng.uniform()
        self._rng = rng

    def moments(self, per_turn: float = 1.0, offset: float = 0.0) -> Times:
        """The times in seconds of an event that occurs `per_turn` times per revolution."""
        count = self.turns * per_turn + offset
        events = np.arange(np.ceil(count[0]), np.floor(count[-1]) + 1)
        return np.interp(events, count, seconds())

    def at(self, moments: Times) -> NDArray[np.float64]:
        """The number of revolutions at `moments`."""
        return np.interp(moments, seconds(), self.turns)

    def carrier(self, order: float = 1.0) -> NDArray[np.complex64]:
        """A unit phasor at `order` times the shaft speed, from a random angle, (PADDED,)."""
        turns = self.turns * order + self._rng.uniform()
        angle = ((turns - np.floor(turns)) * (2 * np.pi)).astype(np.float32)
        phasor = np.empty(angle.size, dtype=np.complex64)
        np.cos(angle, out=phasor.real)
        np.sin(angle, out=phasor.imag)
        return phasor

    def modulation(self, order: float, depth: float) -> Wave:
        """A gain of 1 ± `depth` that oscillates `order` times per revolution, (PADDED,)."""
        gain: Wave = 1 + np.float32(depth) * self.carrier(order).real
        return gain

    def harmonics(self, order: float, amplitudes: Sequence[float]) -> Wave:
        """Tones at 1, 2, 3 … times `order` times the shaft speed, (PADDED,) samples."""
        step = self.carrier(order)
        phasor = np.ones_like(step)
        wave = np.zeros(PADDED, dtype=np.float32)
        for amplitude in amplitudes:
            phasor = phasor * step
            angle = np.exp(np.complex64(2j * np.pi) * np.float32(self._rng.uniform()))
            wave += np.float32(amplitude) * (phasor * angle).real
        return wave

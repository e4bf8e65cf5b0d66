"""Where a machine is recorded: microphone response, room echoes, factory noise."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ssdpt.data.simulator.noise import noise, turbulence, wander
from ssdpt.data.simulator.timebase import PADDED, SECONDS, Shape, Wave, hertz, seconds

_GRID = np.linspace(0.0, 8000.0, 801)


class RecordingSite:
    """The recording site of one section and domain: what is the same in all of its clips."""

    def __init__(self, rng: np.random.Generator, shift: float, placement_spread: float) -> None:
        """`shift`: distance of the target domain's site from the source domain's, which has 0.

        `placement_spread`: how much the microphone position varies from clip to clip.
        """
        self.placement_spread = placement_spread
        self.knots = np.array([0.0, 250.0, 600.0, 1200.0, 2200.0, 3800.0, 6000.0, 8000.0])
        self.response_db = rng.normal(0.0, 1.0 + 2.0 * shift, self.knots.size)
        self.colour = 4.5 + rng.normal(0.0, 0.4) + shift * rng.choice([-1.5, 1.5])
        self.clank_hz = 0.15 + 0.25 * shift

    def response(self, rng: np.random.Generator) -> Shape:
        """Amplitude response from machine to file in one clip; microphone positions differ."""
        level = np.interp(
            _GRID,
            self.knots,
            self.response_db + rng.normal(0.0, 2.0 * self.placement_spread, self.knots.size),
        )
        level += rng.normal(0.0, 0.8 * self.placement_spread) * np.log2(
            np.maximum(_GRID, 60.0) / 1000.0
        )
        echo = np.ones(_GRID.size, dtype=complex)
        for strength, low, high in ((0.45, 0.2, 0.8), (0.4, 0.8, 2.5), (0.3, 2.5, 6.0)):
            delay = rng.uniform(low, high) / 1000.0
            echo += (
                rng.uniform(0.3, 1.0)
                * self.placement_spread
                * strength
                * np.exp(-2j * np.pi * _GRID * delay)
            )
        amplitude = 10.0 ** (level / 20.0) * np.abs(echo)
        return np.interp(hertz(), _GRID, amplitude).astype(np.float32)

    def background(self, rng: np.random.Generator) -> Wave:
        """Factory noise in one clip: rumble, air and an occasional clank; RMS 1."""
        wave = noise(rng, turbulence(rng, (self.colour - 0.8, self.colour + 0.8), 40.0))
        wave *= wander(rng, 0.7, 1.0)
        for moment in rng.uniform(0.0, SECONDS, rng.poisson(self.clank_hz * SECONDS)):
            wave += clank(rng, float(moment))
        rms = np.float32(np.sqrt(np.mean(np.square(wave))))
        return wave / rms


def clank(rng: np.random.Generator, moment: float) -> Wave:
    """A falling object: a few modes that ring longer than a machine's impact, (PADDED,)."""
    first = int(np.searchsorted(seconds(), moment))
    time: NDArray[np.float64] = seconds()[: min(PADDED - first, 4800)]
    modes = np.exp(rng.uniform(np.log(300.0), np.log(6000.0), 4))
    decay = rng.uniform(0.02, 0.06)
    ring = (np.sin(2 * np.pi * modes[:, None] * time) / np.sqrt(modes[:, None] / 1000.0)).sum(
        axis=0
    )
    wave = np.zeros(PADDED, dtype=np.float32)
    wave[first : first + time.size] = rng.exponential(0.6) * ring * np.exp(-time / decay)
    return wave

"""A casing and how it rings when something hits it.

Machines of one type have the same design, so their casings have nearly the same modes. With rising
frequency the modes alternate between three directions: along the shaft, across it, and around it.
The mounting of a specimen leaves one direction free, and normal operation excites the modes of that
direction. A defect pushes in another direction and excites modes that the mounting damps; a loss of
stiffness lowers all mode frequencies.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ssdpt.data.simulator.timebase import PADDED, RATE, SECONDS, Times, Wave

Gains = NDArray[np.float64]  # (modes,) amplitude of each mode

QUIET_DB = -16.0  # level of damped modes relative to those of the free direction
DIRECTIONS = 3
_PARTIALS = np.array([0.965, 1.0, 1.034])  # a real mode is never a single line
_RING_SECONDS = 0.12
_IMPACTS_PER_SECOND = 90.0


class Casing:
    """The modes of one specimen, with the gains that its mounting gives them."""

    def __init__(
        self, rng: np.random.Generator, section: int, mode_hz: Sequence[float], decay_s: float
    ) -> None:
        """`mode_hz`: mode frequencies of the type; `decay_s`: ring time to 1/e at 1 kHz."""
        modes = len(mode_hz)
        self.hz = np.asarray(mode_hz) * (1.0 + 0.012 * rng.standard_normal(modes))
        self.decay = decay_s * (self.hz / 1000.0) ** -0.35 * rng.uniform(0.85, 1.15, modes)
        self.direction = np.arange(modes) % DIRECTIONS
        self.free = section % DIRECTIONS
        level = np.where(self.direction == self.free, 0.0, QUIET_DB) + rng.normal(0.0, 1.0, modes)
        self.mount: Gains = 10.0 ** (level / 20.0)

    def defect(self, rng: np.random.Generator) -> Gains:
        """Mode gains of a force in one of the directions that the mounting does not leave free."""
        pushed = (self.free + int(rng.integers(1, DIRECTIONS))) % DIRECTIONS
        level = np.where(self.direction == pushed, 0.0, QUIET_DB)
        level += rng.normal(0.0, 1.5, self.hz.size)
        gains: Gains = 10.0 ** (level / 20.0)
        return gains

    def bands(self, gains: Gains, stiffness: float = 1.0) -> list[tuple[float, float]]:
        """The band in Hz of each mode that `gains` excite noticeably."""
        return [
            (float(0.91 * hz * stiffness), float(1.09 * hz * stiffness))
            for hz, gain in zip(self.hz, gains, strict=True)
            if gain > 0.4 * gains.max()
        ]

    def ring(
        self,
        rng: np.random.Generator,
        moments: Times,
        strengths: NDArray[np.float64] | float,
        gains: Gains,
        *,
        stiffness: float = 1.0,
        spread_db: float = 2.0,
    ) -> Wave:
        """Impacts of `strengths` at `moments` exciting the modes by `gains`, (PADDED,) samples.

        `stiffness` scales the mode frequencies; `spread_db` varies each impact and each of its
        modes.
        """
        time = np.arange(int(_RING_SECONDS * RATE)) / RATE
        hz = self.hz * stiffness * (1.0 + 0.004 * rng.standard_normal(self.hz.size))
        partials = hz[:, None] * _PARTIALS  # (modes, partials)
        angle = rng.uniform(0, 2 * np.pi, partials.shape)
        swing = np.sin(2 * np.pi * partials[..., None] * time + angle[..., None]).sum(axis=1)
        # Background noise falls with frequency; impacts stand out equally at all frequencies.
        weight = (hz / 1000.0) ** -0.5
        decay = np.exp(-time / self.decay[:, None]) * weight[:, None]
        response = (swing * decay).astype(np.float32)  # (modes, ring samples)
        impacts = np.broadcast_to(strengths, moments.shape)
        spread = rng.normal(0.0, spread_db, (moments.size, gains.size))
        spread += rng.normal(0.0, spread_db, (moments.size, 1))
        mix = gains * impacts[:, None] * 10.0 ** (spread / 20.0)  # (impacts, modes)
        wave = np.zeros(PADDED + time.size, dtype=np.float32)
        starts = np.clip(np.rint(moments * RATE).astype(int), 0, PADDED)
        for start, ringing in zip(starts, mix.astype(np.float32) @ response, strict=True):
            wave[start : start + time.size] += ringing
        return wave[:PADDED]

    def rub(
        self, rng: np.random.Generator, starts: Times, ends: Times, strength: float, gains: Gains
    ) -> Wave:
        """Friction from each start to its end: many small impacts, (PADDED,) samples."""
        count = rng.poisson(_IMPACTS_PER_SECOND * np.maximum(ends - starts, 0.0))
        share = rng.uniform(size=int(count.sum()))
        moments = np.repeat(starts, count) + share * np.repeat(ends - starts, count)
        kept = moments[(moments >= 0.0) & (moments < SECONDS)]
        force = strength * rng.exponential(0.5, kept.size)
        return self.ring(rng, kept, force, gains, spread_db=1.0)

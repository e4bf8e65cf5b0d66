"""A casing and how it rings when something hits it.

Machines of one type are built alike: their casings share a family of modes. How a specimen is
mounted decides which of them its own running excites. A defect hits the casing from elsewhere
and rings modes that the mount leaves quiet, or, where it takes stiffness away, moves the modes.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ssdpt.data.plant.timebase import PADDED, RATE, Times, Wave

Gains = NDArray[np.float64]  # (modes,) amplitude of each mode

QUIET_DB = -16.0  # how far below its own modes a mount leaves the others
_PARTIALS = np.array([0.965, 1.0, 1.034])  # no real mode is one clean line
_RING_SECONDS = 0.16


class Casing:
    """The modes of one specimen, with the gains its mount gives them."""

    def __init__(
        self, rng: np.random.Generator, section: int, family: Sequence[float], decay_s: float
    ) -> None:
        """`family`: mode frequencies of the type, Hz; `decay_s`: ring time to 1/e at 1 kHz."""
        modes = len(family)
        self.hz = np.asarray(family) * (1.0 + 0.012 * rng.standard_normal(modes))
        self.decay = decay_s * (self.hz / 1000.0) ** -0.35 * rng.uniform(0.85, 1.15, modes)
        self.own = np.arange(modes) % 3 == section % 3
        level = np.where(self.own, 0.0, QUIET_DB) + rng.normal(0.0, 1.0, modes)
        self.mount: Gains = 10.0 ** (level / 20.0)

    def defect(self, rng: np.random.Generator, count: int = 2) -> Gains:
        """Gains of a blow from inside: `count` of the modes that the mount leaves quiet."""
        gains = np.zeros(self.hz.size)
        chosen = rng.choice(np.flatnonzero(~self.own), count, replace=False)
        gains[chosen] = 10.0 ** (rng.normal(0.0, 1.5, count) / 20.0)
        return gains

    def bands(self, gains: Gains, stiffness: float = 1.0) -> list[tuple[float, float]]:
        """The band, Hz, of each mode that `gains` excite noticeably."""
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
        """Blows of `strengths` at `moments` ringing the modes by `gains`, (PADDED,) samples.

        `stiffness` scales the mode frequencies; `spread_db` varies each blow and each mode in it.
        """
        time = np.arange(int(_RING_SECONDS * RATE)) / RATE
        hz = self.hz * stiffness * (1.0 + 0.004 * rng.standard_normal(self.hz.size))
        partials = hz[:, None] * _PARTIALS  # (modes, partials)
        angle = rng.uniform(0, 2 * np.pi, partials.shape)
        swing = np.sin(2 * np.pi * partials[..., None] * time + angle[..., None]).sum(axis=1)
        # The floor of a plant falls towards high frequencies; a blow stands out alike in all.
        weight = (hz / 1000.0) ** -0.5
        decay = np.exp(-time / self.decay[:, None]) * weight[:, None]
        response = (swing * decay).astype(np.float32)  # (modes, ring samples)
        blows = np.broadcast_to(strengths, moments.shape)
        spread = rng.normal(0.0, spread_db, (moments.size, gains.size))
        spread += rng.normal(0.0, spread_db, (moments.size, 1))
        mix = gains * blows[:, None] * 10.0 ** (spread / 20.0)  # (blows, modes)
        wave = np.zeros(PADDED + time.size, dtype=np.float32)
        starts = np.clip(np.rint(moments * RATE).astype(int), 0, PADDED)
        for start, ringing in zip(starts, mix.astype(np.float32) @ response, strict=True):
            wave[start : start + time.size] += ringing
        return wave[:PADDED]

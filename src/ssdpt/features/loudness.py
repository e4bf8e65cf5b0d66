"""How loud a stretch of sound is, and whether it clips."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

_SILENCE_DBFS = -90.0  # below what a working microphone gives


@dataclass(frozen=True, slots=True)
class Loudness:
    """One second: its level against a full-scale sine, and the share of clipped samples."""

    dbfs: float
    clipped: float

    @classmethod
    def of(cls, samples: np.ndarray) -> Loudness:
        power = float(np.mean(np.square(samples, dtype=np.float64)))
        return cls(
            dbfs=max(-120.0, 10 * float(np.log10(2 * power + 1e-12))),
            clipped=float(np.mean(np.abs(samples) >= 0.999)),
        )

    @property
    def silent(self) -> bool:
        """Nothing at all: a cable or a driver, not a machine that is off."""
        return self.dbfs <= _SILENCE_DBFS

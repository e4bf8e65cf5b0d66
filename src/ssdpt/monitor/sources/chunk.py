"""What sources give: consecutive samples with their time."""

from __future__ import annotations

from dataclasses import dataclass

from ssdpt.types import Floats


@dataclass(frozen=True, slots=True)
class Chunk:
    """Consecutive samples of one source."""

    samples: Floats  # (n,) mono, within ±1, at the rate the source was asked for
    time: float  # of the first sample
    gap: float = 0.0  # seconds that are missing before it

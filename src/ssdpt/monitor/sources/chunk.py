"""What sources give: consecutive samples with their time."""

from __future__ import annotations

from dataclasses import dataclass

from ssdpt.types import Floats


@dataclass(frozen=True, slots=True)
class Chunk:
    """Consecutive samples of one source."""

    samples: Floats  # (n,) mono, within ±1, at the rate the source was opened with
    time: float  # of the first sample, seconds since 1970
    gap: float = 0.0  # seconds of sound missing before it

"""The samples themselves, as frames of one value."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, ClassVar

from ssdpt.features.front_end import FrontEnd
from ssdpt.types import Floats


class Waveform(FrontEnd):
    """Full scale is ±1."""

    name: ClassVar[str] = "waveform"

    def __init__(self, sample_rate: int) -> None:
        self.sample_rate = sample_rate
        self.bins = 1
        self.frame_seconds = 1 / sample_rate

    def stream(self, blocks: Iterable[Floats]) -> Iterator[Floats]:
        for block in blocks:
            yield block[:, None]  # (samples, 1)

    @property
    def settings(self) -> dict[str, Any]:
        return {"sample_rate": self.sample_rate}

"""Conversion of what a sensor sends to blocks of one channel at one rate."""

from __future__ import annotations

import numpy as np

from ssdpt.data.resampling import ResampledBlocks
from ssdpt.types import Floats


class BlockConverter:
    """Frames of all channels in, blocks of one channel and one length out."""

    def __init__(self, rate_in: int, rate: int, channel: int, seconds: float) -> None:
        """Rates in Hz; `seconds` of a block."""
        self._blocks = ResampledBlocks(rate_in, rate, seconds, clean=True)
        self._channel = channel

    def feed(self, frames: Floats) -> list[Floats]:
        """The blocks that (samples, channels) more frames fill."""
        return self._blocks.feed(frames[:, self._channel])

    def finish(self) -> Floats:
        """The rest, shorter than a block or a little longer; nothing may be fed after it."""
        return np.concatenate([np.empty(0, np.float32), *self._blocks.finish()])

"""The input of a system: samples to frames, the same numbers offline and in a stream."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from typing import Any, ClassVar, Literal

import numpy as np

from ssdpt.types import Floats


class FrontEnd(ABC):
    """One computation, on a stream of blocks; a whole clip is a stream of one block."""

    name: ClassVar[str]
    storage: ClassVar[Literal["<f4", "<f2"]] = "<f4"  # of the cache; must hold its numbers exactly

    bins: int  # values per frame
    mel_bins: int = 0  # how many of them, from the first on, are a log-mel in dB
    frame_seconds: float  # from one frame to the next

    def __call__(self, samples: Floats) -> Floats:
        """A whole clip (samples,) to (frames, bins)."""
        return np.concatenate(list(self.stream([samples])))

    @abstractmethod
    def stream(self, blocks: Iterable[Floats]) -> Iterator[Floats]:
        """Blocks of samples, as they come, to blocks of frames: (frames, bins) float32 each."""

    @property
    @abstractmethod
    def settings(self) -> dict[str, Any]:
        """All that its numbers depend on, apart from the samples, as plain JSON values."""

    @property
    def frequencies(self) -> Floats:
        """Hz of every bin, or of the first ones; empty where bins are no frequencies."""
        return np.zeros(0, np.float32)


def centred_windows(blocks: Iterable[Floats], window: int, hop: int) -> Iterator[Floats]:
    """Blocks of samples to stretches that each hold whole windows, every `hop` samples.

    The first window is centred on the first sample; there are zeros beyond both ends.
    """
    margin = np.zeros(window // 2, np.float32)
    pending = margin
    for block in blocks:
        pending = np.concatenate([pending, block])
        ready = (len(pending) - window) // hop + 1
        if ready > 0:
            yield pending[: (ready - 1) * hop + window]
            pending = pending[ready * hop :]
    pending = np.concatenate([pending, margin])
    if len(pending) >= window:
        yield pending

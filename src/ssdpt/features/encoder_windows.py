"""Windows of samples on their way through a front end, and the embedding of each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
import soxr

from ssdpt.features.encoder import Encoder
from ssdpt.types import Floats


class EncoderWindows:
    """The embeddings of one recording, as its samples arrive.

    Every `hop` samples, the sound of the last window, or all there is yet, repeated to fill it,
    becomes an embedding. Where a recording ends half a hop or more after the last one, its end
    becomes one as well. Each belongs to the frame in which its window ends.
    """

    def __init__(self, encoder: Encoder, sample_rate: int, hop: int, frame_hop: int) -> None:
        """`sample_rate` in Hz and both hops in samples: of the recording."""
        self._encoder = encoder
        self._rate = sample_rate
        self._hop, self._frame_hop = hop, frame_hop
        self._length = -(-encoder.window * sample_rate // encoder.sidecar.sample_rate)
        self._recent = np.zeros(0, np.float32)
        self._count = 0  # samples so far
        self._last = 0  # sample at which the last window ended
        self._embeddings: dict[int, Floats] = {}  # by number of the frame, until they are taken

    def passing(self, blocks: Iterable[Floats]) -> Iterator[Floats]:
        """The same blocks of samples; their windows are noted."""
        for block in blocks:
            self._feed(block)
            yield block
        if 2 * (self._count - self._last) >= self._hop or (self._count and not self._last):
            self._embed()

    def rows(self, first: int, count: int) -> Floats:
        """(frames, dimensions) of frames `first` and on; NaN in frames without a window's end."""
        rows = np.full((count, self._encoder.dimensions), np.nan, np.float32)
        for frame in [frame for frame in self._embeddings if frame < first + count]:
            rows[frame - first] = self._embeddings.pop(frame)
        return rows

    def _feed(self, samples: Floats) -> None:
        begin = 0
        while begin < len(samples):
            end = min(len(samples), begin + self._last + self._hop - self._count)
            self._recent = np.concatenate([self._recent, samples[begin:end]])[-self._length :]
            self._count += end - begin
            begin = end
            if self._count == self._last + self._hop:
                self._embed()

    def _embed(self) -> None:
        window = np.resize(self._recent, self._length)  # repeated where it is shorter
        rate = self._encoder.sidecar.sample_rate
        # Each window on its own: what a resampler holds back depends on the blocks.
        resampled = window if rate == self._rate else soxr.resample(window, self._rate, rate)
        missing = max(0, self._encoder.window - len(resampled))
        fitting = np.pad(resampled[: self._encoder.window], (0, missing))
        self._embeddings[self._count // self._frame_hop] = self._encoder(fitting)
        self._last = self._count

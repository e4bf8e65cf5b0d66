"""One channel at one rate, whatever comes in, without a seam between the pieces."""

from __future__ import annotations

import numpy as np
import soxr

from ssdpt.types import Floats


class Resampler:
    """Changes the rate of a signal that comes in pieces; its output is that of the whole."""

    def __init__(self, rate_in: int, rate: int) -> None:
        """Both in Hz."""
        self._stream = (
            None if rate_in == rate else soxr.ResampleStream(rate_in, rate, 1, dtype="float32")
        )

    def feed(self, samples: Floats) -> Floats:
        """The piece at the new rate; some of it comes with the next."""
        return self._pass(samples, last=False)

    def finish(self) -> Floats:
        """What was held back; nothing may be fed after it."""
        return self._pass(np.empty(0, np.float32), last=True)

    def _pass(self, samples: Floats, *, last: bool) -> Floats:
        # Whatever a broken sender writes, the rooms behind are promised numbers within ±1.
        clean = np.clip(np.nan_to_num(samples, nan=0.0, posinf=0.0, neginf=0.0), -1.0, 1.0)
        if self._stream is None:
            return clean
        out: Floats = self._stream.resample_chunk(np.ascontiguousarray(clean), last=last)
        return np.clip(out, -1.0, 1.0)


class Blocks:
    """Frames of all channels in, blocks of one channel and one length out."""

    def __init__(self, rate_in: int, rate: int, channel: int, seconds: float) -> None:
        """`seconds`: of a block."""
        self._resampler = Resampler(rate_in, rate)
        self._channel = channel
        self._length = round(seconds * rate)
        self._held: Floats = np.empty(0, np.float32)

    def feed(self, frames: Floats) -> list[Floats]:
        """The blocks that (samples, channels) more frames fill."""
        piece = self._resampler.feed(frames[:, self._channel])
        held = np.concatenate([self._held, piece])
        whole = len(held) - len(held) % self._length
        self._held = held[whole:]
        return [held[at : at + self._length] for at in range(0, whole, self._length)]

    def finish(self) -> Floats:
        """The rest, shorter than a block or a little longer; nothing may be fed after it."""
        return np.concatenate([self._held, self._resampler.finish()])

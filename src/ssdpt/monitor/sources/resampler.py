"""Conversion of incoming sound to one channel at one rate, piece by piece."""

from __future__ import annotations

import numpy as np
import soxr

from ssdpt.types import Floats


class Resampler:
    """Changes the rate of a signal that arrives in pieces; the result is that of the whole."""

    def __init__(self, rate_in: int, rate: int) -> None:
        """Both in Hz."""
        self._stream = (
            None if rate_in == rate else soxr.ResampleStream(rate_in, rate, 1, dtype="float32")
        )

    def feed(self, samples: Floats) -> Floats:
        """The piece at the new rate; the end of it comes with the next piece."""
        return self._pass(samples, last=False)

    def finish(self) -> Floats:
        """What was held back; nothing can be fed after it."""
        return self._pass(np.empty(0, np.float32), last=True)

    def _pass(self, samples: Floats, *, last: bool) -> Floats:
        # Whatever a broken sender writes, later stages are promised numbers within ±1.
        clean = np.clip(np.nan_to_num(samples, nan=0.0, posinf=0.0, neginf=0.0), -1.0, 1.0)
        if self._stream is None:
            return clean
        out: Floats = self._stream.resample_chunk(np.ascontiguousarray(clean), last=last)
        return np.clip(out, -1.0, 1.0)


class BlockConverter:
    """Takes frames of all channels, gives blocks of one channel and one length."""

    def __init__(self, rate_in: int, rate: int, channel: int, seconds: float) -> None:
        """Rates in Hz; `seconds`: length of a block."""
        self._resampler = Resampler(rate_in, rate)
        self._channel = channel
        self._length = round(seconds * rate)
        self._held: Floats = np.empty(0, np.float32)

    def feed(self, frames: Floats) -> list[Floats]:
        """The blocks that are complete with these (samples, channels) frames."""
        piece = self._resampler.feed(frames[:, self._channel])
        held = np.concatenate([self._held, piece])
        whole = len(held) - len(held) % self._length
        self._held = held[whole:]
        return [held[at : at + self._length] for at in range(0, whole, self._length)]

    def finish(self) -> Floats:
        """The rest, shorter than a block or a little longer; nothing can be fed after it."""
        return np.concatenate([self._held, self._resampler.finish()])

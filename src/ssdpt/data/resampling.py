"""Change the sample rate of a signal that comes in pieces, without a seam between them."""

from __future__ import annotations

import numpy as np
import soxr

from ssdpt.types import Floats


class Resampler:
    """Changes the rate of one channel with an anti-aliasing filter.

    The output of all pieces together is that of the whole signal. With `clean`, samples that are
    not numbers become 0 and the output stays within ±1, whatever a broken sensor sends.
    """

    def __init__(self, rate_in: int, rate_out: int, *, clean: bool = False) -> None:
        """Both rates in Hz."""
        self._stream = (
            None
            if rate_in == rate_out
            else soxr.ResampleStream(rate_in, rate_out, 1, dtype="float32")
        )
        self._clean = clean

    def feed(self, samples: Floats) -> Floats:
        """The piece (samples,) at the new rate; some of it comes with the next."""
        return self._resample(samples, last=False)

    def finish(self) -> Floats:
        """What was held back; nothing may be fed after it."""
        return self._resample(np.empty(0, np.float32), last=True)

    def _resample(self, samples: Floats, *, last: bool) -> Floats:
        if self._clean:
            samples = np.nan_to_num(samples, nan=0.0, posinf=0.0, neginf=0.0).clip(-1.0, 1.0)
        if self._stream is None:
            return samples
        resampled: Floats = self._stream.resample_chunk(np.ascontiguousarray(samples), last=last)
        # The filter may overshoot.
        return resampled.clip(-1.0, 1.0) if self._clean else resampled


class ResampledBlocks:
    """Pieces of any length in, resampled blocks of one length out."""

    def __init__(self, rate_in: int, rate_out: int, seconds: float, *, clean: bool = False) -> None:
        """`seconds` of a block; `clean` as for a `Resampler`."""
        self._resampler = Resampler(rate_in, rate_out, clean=clean)
        self._length = max(1, round(seconds * rate_out))
        self._pending: list[Floats] = []
        self._count = 0  # samples in `_pending`

    def feed(self, samples: Floats) -> list[Floats]:
        """The blocks that this piece (samples,) completes."""
        piece = self._resampler.feed(samples)
        self._pending.append(piece)
        self._count += len(piece)
        if self._count < self._length:
            return []
        joined = np.concatenate(self._pending)
        whole = self._count - self._count % self._length
        self._pending, self._count = [joined[whole:]], self._count - whole
        return [joined[at : at + self._length] for at in range(0, whole, self._length)]

    def finish(self) -> list[Floats]:
        """What is left, of which the last block may be shorter; nothing may be fed after it."""
        rest = np.concatenate([*self._pending, self._resampler.finish()])
        return [rest[at : at + self._length] for at in range(0, len(rest), self._length)]

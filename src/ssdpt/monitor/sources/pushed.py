"""Sound that others send."""

from __future__ import annotations

import math
import threading
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ssdpt.data.resampling import Resampler
from ssdpt.errors import SsdptError
from ssdpt.monitor.config import PushedSettings
from ssdpt.monitor.sources.base import CHUNK_SECONDS, Source, check_channel
from ssdpt.monitor.sources.chunk import Chunk
from ssdpt.monitor.sources.clock import SYSTEM, TOLERANCE, Clock
from ssdpt.monitor.sources.timeline import Timeline
from ssdpt.types import Floats

MOST_WAITING = 60.0  # seconds of sound
_MOST_AHEAD = 60.0  # seconds that a sender's clock, or its haste, may be in the future
_LOST_AFTER = 60.0  # seconds without a push
_IDLE = 1.0  # seconds until what the resampler still holds is let go
_LOOK = 0.2  # seconds
_RATES = (1000, 384_000)  # Hz
_MOST_CHANNELS = 64


@dataclass(frozen=True, slots=True)
class _Push:
    samples: Floats  # (n,) of the one channel
    rate: int
    time: float
    gap: float

    @property
    def seconds(self) -> float:
        return len(self.samples) / self.rate


class PushSource(Source):
    """Holds what is pushed until it is listened to; refuses more than can be listened to."""

    def __init__(self, settings: PushedSettings, rate: int, clock: Clock = SYSTEM) -> None:
        super().__init__(rate, settings.channel, clock)
        self._timeline = Timeline(TOLERANCE)
        self._pushes: deque[_Push] = deque()
        self._waiting = 0.0  # seconds
        self._last = clock.steady()
        self._change = threading.Condition()
        self._tell(words="waiting for the first sound")

    def push(
        self,
        samples: NDArray[np.float32] | NDArray[np.int16],
        rate: int,
        channels: int = 1,
        time: float | None = None,
    ) -> float:
        """Hand over sound; return how many seconds of it are new.

        `samples`: (frames, channels), or interleaved; float within ±1 or 16-bit. `time` is that
        of the first sample; without it the sound follows the last or has ended just now. What
        overlaps with earlier sound is left out. More than `MOST_WAITING` seconds at one time are
        taken only where nothing waits. May be called from any thread.
        """
        mono = self._checked(samples, rate, channels)
        if time is not None and not math.isfinite(time):
            raise SsdptError(f"a time of {time} is none; send seconds since 1970")
        seconds = len(mono) / rate
        now = self.clock.wall()
        with self._change:
            if self._waiting > CHUNK_SECONDS and self._waiting + seconds > MOST_WAITING:
                raise SsdptError(
                    f"{self._waiting:.0f} s of sound are waiting to be listened to; "
                    f"send it no faster than it was recorded"
                )
            begin = now - seconds if time is None else time
            placed = self._timeline.see(begin, seconds, exact=time is not None)
            self._check_future(placed.time + seconds - placed.cut - now, told=time is not None)
            self._timeline.take(placed, seconds)
            push = _Push(mono[round(placed.cut * rate) :], rate, placed.time, placed.gap)
            self._last = self.clock.steady()
            words = "sound comes"
            if placed.cut:
                words += f"; the last {placed.cut:.1f} s that came had been heard before"
            self._tell(connected=True, words=words, rate_in=rate, channels_in=channels)
            if len(push.samples):
                self._pushes.append(push)
                self._waiting += push.seconds
                self._change.notify()
        return push.seconds

    def chunks(self, stop: threading.Event) -> Iterator[Chunk]:
        resampler: Resampler | None = None
        rate_in, position = 0, 0.0
        idle = self.clock.steady()
        while not stop.is_set():
            push = self._next()
            now = self.clock.steady()
            follows = push is not None and not push.gap and push.rate == rate_in
            if resampler and not follows and (push is not None or now - idle > _IDLE):
                for chunk in self._cut(resampler.finish(), position, 0.0):
                    position = chunk.time + len(chunk.samples) / self.rate
                    yield chunk
                resampler = None
            if push is None:
                self._check_lost(now)
                continue
            if resampler is None:
                resampler, rate_in = Resampler(push.rate, self.rate, clean=True), push.rate
                position = push.time
            for chunk in self._cut(resampler.feed(push.samples), position, push.gap):
                seconds = len(chunk.samples) / self.rate
                position = chunk.time + seconds
                with self._change:
                    self._waiting -= seconds
                yield self._count(chunk)
                if stop.is_set():
                    break
            idle = self.clock.steady()
            with self._change:
                # Counted anew: what the resampler holds back would add up.
                self._waiting = sum(push.seconds for push in self._pushes)
        self._tell(connected=False, words="stopped")

    def once(self, stop: threading.Event) -> Iterator[Chunk]:
        """Nothing can be listened to before someone sends."""
        return iter(())

    def _checked(
        self, samples: NDArray[np.float32] | NDArray[np.int16], rate: int, channels: int
    ) -> Floats:
        """The one channel as float; refuses what is no sound."""
        if not _RATES[0] <= rate <= _RATES[1]:
            raise SsdptError(f"a rate of {rate} Hz is not taken; send {_RATES[0]} to {_RATES[1]}")
        if not 1 <= channels <= _MOST_CHANNELS:
            raise SsdptError(f"{channels} channels are not taken; send 1 to {_MOST_CHANNELS}")
        check_channel("the sound sent", self.channel, channels)
        if samples.size % channels or (samples.ndim == 2 and samples.shape[1] != channels):
            raise SsdptError(
                f"the sound sent is said to have {channels} channels, but its "
                f"{samples.size} samples do not divide into them; send whole frames"
            )
        mono = samples.reshape(-1, channels)[:, self.channel]
        if mono.dtype == np.int16:
            return mono.astype(np.float32) / np.float32(32768)
        if not np.isfinite(mono).all():
            raise SsdptError("the sound sent holds samples that are not numbers (NaN or infinite)")
        return mono.astype(np.float32)

    def _check_future(self, ahead: float, *, told: bool) -> None:
        if ahead <= _MOST_AHEAD:
            return
        if told:
            raise SsdptError(
                f"the sound sent ends {ahead:.0f} s in the future; set the sender's clock right"
            )
        raise SsdptError(
            f"{ahead:.0f} s more sound were sent than time has passed; "
            f"tell the time of what was recorded earlier"
        )

    def _next(self) -> _Push | None:
        with self._change:
            if not self._pushes:
                self._change.wait(_LOOK)
            return self._pushes.popleft() if self._pushes else None

    def _check_lost(self, now: float) -> None:
        if self.status.connected and now - self._last > _LOST_AFTER:
            self._tell(connected=False, words=f"nothing was sent for {_LOST_AFTER:.0f} s")

    def _cut(self, samples: Floats, time: float, gap: float) -> Iterator[Chunk]:
        length = round(CHUNK_SECONDS * self.rate)
        for at in range(0, len(samples), length):
            yield Chunk(samples[at : at + length], time + at / self.rate, gap if at == 0 else 0.0)

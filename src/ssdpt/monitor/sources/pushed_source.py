"""Sound or snapshots that other programs send by HTTP or WebSocket."""

from __future__ import annotations

import math
import threading
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from ssdpt.data.resampling import Resampler
from ssdpt.errors import SsdptError
from ssdpt.monitor.config import ChannelSettings, SensorSettings
from ssdpt.monitor.sources.base import CHUNK_SECONDS, Source, check_channel
from ssdpt.monitor.sources.chunk import Chunk
from ssdpt.monitor.sources.clock import MIN_GAP, SYSTEM, TOLERANCE, Clock
from ssdpt.monitor.sources.snapshot import Snapshot, SnapshotSource, Unusable
from ssdpt.monitor.sources.snapshot_message import (
    MOST_VALUES,
    SnapshotMessage,
    from_frames,
    snapshot_of,
)
from ssdpt.monitor.sources.timeline import RecordingTimeline
from ssdpt.sentences import Sentence, clauses
from ssdpt.types import Floats

MAX_WAITING = 60.0  # seconds of sound
MAX_AT_ONCE = 3600.0  # seconds of sound in one recording
_MOST_WAITING_SNAPSHOTS = 1000
_MOST_WAITING_VALUES = 2 * MOST_VALUES  # samples times axes, of all snapshots together
_MAX_AHEAD = 60.0  # seconds that the end of what is sent may lie in the future
_DISCONNECTED_AFTER = 60.0  # seconds without a push, where max_silence is empty
_IDLE = 1.0  # seconds until the resampler is emptied
_POLL = 0.2  # seconds
_RATES = (1000, 384_000)  # Hz
_MAX_CHANNELS = 64


class PushedSettings(ChannelSettings):
    """Sound or snapshots that other programs send by HTTP or WebSocket."""

    kind: Literal["pushed"] = "pushed"
    max_silence: float | None = Field(
        None,
        gt=0,
        description="seconds without sound after which the source is lost; empty = never",
    )

    arrives_in_files: ClassVar[bool] = True
    gives_snapshots: ClassVar[bool] = True

    @property
    def reads_local_files(self) -> bool:
        return False


@dataclass(frozen=True, slots=True)
class _Push:
    samples: Floats  # (n,) of the one channel
    rate: int
    time: float
    gap: float

    @property
    def seconds(self) -> float:
        return len(self.samples) / self.rate


class PushedSnapshots(SnapshotSource):
    """Each push is one snapshot, whose channels are its axes; held until it is read."""

    settings_class = PushedSettings

    def __init__(
        self, settings: PushedSettings, sensor: SensorSettings, clock: Clock = SYSTEM
    ) -> None:
        super().__init__(settings, sensor, clock)
        self._waiting: deque[Snapshot] = deque()
        self._values = 0  # of those that wait
        self._change = threading.Condition()
        self._update_status(connected=True, message=Sentence("sources.waitingForSnapshot"))

    def push(
        self,
        samples: NDArray[np.float32] | NDArray[np.int16],
        rate: int,
        channels: int = 1,
        time: float | None = None,
    ) -> float:
        """Add a snapshot (frames, axes) within ±1; gives its seconds. From any thread."""
        frames = _frames(samples, rate, channels)
        return self._add(from_frames(frames, rate, time, self.clock.wall()))

    def push_message(self, message: SnapshotMessage) -> float:
        """Add a snapshot in the unit of the sensor; gives its seconds. From any thread."""
        return self._add(snapshot_of(message, self.sensor, self.clock.wall()))

    def snapshots(self, stop: threading.Event) -> Iterator[Snapshot | Unusable]:
        while not stop.is_set():
            if (snapshot := self._next()) is not None:
                yield snapshot
        self._update_status(connected=False, message=Sentence("sources.stopped"))

    def probe(self, timeout: float) -> str:
        """Nothing arrives before someone sends it."""
        return self.status.message

    def _add(self, snapshot: Snapshot) -> float:
        with self._change:
            count, values = len(self._waiting), self._values + snapshot.samples.size
            if count >= _MOST_WAITING_SNAPSHOTS or (count and values > _MOST_WAITING_VALUES):
                raise SsdptError(Sentence("sources.tooManySnapshots", count=count))
            self._waiting.append(snapshot)
            self._values = values
            self._change.notify()
        self._update_status(
            connected=True,
            message=Sentence("sources.snapshotsArrive"),
            rate_in=snapshot.sample_rate,
            channels_in=len(snapshot.samples),
        )
        return snapshot.seconds

    def _next(self) -> Snapshot | None:
        with self._change:
            if not self._waiting:
                self._change.wait(_POLL)
            if not self._waiting:
                return None
            snapshot = self._waiting.popleft()
            self._values -= snapshot.samples.size
            return snapshot


class PushedSource(Source):
    """Holds pushed sound until it is read; refuses sound that arrives faster than it is read."""

    settings_class = PushedSettings
    snapshot_class = PushedSnapshots

    def __init__(self, settings: PushedSettings, rate: int, clock: Clock = SYSTEM) -> None:
        super().__init__(settings, rate, clock)
        self._disconnected_after = settings.max_silence or _DISCONNECTED_AFTER
        self._timeline = RecordingTimeline(TOLERANCE)
        self._pushes: deque[_Push] = deque()
        self._waiting = 0.0  # seconds
        self._last = clock.steady()
        self._change = threading.Condition()
        self._update_status(message=Sentence("sources.waitingForSound"))

    def push(
        self,
        samples: NDArray[np.float32] | NDArray[np.int16],
        rate: int,
        channels: int = 1,
        time: float | None = None,
    ) -> float:
        """Add sound; return how many seconds of it are new.

        `samples`: (frames, channels), or interleaved; float within ±1 or 16-bit. `time` is that
        of the first sample; without it the sound follows the last, or ended just now. Sound that
        overlaps with earlier sound is dropped. More than `MAX_WAITING` seconds at once, up to
        `MAX_AT_ONCE`, are accepted only where nothing waits. May be called from any thread.
        """
        mono = self._one_channel(samples, rate, channels)
        if len(mono) > MAX_AT_ONCE * rate:
            raise SsdptError(Sentence("api.tooLong", minutes=round(MAX_AT_ONCE / 60)))
        if time is not None and not math.isfinite(time):
            raise SsdptError(Sentence("sources.notATime", time=time))
        seconds = len(mono) / rate
        now = self.clock.wall()
        with self._change:
            if self._waiting > CHUNK_SECONDS and self._waiting + seconds > MAX_WAITING:
                raise SsdptError(Sentence("sources.tooMuchSound", seconds=round(self._waiting)))
            set_back = self._follow_clock(now)
            begin = now - seconds if time is None else time
            placement = self._timeline.place(begin, seconds, exact=time is not None)
            ahead = placement.time + seconds - placement.cut - now
            self._check_future(ahead, time_given=time is not None)
            self._timeline.add(placement, seconds)
            gap = MIN_GAP if set_back else placement.gap
            push = _Push(mono[round(placement.cut * rate) :], rate, placement.time, gap)
            self._last = self.clock.steady()
            message: str = Sentence("sources.soundArrives")
            if placement.cut:
                cut = Sentence("sources.sentBefore", seconds=round(placement.cut, 1))
                message = clauses(message, cut)
            self._update_status(connected=True, message=message, rate_in=rate, channels_in=channels)
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
            push = self._next_push()
            now = self.clock.steady()
            follows = push is not None and not push.gap and push.rate == rate_in
            if resampler and not follows and (push is not None or now - idle > _IDLE):
                for chunk in self._split(resampler.finish(), position, 0.0):
                    position = chunk.time + len(chunk.samples) / self.rate
                    yield chunk
                resampler = None
            if push is None:
                self._check_silence(now)
                continue
            if resampler is None:
                resampler, rate_in = Resampler(push.rate, self.rate, clean=True), push.rate
                position = push.time
            for chunk in self._resampled(resampler, push, position):
                seconds = len(chunk.samples) / self.rate
                position = chunk.time + seconds
                with self._change:
                    self._waiting -= seconds
                yield self._count_gap(chunk)
                if stop.is_set():
                    break
            idle = self.clock.steady()
            with self._change:
                # Counted again: what the resampler holds back would add up.
                self._waiting = sum(push.seconds for push in self._pushes)
        self._update_status(connected=False, message=Sentence("sources.stopped"))

    def chunks_once(self, stop: threading.Event) -> Iterator[Chunk]:
        """No sound before someone sends it."""
        return iter(())

    def _one_channel(
        self, samples: NDArray[np.float32] | NDArray[np.int16], rate: int, channels: int
    ) -> Floats:
        """The chosen channel as float (n,); SsdptError where the samples are not usable."""
        frames = _frames(samples, rate, channels)
        check_channel(Sentence("sources.soundSent"), self.channel, channels)
        mono = np.ascontiguousarray(frames[:, self.channel])
        if not np.isfinite(mono).all():
            raise SsdptError(Sentence("sources.notNumbers"))
        return mono

    def _follow_clock(self, now: float) -> bool:
        """Whether the computer's clock was set back: then sound is placed by its new time.

        Nothing is accepted that ends so far in the future, so nothing else can explain it.
        """
        end = self._timeline.end
        if end is None or end <= now + _MAX_AHEAD + TOLERANCE:
            return False
        self._timeline = RecordingTimeline(TOLERANCE)
        return True

    def _check_future(self, ahead: float, *, time_given: bool) -> None:
        if ahead <= _MAX_AHEAD:
            return
        if time_given:
            raise SsdptError(Sentence("sources.inTheFuture", seconds=round(ahead)))
        raise SsdptError(Sentence("sources.aheadOfTime", seconds=round(ahead)))

    def _next_push(self) -> _Push | None:
        with self._change:
            if not self._pushes:
                self._change.wait(_POLL)
            return self._pushes.popleft() if self._pushes else None

    def _check_silence(self, now: float) -> None:
        silence = now - self._last
        if self.status.connected and silence > self._disconnected_after:
            message = Sentence("sources.nothingSent", seconds=self._disconnected_after)
            self._update_status(connected=False, message=message)

    def _resampled(self, resampler: Resampler, push: _Push, position: float) -> Iterator[Chunk]:
        """A push at the rate of the machine, from the time `position` on.

        A second after the other: a long one, at a high rate, would take gigabytes.
        """
        gap, length = push.gap, round(CHUNK_SECONDS * push.rate)
        for at in range(0, len(push.samples), length):
            for chunk in self._split(resampler.feed(push.samples[at : at + length]), position, gap):
                gap, position = 0.0, chunk.time + len(chunk.samples) / self.rate
                yield chunk

    def _split(self, samples: Floats, time: float, gap: float) -> Iterator[Chunk]:
        length = round(CHUNK_SECONDS * self.rate)
        for at in range(0, len(samples), length):
            yield Chunk(samples[at : at + length], time + at / self.rate, gap if at == 0 else 0.0)


def _frames(samples: NDArray[np.float32] | NDArray[np.int16], rate: int, channels: int) -> Floats:
    """(frames, channels) as float; SsdptError where they cannot be so."""
    if not _RATES[0] <= rate <= _RATES[1]:
        raise SsdptError(
            Sentence("sources.wrongRate", rate=rate, lowest=_RATES[0], highest=_RATES[1])
        )
    if not 1 <= channels <= _MAX_CHANNELS:
        raise SsdptError(Sentence("sources.wrongChannels", channels=channels, most=_MAX_CHANNELS))
    if samples.size % channels or (samples.ndim == 2 and samples.shape[1] != channels):
        raise SsdptError(Sentence("sources.brokenFrames", samples=samples.size, channels=channels))
    frames = samples.reshape(-1, channels)
    if frames.dtype == np.int16:
        return frames.astype(np.float32) / np.float32(32768)
    return frames.astype(np.float32)

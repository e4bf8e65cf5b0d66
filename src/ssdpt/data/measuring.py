"""The measurements of one recording for an inspection: what it holds, channel by channel."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ssdpt.data.audio import AudioInfo, content_digest, open_audio
from ssdpt.data.audio_error import AudioError
from ssdpt.data.sensor import Sensor, sensor_of
from ssdpt.types import Recording

_FULL_SCALE = 0.9999  # of the largest sample value; 16-bit sound ends at 0.99997


@dataclass(frozen=True, slots=True)
class ChannelLevel:
    """One channel, in shares of full scale."""

    mean: float
    rms: float  # about the mean
    clipped: float  # share of samples at full scale
    dead: bool  # one value throughout


@dataclass(frozen=True, slots=True)
class Measured:
    """The measurements of one file. `error` is set where it could not be read."""

    recording: Recording
    info: AudioInfo = field(default_factory=lambda: AudioInfo(0, 0, 0, 0.0))
    channels: tuple[ChannelLevel, ...] = ()
    snapshots: int = 0  # that the file holds, where sensor.yaml says how long one is
    dead_snapshots: int = 0  # those of one value
    digest: str = ""
    error: AudioError | None = field(default=None, compare=False)

    @property
    def seconds(self) -> float:
        return self.info.seconds

    @property
    def dead(self) -> bool:
        """Whether no channel carries anything."""
        return all(channel.dead for channel in self.channels)

    @property
    def dead_axes(self) -> list[str]:
        """Names of the channels that carry nothing, beside some that do."""
        if self.dead:
            return []
        names = self.axes
        return [name for name, item in zip(names, self.channels, strict=True) if item.dead]

    @property
    def axes(self) -> tuple[str, ...]:
        """Names of the channels; numbers where they have none."""
        return self.info.axes or tuple(str(number) for number in range(self.info.channels))


def measure(recording: Recording) -> Measured:
    """Read all of a recording."""
    sensor = sensor_of(recording.path) if recording.clip is None else Sensor()
    try:
        with open_audio(recording) as reader:
            sums = _Sums(reader.info, sensor.snapshot)
            for frames in reader.frames():
                sums.add(frames)
    except AudioError as error:
        return Measured(recording, error=error)
    return Measured(
        recording,
        info=reader.info,
        channels=sums.levels(),
        snapshots=sums.snapshots,
        dead_snapshots=sums.dead_snapshots,
        digest=content_digest(recording),
    )


class _Sums:
    """What is summed over the pieces of a recording, channel by channel."""

    def __init__(self, info: AudioInfo, snapshot: float | None) -> None:
        self._count = 0
        self._total = np.zeros(info.channels)
        self._squares = np.zeros(info.channels)
        self._loud = np.zeros(info.channels, np.int64)
        self._lowest = np.full(info.channels, np.inf)
        self._highest = np.full(info.channels, -np.inf)
        self._length = max(1, round((snapshot or 0.0) * info.sample_rate))  # of a snapshot
        self._many = snapshot is not None and self._length < info.frames
        self._rest = np.zeros((0, info.channels), np.float32)  # of a snapshot under way
        self.snapshots = self.dead_snapshots = 0

    def add(self, frames: np.ndarray) -> None:
        """Further (samples, channels)."""
        self._count += len(frames)
        self._total += frames.sum(axis=0, dtype=np.float64)
        self._squares += np.square(frames, dtype=np.float64).sum(axis=0)
        self._loud += np.count_nonzero(np.abs(frames) >= _FULL_SCALE, axis=0)
        self._lowest = np.minimum(self._lowest, frames.min(axis=0))
        self._highest = np.maximum(self._highest, frames.max(axis=0))
        if self._many:
            joined = np.concatenate([self._rest, frames])
            whole = len(joined) // self._length
            rows = joined[: whole * self._length].reshape(whole, self._length, -1)
            self.snapshots += whole
            self.dead_snapshots += int((np.ptp(rows, axis=1) == 0).all(axis=1).sum())
            self._rest = joined[whole * self._length :]

    def levels(self) -> tuple[ChannelLevel, ...]:
        mean = self._total / self._count
        power = np.maximum(self._squares / self._count - mean**2, 0.0)
        return tuple(
            ChannelLevel(*values)
            for values in zip(
                mean.tolist(),
                np.sqrt(power).tolist(),
                (self._loud / self._count).tolist(),
                (self._lowest == self._highest).tolist(),
                strict=True,
            )
        )

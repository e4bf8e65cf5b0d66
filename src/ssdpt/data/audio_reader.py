"""A recording that is open: one channel of it, at any rate, in the unit of a model."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import soundfile

from ssdpt.config.settings import AudioConfig
from ssdpt.data.audio_error import AudioError
from ssdpt.data.resampling import ResampledBlocks
from ssdpt.data.sensor import conversion
from ssdpt.sentences import Sentence
from ssdpt.types import VIBRATION_UNITS, Floats, Unit

DECODE_FRAMES = 1 << 16
"""Decoding always goes in these steps, whatever block the caller wants: so the resampler sees the
same pieces and gives the same numbers."""

_LARGEST = 1e37  # a sample beyond it counts as infinite: resampled, it could become so


@dataclass(frozen=True, slots=True)
class AudioInfo:
    """What the header of a recording says, and its `sensor.yaml`."""

    sample_rate: int  # Hz
    channels: int
    frames: int  # samples per channel
    seconds: float
    unit: Unit = ""  # empty = not calibrated
    full_scale: float = 1.0  # what a sample of 1 means, in the unit
    axes: tuple[str, ...] = ()  # names of the channels; empty where they have none
    snapshot: float | None = None  # seconds of one, where the file holds many end to end

    @property
    def vibration(self) -> bool:
        """Whether it is the movement of a machine, not the sound in the air."""
        return self.unit in VIBRATION_UNITS


class AudioReader:
    """A recording that is open: what its header says, and its samples as often as needed."""

    def __init__(
        self,
        path: Path,
        info: AudioInfo,
        decode: Callable[[], Iterator[np.ndarray]],
        *,
        in_memory: bool = False,
    ) -> None:
        """`decode` gives pieces (frames, channels) of `DECODE_FRAMES`, from the beginning.

        Who puts a clip `in_memory` has chosen its channel.
        """
        self.path = path
        self.info = info
        self._decode = decode
        self._in_memory = in_memory

    def blocks(
        self,
        sample_rate: int = 16000,
        channel: int | str = 0,
        *,
        block_seconds: float = 30.0,
        strict: bool = False,
        living: bool = False,
    ) -> Iterator[Floats]:
        """Yield one channel at `sample_rate` Hz as float32 blocks, each (samples,).

        All blocks but the last hold `block_seconds`; the samples are the same whatever the block
        length, and memory does not grow with the file. Another rate is resampled with an
        anti-aliasing filter, or refused where `strict`. Not-a-number and infinite samples end the
        stream with an error where they are met; silence and a file that ends too early, at its end.
        `living` leaves out snapshots of a single value: the sensor was dead for a while.
        """
        number = self._channel_number(channel)
        if strict and self.info.sample_rate != sample_rate:
            shape = f"{describe_rate(self.info.sample_rate)}, {channels_text(self.info.channels)}"
            raise AudioError(
                self.path,
                "refused",
                f"{shape}; this model expects {describe_rate(sample_rate)}, channel {channel} "
                f"(leave out --strict to have it resampled)",
            )
        blocks = ResampledBlocks(self.info.sample_rate, sample_rate, block_seconds)
        checked = self._checked(number)
        if living and self.info.snapshot:
            checked = _living(checked, max(1, round(self.info.snapshot * self.info.sample_rate)))
        is_empty = True
        for samples in checked:
            for block in blocks.feed(samples):
                is_empty = False
                yield block
        for block in blocks.finish():
            is_empty = False
            yield block
        if is_empty:  # a few samples at a high rate are none at a low one
            raise AudioError(self.path, "empty", Sentence("recordings.noSamples"))

    def model_input(self, settings: AudioConfig, *, strict: bool = False) -> Iterator[Floats]:
        """The blocks in the rate, channel, unit and scale that a model works with."""
        gain = np.float32(self._gain(settings))
        rate, channel = settings.sample_rate, settings.channel
        for block in self.blocks(rate, channel, strict=strict, living=True):
            yield block if gain == 1.0 else block * gain

    def _gain(self, settings: AudioConfig) -> float:
        """What turns samples of this recording into those of a model."""
        unit, expected = self.info.unit, settings.unit
        if self._in_memory and not unit:
            return 1.0
        factor = conversion(unit, expected)
        if factor is not None:
            return factor * self.info.full_scale / settings.full_scale
        if not unit:
            raise AudioError(
                self.path,
                "refused",
                f"its unit is not known; this model works with values in {expected}: write unit "
                f"and full_scale into a sensor.yaml beside it",
            )
        other = f"values in {expected}" if expected else "recordings without a unit"
        raise AudioError(
            self.path,
            "refused",
            f"measured in {unit}; this model works with {other}: fit one with recordings of this "
            f"sensor",
        )

    def _channel_number(self, channel: int | str) -> int:
        channels, axes = self.info.channels, self.info.axes
        if self._in_memory or (isinstance(channel, str) and channels == 1 and not axes):
            return 0
        if isinstance(channel, int) and 0 <= channel < channels:
            return channel
        if isinstance(channel, str) and channel in axes:
            return axes.index(channel)
        if isinstance(channel, str):
            names = f"it has {', '.join(axes)}" if axes else "sensor.yaml names no axes"
            raise AudioError(
                self.path,
                "refused",
                f"there is no axis {channel}; {names}: choose one of the "
                f"{channels_text(channels)} by name or number from 0",
            )
        raise AudioError(
            self.path,
            "refused",
            Sentence("recordings.noChannel", channel=channel, count=channels, last=channels - 1),
        )

    def frames(self) -> Iterator[np.ndarray]:
        """All channels at the recording's own rate, (samples, channels) each; may be silent."""
        done = 0
        for frames in self._pieces():
            self._check_numbers(np.all(_usable(frames), axis=1), done)
            done += len(frames)
            yield frames

    def _checked(self, channel: int) -> Iterator[Floats]:
        """The channel at the recording's own rate, checked sample by sample."""
        done = 0
        first: np.float32 | None = None
        constant = True
        for frames in self._pieces():
            samples = np.ascontiguousarray(frames[:, channel])
            self._check_numbers(_usable(samples), done)
            first = samples[0] if first is None else first
            constant = constant and bool((samples == first).all())
            done += len(samples)
            yield samples
        if constant:
            raise AudioError(
                self.path,
                "silent",
                Sentence("recordings.silent", seconds=round(self.info.seconds, 2), channel=channel),
            )

    def _check_numbers(self, usable: np.ndarray, done: int) -> None:
        """`usable` (samples,) follows `done` samples."""
        if not usable.all():
            at = (done + int(np.argmin(usable))) / self.info.sample_rate
            raise AudioError(
                self.path,
                "not numbers",
                Sentence("recordings.notNumbers", seconds=round(at, 2)),
            )

    def _pieces(self) -> Iterator[np.ndarray]:
        """What is decoded, (frames, channels) each; AudioError where it ends too early."""
        info = self.info
        done = 0
        pieces = self._decode()
        while True:
            try:
                frames = next(pieces, None)
            except (soundfile.SoundFileError, OSError) as error:
                raise AudioError(
                    self.path,
                    "cut short",
                    Sentence(
                        "recordings.damaged",
                        seconds=round(done / info.sample_rate, 2),
                        promised=round(info.seconds, 2),
                        reason=decoder_reason(error),
                    ),
                ) from error
            if frames is None:
                break
            done += len(frames)
            yield frames
        if done < info.frames:
            raise AudioError(
                self.path,
                "cut short",
                Sentence(
                    "recordings.cutShort",
                    seconds=round(done / info.sample_rate, 2),
                    promised=round(info.seconds, 2),
                ),
            )


class JoinedReader(AudioReader):
    """Several recordings of one sensor, end to end."""

    def __init__(self, path: Path, parts: Sequence[AudioReader]) -> None:
        first = parts[0].info
        for part in parts[1:]:
            other = replace(part.info, frames=first.frames, seconds=first.seconds)
            if other != first:
                raise AudioError(
                    part.path,
                    "refused",
                    f"{_measured(part.info)}, but {path.name} beside it {_measured(first)}; keep "
                    f"those of one sensor in one folder",
                )
        frames = sum(part.info.frames for part in parts)
        info = replace(first, frames=frames, seconds=frames / first.sample_rate)
        super().__init__(path, info, lambda: iter(()))
        self._parts = parts

    def frames(self) -> Iterator[np.ndarray]:
        for part in self._parts:
            yield from part.frames()

    def _checked(self, channel: int) -> Iterator[Floats]:
        """Each part for itself: a dead one spoils the whole."""
        for part in self._parts:
            yield from part._checked(channel)


def _usable(samples: np.ndarray) -> np.ndarray:
    """Which samples are numbers that can be resampled; NaN is not."""
    usable: np.ndarray = np.abs(samples) <= _LARGEST
    return usable


def _living(pieces: Iterator[Floats], length: int) -> Iterator[Floats]:
    """The samples without snapshots of `length` samples that hold a single value."""
    rest = np.zeros(0, np.float32)
    for samples in pieces:
        joined = np.concatenate([rest, samples])
        whole = len(joined) // length * length
        rows = joined[:whole].reshape(-1, length)
        living = rows[np.ptp(rows, axis=1) > 0].ravel()
        if len(living):
            yield living
        rest = joined[whole:]
    if len(rest):
        yield rest


def describe_rate(sample_rate: int) -> str:
    """A rate as a data sheet gives it: `44.1 kHz`."""
    return f"{sample_rate / 1000:g} kHz"


def _measured(info: AudioInfo) -> str:
    unit = f", {info.unit} (full scale {info.full_scale:g})" if info.unit else ""
    return f"has {describe_rate(info.sample_rate)}, {channels_text(info.channels)}{unit}"


def channels_text(count: int) -> str:
    """`1 channel`, `3 channels`."""
    return "1 channel" if count == 1 else f"{count} channels"


def decoder_reason(error: Exception) -> str:
    """libsndfile's message without the path, which the sentence already has."""
    text = str(getattr(error, "error_string", error)).removeprefix("Error : ").strip().rstrip(".")
    if "does not exist" in text:  # what its MP3 decoder says where it found no frame
        return "format not recognised"
    return text[:1].lower() + text[1:]

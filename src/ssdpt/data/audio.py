"""Read one channel of a recording at one rate, in constant memory.

`AudioReader` is the only reader: `probe`, `stream` and `read` open one. Every way a recording can
be unusable ends in one sentence that names the file and, where it is known, the second.
"""

from __future__ import annotations

import contextlib
import io
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import soundfile

from ssdpt.common.files import digest
from ssdpt.data.container import missing_part
from ssdpt.data.resampling import ResampledBlocks
from ssdpt.errors import SsdptError
from ssdpt.types import Clip, Floats, Recording

AUDIO_SUFFIXES = frozenset({".wav", ".flac", ".ogg", ".mp3"})
"""File name endings that folders are searched for, in lower case."""

# Decoding always goes in these steps, whatever block the caller wants: so the resampler sees
# the same pieces and gives the same numbers.
_DECODE_FRAMES = 1 << 16
_UNKNOWN_FRAMES = 1 << 62  # libsndfile's sign for a FLAC stream written through a pipe


Problem = Literal["missing", "unreadable", "cut short", "empty", "not numbers", "silent", "refused"]
Source = Path | Recording | Clip


class AudioError(SsdptError):
    """A recording that cannot be used; `problem` is the kind of it, for those who count."""

    def __init__(self, path: Path, problem: Problem, sentence: str) -> None:
        super().__init__(f"{path}: {sentence}")
        self.problem = problem


@dataclass(frozen=True, slots=True)
class AudioInfo:
    """What the header of a sound file says."""

    sample_rate: int  # Hz
    channels: int
    frames: int  # samples per channel
    seconds: float


class AudioReader:
    """A recording that is open: what its header says, and its samples as often as needed."""

    def __init__(
        self, path: Path, info: AudioInfo, decode: Callable[[], Iterator[np.ndarray]]
    ) -> None:
        """`decode` gives pieces (frames, channels) of `_DECODE_FRAMES`, from the beginning."""
        self.path = path
        self.info = info
        self._decode = decode

    def blocks(
        self,
        sample_rate: int = 16000,
        channel: int = 0,
        *,
        block_seconds: float = 30.0,
        strict: bool = False,
    ) -> Iterator[Floats]:
        """Yield one channel at `sample_rate` Hz as float32 blocks, each (samples,).

        All blocks but the last hold `block_seconds`; the samples are the same whatever the block
        length, and memory does not grow with the file. Another rate is resampled with an
        anti-aliasing filter, or refused where `strict`. Not-a-number and infinite samples end the
        stream with an error where they are met; silence and a file that ends too early, at its end.
        """
        self._check_channel(channel)
        if strict and self.info.sample_rate != sample_rate:
            shape = f"{describe_rate(self.info.sample_rate)}, {_channels(self.info.channels)}"
            raise AudioError(
                self.path,
                "refused",
                f"{shape}; this model expects {describe_rate(sample_rate)}, channel {channel} "
                f"(leave out --strict to have it resampled)",
            )
        blocks = ResampledBlocks(self.info.sample_rate, sample_rate, block_seconds)
        for samples in self._checked(channel):
            yield from blocks.feed(samples)
        yield from blocks.finish()

    def _check_channel(self, channel: int) -> None:
        channels = self.info.channels
        if not 0 <= channel < channels:
            raise AudioError(
                self.path,
                "refused",
                f"there is no channel {channel}; the file has {_channels(channels)}, "
                f"counted from 0: choose one from 0 to {channels - 1}",
            )

    def _checked(self, channel: int) -> Iterator[Floats]:
        """The channel at the recording's own rate, checked sample by sample."""
        info = self.info
        done = 0
        first: np.float32 | None = None
        constant = True
        pieces = self._decode()
        while True:
            try:
                frames = next(pieces, None)
            except (soundfile.SoundFileError, OSError) as error:
                raise AudioError(
                    self.path,
                    "cut short",
                    f"damaged or cut short after {done / info.sample_rate:.2f} s of "
                    f"{info.seconds:.2f} s ({_reason(error)}); copy or record it again",
                ) from error
            if frames is None:
                break
            samples = np.ascontiguousarray(frames[:, channel])
            finite = np.isfinite(samples)
            if not finite.all():
                at = (done + int(np.argmin(finite))) / info.sample_rate
                raise AudioError(
                    self.path,
                    "not numbers",
                    f"samples that are not numbers (NaN or infinite) at {at:.2f} s; "
                    f"write it again from the original recording",
                )
            first = samples[0] if first is None else first
            constant = constant and bool((samples == first).all())
            done += len(samples)
            yield samples
        if done < info.frames:
            raise AudioError(
                self.path,
                "cut short",
                f"cut short: {done / info.sample_rate:.2f} s of the {info.seconds:.2f} s "
                f"its header promises; copy or record it again",
            )
        if constant:
            raise AudioError(
                self.path,
                "silent",
                f"silent: all {info.seconds:.2f} s of channel {channel} hold one value; "
                f"check the microphone and the channel",
            )


@contextlib.contextmanager
def open_audio(source: Source) -> Iterator[AudioReader]:
    """Open a sound file or a clip in memory; refuse what is missing, foreign, empty or cut short.

    One thread may read from the reader at a time.
    """
    if isinstance(source, Clip):
        yield _clip_reader(Path(source.name), source)
        return
    if isinstance(source, Recording) and source.clip is not None:
        yield _clip_reader(source.path, source.clip)
        return
    path = source.path if isinstance(source, Recording) else source
    file = _opened(path)
    try:
        yield AudioReader(path, _info(file), lambda: _file_pieces(file))
    finally:
        file.close()


def probe(source: Source) -> AudioInfo:
    """The header of a recording; refuses what `open_audio` does."""
    with open_audio(source) as reader:
        return reader.info


def stream(
    source: Source,
    sample_rate: int = 16000,
    channel: int = 0,
    *,
    block_seconds: float = 30.0,
    strict: bool = False,
) -> Iterator[Floats]:
    """The blocks of `AudioReader.blocks`; the recording is open while they are read."""
    with open_audio(source) as reader:
        yield from reader.blocks(sample_rate, channel, block_seconds=block_seconds, strict=strict)


def read(
    source: Source, sample_rate: int = 16000, channel: int = 0, *, strict: bool = False
) -> Floats:
    """All of a recording, (samples,) float32."""
    return np.concatenate(list(stream(source, sample_rate, channel, strict=strict)))


def content_digest(recording: Recording) -> str:
    """A hash of the content: the same recording under another name has the same one."""
    return digest(recording.path) if recording.clip is None else recording.clip.digest


def flac_bytes(samples: Floats, sample_rate: int) -> bytes:
    """Samples (n,) as a FLAC file of 16 bits."""
    file = io.BytesIO()
    soundfile.write(file, np.clip(samples, -1.0, 1.0), sample_rate, format="FLAC", subtype="PCM_16")
    return file.getvalue()


def describe_rate(sample_rate: int) -> str:
    """A rate as a data sheet gives it: `44.1 kHz`."""
    return f"{sample_rate / 1000:g} kHz"


def _clip_reader(path: Path, clip: Clip) -> AudioReader:
    count = len(clip.samples)
    info = AudioInfo(clip.sample_rate, 1, count, clip.seconds)
    frames = clip.samples[:, None]  # (samples, 1)
    starts = range(0, count, _DECODE_FRAMES)
    return AudioReader(path, info, lambda: (frames[at : at + _DECODE_FRAMES] for at in starts))


def _file_pieces(file: Any) -> Iterator[np.ndarray]:
    """All frames of an open sound file, (frames, channels) each."""
    if file.tell():
        file.seek(0)
    while len(frames := file.read(_DECODE_FRAMES, dtype="float32", always_2d=True)):
        yield frames


def _opened(path: Path) -> Any:
    """The decoder on `path`, after the checks that libsndfile does not make."""
    try:
        if path.is_dir():
            raise AudioError(
                path, "refused", "a folder, not a sound file; give one of the files in it"
            )
        if not path.exists():
            raise AudioError(path, "missing", "no such file; check the path")
        if path.stat().st_size == 0:
            raise AudioError(path, "empty", "an empty file (0 bytes); record it again")
        if missing := missing_part(path):
            raise AudioError(path, "cut short", f"cut short: {missing}; copy or record it again")
        file = soundfile.SoundFile(_name(path))
    except OSError as error:
        raise AudioError(
            path, "unreadable", f"cannot be read: {error.strerror or error}; check the permissions"
        ) from error
    except (soundfile.SoundFileError, TypeError) as error:
        # soundfile raises TypeError for formats without a header, such as .raw.
        raise AudioError(
            path,
            "unreadable",
            f"not a readable sound file ({_reason(error)}); WAV, FLAC, OGG and MP3 are read",
        ) from error
    if 0 < file.frames < _UNKNOWN_FRAMES:
        return file
    file.close()
    if file.frames == 0:
        raise AudioError(path, "empty", "holds no sound (0 samples); record it again")
    raise AudioError(path, "unreadable", "its length is not in its header; write it to a new file")


def _info(file: Any) -> AudioInfo:
    return AudioInfo(
        sample_rate=int(file.samplerate),
        channels=int(file.channels),
        frames=int(file.frames),
        seconds=file.frames / file.samplerate,
    )


def _channels(count: int) -> str:
    return "1 channel" if count == 1 else f"{count} channels"


def _reason(error: Exception) -> str:
    """libsndfile's message without the path, which the sentence already has."""
    text = str(getattr(error, "error_string", error)).removeprefix("Error : ").strip().rstrip(".")
    if "does not exist" in text:  # what its MP3 decoder says where it found no frame
        return "format not recognised"
    return text[:1].lower() + text[1:]


def _name(path: Path) -> bytes | str:
    """The path for soundfile: as bytes, since a name need not be text, except on Windows."""
    return os.fsencode(path) if os.name == "posix" else str(path)

"""Read one channel of a sound file at one rate, in constant memory.

`stream` is the only reader: `read` joins its blocks. Every way a file can be unusable ends in
one sentence that names the file and, where it can be told, the second.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import soundfile
import soxr

from ssdpt.data.container import missing_part
from ssdpt.errors import SsdptError
from ssdpt.types import Floats

AUDIO_SUFFIXES = frozenset({".wav", ".flac", ".ogg", ".mp3"})
"""File name endings that folders are searched for, in lower case."""

# Decoding always goes in these steps, whatever block the caller wants: so the resampler sees
# the same pieces and gives the same numbers.
_DECODE_FRAMES = 1 << 16
_UNKNOWN_FRAMES = 1 << 62  # libsndfile's sign for a FLAC stream written through a pipe


Problem = Literal["missing", "unreadable", "cut short", "empty", "not numbers", "silent", "refused"]


class AudioError(SsdptError):
    """A sound file that cannot be used; `problem` is the kind of it, for those who count."""

    def __init__(self, path: Path, problem: Problem, sentence: str) -> None:
        super().__init__(f"{path}: {sentence}")
        self.problem = problem


@dataclass(frozen=True, slots=True)
class AudioInfo:
    """What a sound file's header says."""

    sample_rate: int  # Hz
    channels: int
    frames: int  # samples a channel
    seconds: float


def probe(path: Path) -> AudioInfo:
    """Read the header of `path`; refuse what is missing, foreign, empty or cut short."""
    with _open(path) as file:
        return _info(file)


def stream(
    path: Path,
    sample_rate: int = 16000,
    channel: int = 0,
    *,
    block_seconds: float = 30.0,
    strict: bool = False,
) -> Iterator[Floats]:
    """Yield channel `channel` of `path` at `sample_rate` Hz as float32 blocks, each (samples,).

    All blocks but the last hold `block_seconds`; the samples are the same whatever the block
    length, and memory does not grow with the file. Another rate is resampled with an
    anti-aliasing filter, or refused where `strict`. Not-a-number and infinite samples end the
    stream with an error where they are met; silence and a file that ends too early, at its end.
    """
    block = max(1, round(block_seconds * sample_rate))
    waiting: list[Floats] = []
    held = 0
    for piece in _resampled(path, sample_rate, channel, strict):
        waiting.append(piece)
        held += len(piece)
        if held < block:
            continue
        joined = np.concatenate(waiting)
        whole = held - held % block
        for start in range(0, whole, block):
            yield joined[start : start + block]
        waiting, held = [joined[whole:]], held - whole
    if held:
        yield np.concatenate(waiting)


def read(path: Path, sample_rate: int = 16000, channel: int = 0, *, strict: bool = False) -> Floats:
    """All of `path` as `stream` gives it, (samples,) float32."""
    return np.concatenate(list(stream(path, sample_rate, channel, strict=strict)))


def describe_rate(sample_rate: int) -> str:
    """A rate in the words of a data sheet: `44.1 kHz`."""
    return f"{sample_rate / 1000:g} kHz"


def _resampled(path: Path, sample_rate: int, channel: int, strict: bool) -> Iterator[Floats]:
    with _open(path) as file:
        info = _info(file)
        shape = f"{describe_rate(info.sample_rate)}, {_channels(info.channels)}"
        if not 0 <= channel < info.channels:
            raise AudioError(
                path,
                "refused",
                f"there is no channel {channel}; the file has {_channels(info.channels)}, "
                f"counted from 0: choose one from 0 to {info.channels - 1}",
            )
        if strict and info.sample_rate != sample_rate:
            raise AudioError(
                path,
                "refused",
                f"{shape}; this model expects {describe_rate(sample_rate)}, channel {channel} "
                f"(leave out --strict to have it resampled)",
            )
        pieces = _decoded(path, file, channel, info)
        if info.sample_rate == sample_rate:
            yield from pieces
            return
        resampler = soxr.ResampleStream(info.sample_rate, sample_rate, 1, dtype="float32")
        for piece in pieces:
            yield resampler.resample_chunk(piece)
        yield resampler.resample_chunk(np.empty(0, np.float32), last=True)


def _decoded(path: Path, file: Any, channel: int, info: AudioInfo) -> Iterator[Floats]:
    """The channel at the file's own rate, checked sample by sample."""
    done = 0
    first: np.float32 | None = None
    constant = True
    while True:
        try:
            frames = file.read(_DECODE_FRAMES, dtype="float32", always_2d=True)
        except soundfile.SoundFileError as error:
            raise AudioError(
                path,
                "cut short",
                f"damaged or cut short after {done / info.sample_rate:.2f} s of "
                f"{info.seconds:.2f} s ({_reason(error)}); copy or record it again",
            ) from error
        if not len(frames):
            break
        samples = np.ascontiguousarray(frames[:, channel])
        finite = np.isfinite(samples)
        if not finite.all():
            at = (done + int(np.argmin(finite))) / info.sample_rate
            raise AudioError(
                path,
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
            path,
            "cut short",
            f"cut short: {done / info.sample_rate:.2f} s of the {info.seconds:.2f} s "
            f"its header promises; copy or record it again",
        )
    if constant:
        raise AudioError(
            path,
            "silent",
            f"silent: all {info.seconds:.2f} s of channel {channel} hold one value; "
            f"check the microphone and the channel",
        )


@contextlib.contextmanager
def _open(path: Path) -> Iterator[Any]:
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
        with soundfile.SoundFile(_name(path)) as file:
            if file.frames == 0:
                raise AudioError(path, "empty", "holds no sound (0 samples); record it again")
            if file.frames >= _UNKNOWN_FRAMES:
                raise AudioError(
                    path, "unreadable", "does not tell its length; write it again to a file"
                )
            yield file
    except OSError as error:
        raise AudioError(
            path, "unreadable", f"cannot be read: {error.strerror or error}; check the permissions"
        ) from error
    except (soundfile.SoundFileError, TypeError) as error:
        # TypeError is soundfile's word for formats without a header, such as .raw.
        raise AudioError(
            path,
            "unreadable",
            f"not a readable sound file ({_reason(error)}); WAV, FLAC, OGG and MP3 are read",
        ) from error


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
    """libsndfile's own words without the path, which the sentence already has."""
    text = str(getattr(error, "error_string", error)).removeprefix("Error : ").strip().rstrip(".")
    if "does not exist" in text:  # how its MP3 decoder says that it found no frame
        return "format not recognised"
    return text[:1].lower() + text[1:]


def _name(path: Path) -> bytes | str:
    """The path as soundfile takes it: as bytes it may hold what is no text, except on Windows."""
    return os.fsencode(path) if os.name == "posix" else str(path)

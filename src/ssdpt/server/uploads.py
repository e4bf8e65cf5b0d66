"""Sound that clients send by HTTP: from a body to samples."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import AsyncIterator
from email.message import Message as ContentType
from typing import IO, Literal

import numpy as np
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException

from ssdpt.monitor.sources.pushed_source import MAX_AT_ONCE
from ssdpt.sentences import Sentence
from ssdpt.types import Floats

_IN_MEMORY = 2**20  # bytes of a body; larger ones go to an unnamed temporary file
_MOST_VALUES = 32_000_000  # frames times channels; compressed files unpack to much more
_TIMEOUT = 30.0  # seconds until the next piece of a body
_FORMATS = {"WAV", "WAVEX", "RF64", "FLAC", "OGG"}

SampleFormat = Literal["f32", "s16"]
_DTYPES: dict[SampleFormat, str] = {"f32": "<f4", "s16": "<i2"}


def is_json(content_type: str) -> bool:
    """Whether a body is a snapshot as JSON; every other one is sound."""
    return content_type.partition(";")[0].strip().lower() == "application/json"


async def read_body(pieces: AsyncIterator[bytes], into: IO[bytes]) -> None:
    """Write a body to `into` as it arrives; 408 if it stops arriving."""
    while True:
        try:
            piece = await asyncio.wait_for(anext(pieces), _TIMEOUT)
        except StopAsyncIteration:
            break
        except TimeoutError as error:
            raise HTTPException(408, Sentence("api.bodyIncomplete")) from error
        await run_in_threadpool(into.write, piece)
    into.seek(0)


def spooled() -> IO[bytes]:
    """An unnamed temporary file."""
    return tempfile.SpooledTemporaryFile(max_size=_IN_MEMORY)


def decode(content: IO[bytes], content_type: str) -> tuple[Floats, int]:
    """Samples (frames, channels) within ±1 and their rate in Hz."""
    kind = ContentType()
    kind["content-type"] = content_type
    if kind.get_content_type() == "audio/l16":
        return _decode_l16(content, kind)
    return _decode_file(content)


def decode_pcm(content: bytes, channels: int, form: SampleFormat) -> Floats:
    """Interleaved little-endian samples as (frames, channels) within ±1."""
    dtype = np.dtype(_DTYPES[form])
    if not content or len(content) % (dtype.itemsize * channels):
        raise HTTPException(
            400, Sentence("api.brokenMessage", channels=channels, bytes=dtype.itemsize)
        )
    return _scaled(np.frombuffer(content, dtype), channels)


def _decode_l16(content: IO[bytes], kind: ContentType) -> tuple[Floats, int]:
    """RFC 2586: big-endian 16-bit samples, interleaved."""
    try:
        rate = int(str(kind.get_param("rate", "")))
        channels = int(str(kind.get_param("channels", "1")))
    except ValueError as error:
        raise HTTPException(400, Sentence("api.noRate")) from error
    data = content.read()
    if rate <= 0 or channels <= 0 or not data or len(data) % (2 * channels):
        raise HTTPException(400, Sentence("api.brokenFrames", channels=channels))
    return _scaled(np.frombuffer(data, ">i2"), channels), rate


def _scaled(values: np.ndarray, channels: int) -> Floats:
    samples = values.astype(np.float32, copy=False).reshape(-1, channels)
    if values.dtype.kind != "f":
        samples = samples / np.float32(32768)
    if not np.isfinite(samples).all():
        raise HTTPException(400, Sentence("api.notFinite"))
    return samples


def _decode_file(content: IO[bytes]) -> tuple[Floats, int]:
    import soundfile

    try:
        with soundfile.SoundFile(content) as file:
            if file.format not in _FORMATS:
                raise HTTPException(415, Sentence("api.unsupportedFormat", format=file.format))
            most = int(min(_MOST_VALUES / file.channels, MAX_AT_ONCE * file.samplerate))  # frames
            if file.frames > most:
                minutes = most / file.samplerate / 60
                raise HTTPException(413, Sentence("api.tooLong", minutes=round(minutes)))
            # The length in the header may be wrong or open.
            samples = file.read(min(file.frames, most), "float32", always_2d=True)
            rate = int(file.samplerate)
    except (soundfile.SoundFileError, ValueError, OSError) as error:
        raise HTTPException(415, Sentence("api.notSound")) from error
    if not len(samples):
        raise HTTPException(400, Sentence("api.emptyRecording"))
    return _scaled(samples, samples.shape[1]), rate

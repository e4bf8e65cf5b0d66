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

from ssdpt.types import Floats

_IN_MEMORY = 2**20  # bytes of a body; larger ones go to an unnamed temporary file
_MOST_VALUES = 32_000_000  # frames times channels; compressed files unpack to much more
_TIMEOUT = 30.0  # seconds until the next piece of a body
_FORMATS = {"WAV", "WAVEX", "RF64", "FLAC", "OGG"}

SampleFormat = Literal["f32", "s16"]
_DTYPES: dict[SampleFormat, str] = {"f32": "<f4", "s16": "<i2"}


async def read_body(pieces: AsyncIterator[bytes], into: IO[bytes]) -> None:
    """Write a body to `into` as it arrives; 408 if it stops arriving."""
    while True:
        try:
            piece = await asyncio.wait_for(anext(pieces), _TIMEOUT)
        except StopAsyncIteration:
            break
        except TimeoutError as error:
            raise HTTPException(408, "the rest of the body did not arrive") from error
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
            400, f"a message must have whole frames of {channels} × {dtype.itemsize} bytes"
        )
    return _scaled(np.frombuffer(content, dtype), channels)


def _decode_l16(content: IO[bytes], kind: ContentType) -> tuple[Floats, int]:
    """RFC 2586: big-endian 16-bit samples, interleaved."""
    try:
        rate = int(str(kind.get_param("rate", "")))
        channels = int(str(kind.get_param("channels", "1")))
    except ValueError as error:
        raise HTTPException(400, "name the rate in Hz: audio/L16;rate=16000;channels=1") from error
    data = content.read()
    if rate <= 0 or channels <= 0 or not data or len(data) % (2 * channels):
        raise HTTPException(400, f"the body must have whole frames of {channels} × 2 bytes")
    return _scaled(np.frombuffer(data, ">i2"), channels), rate


def _scaled(values: np.ndarray, channels: int) -> Floats:
    scale = 1.0 if values.dtype.kind == "f" else 1 / 32768
    samples = (values.astype(np.float32) * np.float32(scale)).reshape(-1, channels)
    if not np.isfinite(samples).all():
        raise HTTPException(400, "some samples are not finite numbers")
    return samples


def _decode_file(content: IO[bytes]) -> tuple[Floats, int]:
    import soundfile

    try:
        with soundfile.SoundFile(content) as file:
            if file.format not in _FORMATS:
                raise HTTPException(415, f"{file.format} is not supported; send WAV, FLAC or OGG")
            if file.frames * file.channels > _MOST_VALUES:
                minutes = _MOST_VALUES / file.channels / file.samplerate / 60
                raise HTTPException(
                    413, f"the recording is too long; send at most {minutes:.0f} min at once"
                )
            # The length in the header may be wrong or open.
            samples = file.read(
                min(file.frames, _MOST_VALUES // file.channels), "float32", always_2d=True
            )
            rate = int(file.samplerate)
    except (soundfile.SoundFileError, ValueError, OSError) as error:
        raise HTTPException(415, "not a readable WAV, FLAC or OGG file") from error
    if not len(samples):
        raise HTTPException(400, "the recording is empty")
    return _scaled(samples, samples.shape[1]), rate

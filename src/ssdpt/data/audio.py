"""Read one channel of a recording at one rate: a sound file, or a table of sensor values.

`AudioReader` is the only reader: `probe`, `stream` and `read` open one. Sound files pass in
constant memory, tables are read as a whole. Every way a recording can be unusable ends in one
sentence that names the file and, where it is known, the second.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import soundfile

from ssdpt.common.files import digest
from ssdpt.data.audio_error import AudioError as AudioError
from ssdpt.data.audio_reader import DECODE_FRAMES, JoinedReader, channels_text, decoder_reason
from ssdpt.data.audio_reader import AudioInfo as AudioInfo
from ssdpt.data.audio_reader import AudioReader as AudioReader
from ssdpt.data.audio_reader import describe_rate as describe_rate
from ssdpt.data.container import missing_part
from ssdpt.data.sensor import Sensor, sensor_of
from ssdpt.data.tables import table_format, table_suffixes
from ssdpt.data.tables.base import TableFormat
from ssdpt.data.tables.measurement import measurement_of
from ssdpt.sentences import Sentence
from ssdpt.types import Clip, Floats, Recording

AUDIO_SUFFIXES = frozenset({".wav", ".flac", ".ogg", ".mp3"})
"""File name endings of sound files, in lower case."""

RATES = (1000, 2_000_000)  # Hz, from slow vibration sensors to ultrasound
_UNKNOWN_FRAMES = 1 << 62  # libsndfile's sign for a FLAC stream written through a pipe


Source = Path | Recording | Clip


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
    if isinstance(source, Recording) and source.snapshots:
        with contextlib.ExitStack() as stack:
            parts = [stack.enter_context(open_audio(path)) for path in source.snapshots]
            yield JoinedReader(source.path, parts)
        return
    path = source.path if isinstance(source, Recording) else source
    _check_there(path)
    sensor = sensor_of(path)
    if form := table_format(path):
        yield _table_reader(path, form, sensor)
        return
    file = _opened(path)
    try:
        yield AudioReader(path, _info(file, path, sensor), lambda: _file_pieces(file))
    finally:
        file.close()


def probe(source: Source) -> AudioInfo:
    """The header of a recording; refuses what `open_audio` does."""
    with open_audio(source) as reader:
        return reader.info


def stream(
    source: Source,
    sample_rate: int = 16000,
    channel: int | str = 0,
    *,
    block_seconds: float = 30.0,
    strict: bool = False,
) -> Iterator[Floats]:
    """The blocks of `AudioReader.blocks`; the recording is open while they are read."""
    with open_audio(source) as reader:
        yield from reader.blocks(sample_rate, channel, block_seconds=block_seconds, strict=strict)


def read(
    source: Source, sample_rate: int = 16000, channel: int | str = 0, *, strict: bool = False
) -> Floats:
    """All of a recording, (samples,) float32."""
    return np.concatenate(list(stream(source, sample_rate, channel, strict=strict)))


def content_digest(recording: Recording) -> str:
    """A hash of the content: the same recording under another name has the same one."""
    if recording.clip is not None:
        return recording.clip.digest
    parts = [digest(path) for path in recording.files]
    return (
        parts[0]
        if len(parts) == 1
        else hashlib.blake2b("".join(parts).encode(), digest_size=16).hexdigest()
    )


def flac_bytes(samples: Floats, sample_rate: int) -> bytes:
    """Samples (n,) or (n, channels) as a FLAC file of 16 bits."""
    file = io.BytesIO()
    soundfile.write(file, np.clip(samples, -1.0, 1.0), sample_rate, format="FLAC", subtype="PCM_16")
    return file.getvalue()


def is_recording(path: Path) -> bool:
    """Whether a file is a recording by its name, and a table by its first lines too.

    Hidden ones may still be written.
    """
    if path.name.startswith("."):
        return False
    if form := table_format(path):
        return path.is_file() and form.is_recording(path, sensor_of(path))
    return path.suffix.lower() in AUDIO_SUFFIXES


def recording_suffixes() -> list[str]:
    """File name endings of everything that can be read, in lower case."""
    return sorted(AUDIO_SUFFIXES | table_suffixes())


def _clip_reader(path: Path, clip: Clip) -> AudioReader:
    count = len(clip.samples)
    info = AudioInfo(clip.sample_rate, 1, count, clip.seconds, clip.unit, clip.full_scale)
    frames = clip.samples[:, None]  # (samples, 1)
    return AudioReader(path, info, lambda: _array_pieces(frames), in_memory=True)


def _table_reader(path: Path, form: TableFormat, sensor: Sensor) -> AudioReader:
    try:
        measured = measurement_of(form.read(path, sensor), sensor, path)
    except OSError as error:
        raise _unreadable(path, error) from error
    count, channels = measured.frames.shape
    info = AudioInfo(
        sample_rate=measured.sample_rate,
        channels=channels,
        frames=count,
        seconds=count / measured.sample_rate,
        unit=measured.unit,
        full_scale=measured.full_scale,
        axes=_checked_axes(path, measured.axes, channels),
        snapshot=sensor.snapshot,
    )
    return AudioReader(path, info, lambda: _array_pieces(measured.frames))


def _array_pieces(frames: Floats) -> Iterator[np.ndarray]:
    """All of (frames, channels) in memory."""
    for at in range(0, len(frames), DECODE_FRAMES):
        yield frames[at : at + DECODE_FRAMES]


def _file_pieces(file: Any) -> Iterator[np.ndarray]:
    """All frames of an open sound file, (frames, channels) each."""
    if file.tell():
        file.seek(0)
    while len(frames := file.read(DECODE_FRAMES, dtype="float32", always_2d=True)):
        yield frames


def _check_there(path: Path) -> None:
    try:
        if path.is_dir():
            raise AudioError(path, "refused", Sentence("recordings.folder"))
        if not path.exists():
            raise AudioError(path, "missing", Sentence("recordings.missing"))
        if path.stat().st_size == 0:
            raise AudioError(path, "empty", Sentence("recordings.emptyFile"))
    except OSError as error:
        raise _unreadable(path, error) from error


def _unreadable(path: Path, error: OSError) -> AudioError:
    reason = Sentence("recordings.unreadable", reason=error.strerror or error)
    return AudioError(path, "unreadable", reason)


def _opened(path: Path) -> Any:
    """The decoder on `path`, after the checks that libsndfile does not make."""
    try:
        if missing := missing_part(path):
            raise AudioError(path, "cut short", Sentence("recordings.partMissing", missing=missing))
        file = soundfile.SoundFile(_name(path))
    except OSError as error:
        raise _unreadable(path, error) from error
    except (soundfile.SoundFileError, TypeError) as error:
        # soundfile raises TypeError for formats without a header, such as .raw.
        raise AudioError(
            path,
            "unreadable",
            Sentence("recordings.notSound", reason=decoder_reason(error)),
        ) from error
    slowest, fastest = RATES
    if 0 < file.frames < _UNKNOWN_FRAMES and slowest <= file.samplerate <= fastest:
        return file
    file.close()
    if not slowest <= file.samplerate <= fastest:
        # Resampled from 1 Hz, a file of some kilobytes would fill the memory.
        raise AudioError(
            path,
            "unreadable",
            Sentence("recordings.wrongRate", rate=file.samplerate, lowest=slowest, highest=fastest),
        )
    if file.frames == 0:
        raise AudioError(path, "empty", Sentence("recordings.noSamples"))
    raise AudioError(path, "unreadable", Sentence("recordings.noLength"))


def _info(file: Any, path: Path, sensor: Sensor) -> AudioInfo:
    if sensor.unit and sensor.full_scale is None:
        raise AudioError(
            path,
            "refused",
            f"its sensor.yaml names the unit {sensor.unit} but not full_scale; write what the "
            f"largest value of the file means, e.g. full_scale: 50",
        )
    return AudioInfo(
        sample_rate=int(file.samplerate),
        channels=int(file.channels),
        frames=int(file.frames),
        seconds=file.frames / file.samplerate,
        unit=sensor.unit,
        full_scale=sensor.scale,
        axes=_checked_axes(path, sensor.axes, int(file.channels)),
        snapshot=sensor.snapshot,
    )


def _checked_axes(path: Path, axes: tuple[str, ...], channels: int) -> tuple[str, ...]:
    if axes and len(axes) != channels:
        raise AudioError(
            path,
            "refused",
            f"its sensor.yaml names {len(axes)} axes ({', '.join(axes)}), but it has "
            f"{channels_text(channels)}; name an axis for each",
        )
    return axes


def _name(path: Path) -> bytes | str:
    """The path for soundfile: as bytes, since a name need not be text, except on Windows."""
    return os.fsencode(path) if os.name == "posix" else str(path)

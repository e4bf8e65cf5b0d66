"""Snapshots as other programs send them: JSON with values in the unit, or a sound file."""

from __future__ import annotations

import io
from datetime import UTC, datetime

import numpy as np
import soundfile
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ssdpt.config.validation import plain_reason
from ssdpt.data.sensor import SensorUnit
from ssdpt.errors import SsdptError
from ssdpt.monitor.config import SensorSettings
from ssdpt.monitor.sources.snapshot import Snapshot, to_full_scale
from ssdpt.sentences import Sentence
from ssdpt.types import Floats

_FORMATS = {"WAV", "WAVEX", "RF64", "FLAC"}
MOST_VALUES = 10_000_000  # samples times axes of a file
MOST_JSON_BYTES = 8 * 2**20
_MOST_JSON_VALUES = 1_000_000


class SnapshotMessage(BaseModel):
    """One snapshot as JSON: the values of one axis, or of several axes by name."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    time: float | datetime | None = Field(
        None,
        description="Of the first sample: seconds since 1970, or ISO 8601 (UTC where it names no "
        "zone); empty = it has just ended.",
    )
    sample_rate: int | None = Field(
        None, gt=0, description="Hz; empty = that of the machine's settings."
    )
    unit: SensorUnit = Field("", description="Of the values; empty = that of the settings.")
    values: tuple[float, ...] | None = Field(None, description="Of one axis.")
    axes: dict[str, tuple[float, ...]] | None = Field(None, description="Of several, by name.")


def read_message(content: bytes) -> SnapshotMessage:
    """SsdptError where it is not a snapshot as JSON."""
    # Counted as text: a value that has been read takes forty times as much as its two bytes.
    if len(content) > MOST_JSON_BYTES or content.count(b",") > _MOST_JSON_VALUES:
        raise SsdptError(too_much_json())
    try:
        return SnapshotMessage.model_validate_json(content)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"][:2])
        reason = (
            Sentence("common.of", name=where, what=plain_reason(first))
            if where
            else Sentence("snapshots.invalidJson")
        )
        raise SsdptError(Sentence("snapshots.notJson", reason=reason)) from None


def too_much_json() -> Sentence:
    """What to do with a snapshot that is too large for JSON."""
    mebibytes = MOST_JSON_BYTES // 2**20
    return Sentence("snapshots.tooMuchJson", mebibytes=mebibytes, values=_MOST_JSON_VALUES)


def snapshot_of(message: SnapshotMessage, sensor: SensorSettings, arrived: float) -> Snapshot:
    """The snapshot that a message holds; `arrived` in seconds since 1970."""
    if (message.values is None) == (message.axes is None):
        raise SsdptError(Sentence("snapshots.valuesOrAxes"))
    rows = [message.values] if message.axes is None else list(message.axes.values())
    if not rows or len({len(row or ()) for row in rows}) != 1 or not rows[0]:
        raise SsdptError(Sentence("snapshots.sameLength"))
    rate = message.sample_rate or sensor.sample_rate
    if rate is None:
        raise SsdptError(Sentence("snapshots.noSampleRate"))
    with np.errstate(over="ignore"):  # values that are too large are refused by their checks
        samples = to_full_scale(np.array(rows, np.float32), message.unit, sensor)  # (axes, samples)
    match message.time:
        case None:
            time = arrived - samples.shape[1] / rate
        case datetime() as moment:
            time = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
        case seconds:
            time = seconds
    return Snapshot(samples, rate, time, tuple(message.axes or ()))


def decode_snapshot(content: bytes, sensor: SensorSettings, arrived: float) -> Snapshot:
    """A snapshot from JSON or from a WAV or FLAC file; SsdptError where it is neither."""
    if content.lstrip()[:1] == b"{":
        return snapshot_of(read_message(content), sensor, arrived)
    try:
        with soundfile.SoundFile(io.BytesIO(content)) as file:
            if file.format not in _FORMATS:
                raise SsdptError(Sentence("snapshots.unsupportedFormat", format=file.format))
            # Its header may promise anything, and some bytes of FLAC unpack to a lot.
            _check_size(file.frames, file.channels)
            frames = file.read(dtype="float32", always_2d=True)
            rate = int(file.samplerate)
    except (soundfile.SoundFileError, ValueError, OSError) as error:
        raise SsdptError(Sentence("snapshots.notAFile")) from error
    return from_frames(frames, rate, None, arrived)


def from_frames(frames: Floats, rate: int, time: float | None, arrived: float) -> Snapshot:
    """A snapshot from (samples, axes) within ±1; without a time it has just ended."""
    _check_size(*frames.shape)
    begin = arrived - len(frames) / rate if time is None else time
    return Snapshot(np.ascontiguousarray(frames.T), rate, begin)


def _check_size(frames: int, channels: int) -> None:
    if frames * channels > MOST_VALUES:
        raise SsdptError(
            Sentence("snapshots.tooLong", frames=frames, channels=channels, most=MOST_VALUES)
        )

"""What is kept of an event: its spectrogram, and the detector's anomaly map of it."""

from __future__ import annotations

import io
import lzma
import struct
import zipfile
import zlib
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from ssdpt.errors import SsdptError
from ssdpt.monitor.capture.spectrum import as_bytes, spectrogram
from ssdpt.monitor.messages import EventSpectrogram
from ssdpt.scoring.bands import top_bands
from ssdpt.sentences import Sentence
from ssdpt.types import Clip, Floats

_NUMBERS = ("begin", "seconds_per_column", "low_db", "high_db")
_MOST_BYTES = 8_000_000  # of a picture as it is unpacked
_DAMAGE = (
    *(zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, OSError, MemoryError),
    *(ValueError, TypeError, LookupError, AttributeError, SyntaxError, RuntimeError, struct.error),
)
_BRIGHTEST = 0.995  # quantile of the map that is drawn brightest


class Explainer(Protocol):
    """A detector that can show where a clip is anomalous."""

    @property
    def explains(self) -> bool: ...
    @property
    def frequencies(self) -> Floats: ...
    def anomaly_map(self, clip: Clip, *, section: str | None = None) -> Floats: ...


@dataclass(frozen=True, slots=True)
class EventSound:
    """The recording of an event: samples, and the log-mel computed when they arrived."""

    samples: Floats  # (n,)
    rate: int  # Hz
    begin: float  # time of the first sample and of the first log-mel frame
    log_mel: Floats  # (frames, bins) in dB
    frequencies: Floats  # (bins,) Hz
    frame_seconds: float
    unusual_from: float | None = None  # time; None: from the beginning

    @property
    def unusual(self) -> Floats:
        """The samples (n,) of the event without the normal sound before it."""
        return self.samples[round((self.unusual_begin - self.begin) * self.rate) :]

    @property
    def unusual_begin(self) -> float:
        """The time of the first of these samples."""
        return self.begin if self.unusual_from is None else max(self.begin, self.unusual_from)

    @property
    def end(self) -> float:
        """The time after the last sample."""
        return self.begin + len(self.samples) / self.rate


@dataclass(frozen=True, slots=True)
class EventPicture:
    """The picture of an event, and its most anomalous frequency bands."""

    spectrogram: EventSpectrogram
    bands_hz: tuple[tuple[float, float], ...]

    def to_bytes(self) -> bytes:
        """One compressed file."""
        shown, file = self.spectrogram, io.BytesIO()
        arrays = {
            "hz": np.array(shown.hz, np.float32),
            "columns": np.array(shown.columns, np.uint8),
            "anomaly_map": np.array(shown.anomaly_map, np.uint8),
        }
        for name in _NUMBERS:
            arrays[name] = np.array(getattr(shown, name), np.float64)
        np.savez_compressed(file, **arrays)  # type: ignore[arg-type]
        return file.getvalue()


def read_picture(content: bytes) -> EventSpectrogram:
    """The reverse of `EventPicture.to_bytes`; SsdptError for a file that is damaged."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            if sum(member.file_size for member in archive.infolist()) > _MOST_BYTES:
                raise ValueError  # it promises too much
        with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
            return EventSpectrogram(
                hz=[round(float(hz), 1) for hz in arrays["hz"]],
                columns=arrays["columns"].tolist(),
                anomaly_map=arrays["anomaly_map"].tolist(),
                **{name: float(arrays[name]) for name in _NUMBERS},
            )
    except _DAMAGE as error:
        raise SsdptError(Sentence("events.pictureDamaged")) from error


def event_picture(sound: EventSound, detector: Explainer | None, section: str) -> EventPicture:
    """The spectrogram, with the anomaly map of the detector where it has one."""
    plain = spectrogram(sound.log_mel, sound.begin, sound.frequencies, sound.frame_seconds)
    # A map is drawn over the spectrogram: it must have the same frequencies.
    if (
        detector is None
        or not detector.explains
        or not np.array_equal(detector.frequencies, sound.frequencies)
    ):
        return EventPicture(EventSpectrogram(**plain.model_dump(), anomaly_map=()), ())
    clip = Clip(sound.samples, sound.rate)
    heat = detector.anomaly_map(clip, section=section or None)[: len(sound.log_mel)]
    brightest = float(np.quantile(heat, _BRIGHTEST)) or 1.0
    return EventPicture(
        EventSpectrogram(**plain.model_dump(), anomaly_map=as_bytes(heat, 0.0, brightest).tolist()),
        tuple((band.low_hz, band.high_hz) for band in top_bands(heat, detector.frequencies)),
    )

"""What is kept of an event: its sound, its spectrogram, and where in it the machine was odd."""

from __future__ import annotations

import io
from dataclasses import dataclass
from typing import Any

import numpy as np

from ssdpt.config.settings import FeatureConfig
from ssdpt.detection.detector import Detector
from ssdpt.features.logmel import LogMel
from ssdpt.monitor.capture.spectrum import as_bytes, picture
from ssdpt.scoring.bands import top_bands
from ssdpt.systems.base import shows_log_mels
from ssdpt.types import Floats

_LONGEST_MAP = 60.0  # seconds that a map is made of


@dataclass(frozen=True, slots=True)
class EventPicture:
    """A spectrogram with its anomaly map, as bytes (columns, bins)."""

    facts: dict[str, Any]  # hz, begin, seconds_per_column, low_db, high_db
    columns: np.ndarray
    heat: np.ndarray | None
    bands_hz: tuple[tuple[float, float], ...]

    def to_bytes(self) -> bytes:
        """One compressed file."""
        file = io.BytesIO()
        arrays = {"columns": self.columns, "hz": np.array(self.facts["hz"], np.float32)}
        if self.heat is not None:
            arrays["map"] = self.heat
        for name in ("begin", "seconds_per_column", "low_db", "high_db"):
            arrays[name] = np.array(self.facts[name], np.float64)
        np.savez_compressed(file, **arrays)  # type: ignore[arg-type]
        return file.getvalue()


def picture_json(content: bytes) -> dict[str, Any]:
    """The reverse of `EventPicture.to_bytes`, as the API tells it."""
    with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
        facts = {
            name: float(arrays[name])
            for name in ("begin", "seconds_per_column", "low_db", "high_db")
        }
        return {
            **facts,
            "hz": [round(float(hz), 1) for hz in arrays["hz"]],
            "columns": arrays["columns"].tolist(),
            "map": arrays["map"].tolist() if "map" in arrays else [],
        }


def event_picture(
    samples: Floats, begin: float, detector: Detector | None, section: str, rate: int
) -> EventPicture:
    """What the sound (samples,) of an event looks like, and where it is odd."""
    samples = samples[: round(_LONGEST_MAP * rate)]
    log_mel = LogMel(FeatureConfig(), rate)
    drawn = picture(samples, begin, log_mel)
    columns = np.array(drawn.pop("columns"), np.uint8)
    if detector is None or not detector.explains or not shows_log_mels(detector.system):
        return EventPicture(drawn, columns, None, ())
    system = detector.system
    frames = system.front_end(samples)
    sections = (section,) if section in detector.sections else detector.sections
    score_as = system.score_sections([frames].copy)
    best = min(sections, key=lambda name: score_as(name).value)
    heat = system.anomaly_map(frames, best)
    bands = top_bands(heat, system.front_end.frequencies)
    highest = float(np.quantile(heat, 0.995)) or 1.0
    return EventPicture(
        drawn,
        columns,
        as_bytes(heat, 0.0, highest),
        tuple((band.low_hz, band.high_hz) for band in bands),
    )

"""Whether the peak of an anomaly map lies in the fault, on clips with known fault regions."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ssdpt.data.simulator import Region
from ssdpt.data.simulator.simulation import FAULTS
from ssdpt.errors import SsdptError
from ssdpt.types import Floats, Recording

if TYPE_CHECKING:
    from ssdpt.detection.detector import Detector


@dataclass(frozen=True, slots=True)
class KnownFault:
    """The fault of one clip, and where it is audible."""

    name: str
    regions: tuple[Region, ...]


@dataclass(frozen=True, slots=True)
class Localisation:
    """Whether the map of one faulty clip has its peak in the fault."""

    machine: str
    fault: str
    hit: bool  # the peak lies in a faulty region
    covered: float  # share of the map in faulty regions: the hit rate of a random point


def known_faults(folder: Path) -> dict[str, KnownFault]:
    """The faults of a simulated machine's clips, by file name."""
    path = folder / FAULTS
    faults: dict[str, tuple[str, list[Region]]] = {}
    try:
        with path.open(encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                bounds = (float(row[key]) for key in ("start_s", "end_s", "low_hz", "high_hz"))
                faults.setdefault(row["file"], (row["fault"], []))[1].append(Region(*bounds))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise SsdptError(
            f"{path}: no readable table of faults; use a plant simulated by ssdpt"
        ) from error
    return {name: KnownFault(fault, tuple(regions)) for name, (fault, regions) in faults.items()}


def faulty_points(
    regions: Sequence[Region], frames: int, frame_seconds: float, frequencies: Floats
) -> NDArray[np.bool_]:
    """Which points of a map have their centre in any of the regions, (frames, bins)."""
    seconds = np.arange(frames) * frame_seconds
    inside = np.zeros((frames, len(frequencies)), dtype=bool)
    for region in regions:
        in_time = (seconds >= region.start_s) & (seconds <= region.end_s)
        inside |= (
            in_time[:, None] & (frequencies >= region.low_hz) & (frequencies <= region.high_hz)
        )
    return inside


def localise(recording: Recording, fault: KnownFault, detector: Detector) -> Localisation:
    """Whether the detector's anomaly map of a faulty clip has its peak in the fault."""
    heat = detector.anomaly_map(recording, section=recording.section)
    inside = faulty_points(fault.regions, len(heat), detector.frame_seconds, detector.frequencies)
    peak = np.unravel_index(int(np.argmax(heat)), heat.shape)
    return Localisation(recording.machine, fault.name, bool(inside[peak]), float(inside.mean()))


def summary(localisations: Sequence[Localisation], faulty: int) -> dict[str, Any]:
    """Number of faulty and detected clips, hit rate of the detected ones, and that of chance."""
    hits = sum(entry.hit for entry in localisations)
    covered = sum(entry.covered for entry in localisations)
    detected = len(localisations)
    return {
        "faulty": faulty,
        "detected": detected,
        "hit_rate": hits / detected if detected else None,
        "covered": covered / detected if detected else None,
    }

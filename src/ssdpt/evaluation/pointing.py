"""Whether anomaly maps point at the fault, on clips where time and band of each fault are known."""

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
    """What is wrong in one clip, and where it is to be heard."""

    name: str
    regions: tuple[Region, ...]


@dataclass(frozen=True, slots=True)
class Pointing:
    """Where the map of one faulty clip has its peak, against where the fault is."""

    machine: str
    fault: str
    hit: bool  # the peak lies in a faulty region
    covered: float  # share of the map in faulty regions: the chance to hit them blindly


def known_faults(folder: Path) -> dict[str, KnownFault]:
    """The faults of a simulated machine's clips, by the name of the clip's file."""
    path = folder / FAULTS
    found: dict[str, tuple[str, list[Region]]] = {}
    try:
        with path.open(encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                bounds = (float(row[key]) for key in ("start_s", "end_s", "low_hz", "high_hz"))
                found.setdefault(row["file"], (row["fault"], []))[1].append(Region(*bounds))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise SsdptError(
            f"{path}: no readable table of faults; give a plant that ssdpt has simulated"
        ) from error
    return {name: KnownFault(fault, tuple(spots)) for name, (fault, spots) in found.items()}


def faulty_points(
    regions: Sequence[Region], frames: int, frame_seconds: float, frequencies: Floats
) -> NDArray[np.bool_]:
    """Which points of a map lie in any of the regions, (frames, bins), by their centres."""
    seconds = np.arange(frames) * frame_seconds
    inside = np.zeros((frames, len(frequencies)), dtype=bool)
    for region in regions:
        when = (seconds >= region.start_s) & (seconds <= region.end_s)
        inside |= when[:, None] & (frequencies >= region.low_hz) & (frequencies <= region.high_hz)
    return inside


def point(recording: Recording, fault: KnownFault, detector: Detector) -> Pointing:
    """Where the detector's map of a faulty clip points."""
    heat = detector.anomaly_map(recording.path, section=recording.section)
    inside = faulty_points(fault.regions, len(heat), detector.frame_seconds, detector.frequencies)
    peak = np.unravel_index(int(np.argmax(heat)), heat.shape)
    return Pointing(recording.machine, fault.name, bool(inside[peak]), float(inside.mean()))


def summary(pointings: Sequence[Pointing], faulty: int) -> dict[str, Any]:
    """Clips `faulty` and detected, the share of hits among these and what chance would give."""
    hits = sum(found.hit for found in pointings)
    covered = sum(found.covered for found in pointings)
    detected = len(pointings)
    return {
        "faulty": faulty,
        "detected": detected,
        "hit_rate": hits / detected if detected else None,
        "covered": covered / detected if detected else None,
    }

"""Short snapshots laid end to end, so that a model that needs a second of signal can use them.

Consecutive files of one folder and one label become one recording of about a second. Where two
snapshots meet the signal jumps, which adds a little noise to the frames there: the same in every
clip, those of the fit and those that are scored.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import islice, pairwise
from pathlib import Path

import numpy as np

from ssdpt.data.audio import probe
from ssdpt.data.sensor import sensor_of
from ssdpt.data.snapshots import in_order
from ssdpt.errors import SsdptError
from ssdpt.types import Recording

JOINED_SECONDS = 1.0  # of a clip, at least: less says too little about a machine

_PROBED = 3  # files that say how long the snapshots of a folder are


def join_snapshots(recordings: Sequence[Recording]) -> tuple[list[Recording], list[str]]:
    """The same recordings with those shorter than a second joined, and notes on what was done."""
    alike: dict[Recording, list[Recording]] = {}
    for recording in recordings:
        alike.setdefault(replace(recording, path=recording.path.parent), []).append(recording)
    joined: list[Recording] = []
    files = clips = 0
    shortest = JOINED_SECONDS
    for group in alike.values():
        seconds = _seconds(group)
        if seconds is None or seconds >= JOINED_SECONDS or len(group) < 2:
            joined += group
            continue
        made = list(_joined(group, seconds))
        joined += made
        files, clips, shortest = files + len(group), clips + len(made), min(shortest, seconds)
    notes = [
        f"files of snapshots of {length:g} s end to end: those of a single value are left out"
        for length in _end_to_end(recordings)
    ]
    if clips:
        notes.append(
            f"{files} snapshots of {shortest:.3g} s are joined end to end to {clips} clips"
        )
    return joined, notes


def _end_to_end(recordings: Iterable[Recording]) -> list[float]:
    """Seconds of the snapshots that files hold end to end."""
    folders = {one.path.parent: one.path for one in recordings if one.clip is None}
    lengths = {sensor_of(path).snapshot for path in folders.values()}
    return sorted(length for length in lengths if length)


def _seconds(group: Iterable[Recording]) -> float | None:
    """How long one of these recordings is; None where none of the first can be read."""
    for recording in islice(group, _PROBED):
        try:
            return probe(recording).seconds
        except SsdptError:
            continue
    return None


def _joined(group: Sequence[Recording], seconds: float) -> Iterable[Recording]:
    folder = group[0].path.parent
    paths: list[Path] = in_order(folder, [recording.path for recording in group])
    in_a_clip = max(1, int(np.ceil(JOINED_SECONDS / seconds - 1e-9)))
    borders = np.linspace(0, len(paths), max(1, len(paths) // in_a_clip) + 1).astype(int)
    for first, last in pairwise(borders):
        some = tuple(paths[first:last])
        yield replace(group[0], path=some[0], snapshots=some)

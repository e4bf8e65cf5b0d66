"""Which clips were recorded together, and so say less about another day than their number suggests.

Clips of one machine ID and domain belong to one recording by the strongest evidence there is:

    time        every name holds a date and time, or a date, and some are half an hour apart
    file        files are long and cut into clips: each file is a recording
    order       nothing is known: all are one recording, in the order of their names

Times of last change are no evidence: copying changes them. Nor are attributes (speed, load, place):
without one of its conditions a model is another model, which asks for more than another day does.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import Literal, Self

import numpy as np

from ssdpt.data.snapshots import time_in_name
from ssdpt.types import Recording

Basis = Literal["time", "file", "order"]

_APART_SECONDS = 1800.0  # between two recordings; less may be a pause of the same one
_BLOCKS = 5  # stretches of time that a single recording is divided into
_MOST_PARTS = 40  # with more recordings than this several are left out together
_DAY = re.compile(r"(?<!\d)((?:19|20)\d\d)[-_.]?([01]\d)[-_.]?([0-3]\d)(?!\d)")
_NUMBER = re.compile(r"(\d+)")


@dataclass(frozen=True, slots=True)
class RecordingGroups:
    """The recording that every clip belongs to."""

    strata: tuple[tuple[str, str], ...]  # section and domain of every clip
    groups: tuple[int, ...]  # number of the recording of every clip
    order: tuple[int, ...]  # positions of the clips in order of their names
    basis: Basis

    @classmethod
    def of(cls, recordings: Sequence[Recording]) -> Self:
        """Of the clips of one machine, each given by its recording."""
        strata = tuple((item.section, item.domain) for item in recordings)
        names = [_natural(item.path) for item in recordings]
        order = tuple(sorted(range(len(recordings)), key=lambda at: names[at]))
        basis, keys = _keys(recordings)
        numbers: dict[Hashable, int] = {}
        groups = tuple(
            numbers.setdefault((stratum, key), len(numbers))
            for stratum, key in zip(strata, keys, strict=True)
        )
        return cls(strata, groups, order, basis)

    def __len__(self) -> int:
        """How many recordings there are."""
        return len(set(self.groups))

    @property
    def at_other_times(self) -> bool:
        """Whether it is known that the recordings were made at different times."""
        return self.basis in ("time", "file")

    def parts(self) -> list[list[int]]:
        """Positions of the clips to leave out together: one recording at a time.

        A recording that is the only one of its section and domain is left out in stretches of time,
        so that slow change within it counts.
        """
        by_stratum: defaultdict[tuple[str, str], defaultdict[int, list[int]]]
        by_stratum = defaultdict(lambda: defaultdict(list))
        for at in self.order:
            by_stratum[self.strata[at]][self.groups[at]].append(at)
        whole = [part for group in by_stratum.values() if len(group) > 1 for part in group.values()]
        dealt = [
            [at for part in whole[start::_MOST_PARTS] for at in part]
            for start in range(min(len(whole), _MOST_PARTS))
        ]
        single = [next(iter(group.values())) for group in by_stratum.values() if len(group) == 1]
        blocks = [np.array_split(part, min(_BLOCKS, len(part))) for part in single]
        for number in range(max(map(len, blocks), default=0)):
            dealt.append([int(at) for part in blocks if number < len(part) for at in part[number]])
        return [sorted(part) for part in dealt]

    def numbers(self, positions: Sequence[int] | None = None) -> dict[tuple[str, str], list[int]]:
        """The recording of each clip, by section and domain; of all clips, or those at `positions`.

        In the order of the positions.
        """
        numbers: defaultdict[tuple[str, str], list[int]] = defaultdict(list)
        for at in range(len(self.groups)) if positions is None else positions:
            numbers[self.strata[at]].append(self.groups[at])
        return dict(numbers)


def _keys(recordings: Sequence[Recording]) -> tuple[Basis, list[Hashable]]:
    """The evidence, and what tells the recordings of one section and domain apart by it."""
    times = [_time(item.path) for item in recordings]
    dated = [time for time in times if time is not None]
    if len(dated) == len(times) and any(sessions := _sessions(recordings, dated)):
        return "time", list(sessions)
    files = len({item.path for item in recordings})
    if files > 1 and 2 * files <= len(recordings):
        return "file", [item.path for item in recordings]
    return "order", [0] * len(recordings)


def _sessions(recordings: Sequence[Recording], times: Sequence[float]) -> list[int]:
    """Numbers of recordings that are more than half an hour apart, by section and domain."""
    by_stratum: defaultdict[tuple[str, str], list[int]] = defaultdict(list)
    for at, item in enumerate(recordings):
        by_stratum[item.section, item.domain].append(at)
    sessions = [0] * len(recordings)
    for positions in by_stratum.values():
        positions.sort(key=lambda at: times[at])
        for before, at in pairwise(positions):
            apart = times[at] - times[before] > _APART_SECONDS
            sessions[at] = sessions[before] + apart
    return sessions


def _time(path: Path) -> float | None:
    """Seconds since 1970 by the name of a file or, failing that, of a folder around it."""
    for name in (path.stem, *(parent.name for parent in path.parents)):
        if (time := time_in_name(name)) is not None:
            return time
        if day := _DAY.search(name):
            try:
                return datetime(*map(int, day.groups()), tzinfo=UTC).timestamp()  # type: ignore[misc, arg-type]
            except ValueError:
                continue
    return None


def _natural(path: Path) -> list[tuple[int, int | str]]:
    """Sorts `clip_9` before `clip_10`."""
    parts = _NUMBER.split(str(path))
    return [(0, int(part)) if part.isdecimal() else (1, part) for part in parts]

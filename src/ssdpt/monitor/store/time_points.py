"""How a time range is divided into points, and which tables these are read from."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from sqlalchemy import Connection, Table

from ssdpt.errors import SsdptError
from ssdpt.monitor.store.rollup import HOUR, MINUTE
from ssdpt.monitor.store.rollup_progress import ProgressName, read_progress
from ssdpt.monitor.store.tables import hours, minutes, seconds
from ssdpt.sentences import Sentence

_LATEST = 1e11  # seconds since 1970; a later time is that of a wrong clock
_DAY = 24 * HOUR
# Lengths of a point in milliseconds. Points begin at multiples of it, so that they stay the same
# when someone scrolls along the time axis.
_LENGTHS = (
    *(1000 * n for n in (1, 2, 5, 10, 15, 30)),
    *(MINUTE * n for n in (1, 2, 5, 10, 15, 30)),
    *(HOUR * n for n in (1, 2, 3, 6, 12)),
    *(_DAY * n for n in (1, 2, 7, 14, 28, 84, 364)),
)


@dataclass(frozen=True, slots=True)
class TimePoints:
    """Points of one length. All times are in milliseconds since 1970."""

    length: int
    pieces: tuple[tuple[Table, int, int], ...]  # tables with the time range to read from each

    @property
    def seconds_per_point(self) -> float:
        return self.length / 1000


def divide(connection: Connection, begin: float, end: float, points: int) -> TimePoints:
    """About `points` points from `begin` up to `end` (seconds since 1970)."""
    if not (begin < end and points > 0):
        raise SsdptError(
            Sentence("store.wrongTrend", begin=str(begin), end=str(end), points=points)
        )
    first, last = milliseconds(begin), milliseconds(end)
    progress = read_progress(connection)
    length = _length((last - first) / points, first, progress)
    first = first - first % length
    last = last + -last % length
    return TimePoints(length, tuple(_pieces(length, first, last, progress)))


def milliseconds(time: float) -> int:
    """A time in seconds since 1970, as readings have it."""
    if not 0 <= time < _LATEST:
        raise SsdptError(Sentence("store.wrongTime", time=str(time)))
    return round(time * 1000)


def _length(shortest: float, first: int, progress: dict[ProgressName, int]) -> int:
    """Of a point, in ms; not shorter than the rows that are still stored at `first`."""
    if first < progress["minutes_removed"]:
        shortest = max(shortest, HOUR)
    elif first < progress["seconds_removed"]:
        shortest = max(shortest, MINUTE)
    fitting = (length for length in _LENGTHS if length >= shortest)
    return next(fitting, math.ceil(shortest / _DAY) * _DAY)


def _pieces(
    length: int, first: int, last: int, progress: dict[ProgressName, int]
) -> Iterator[tuple[Table, int, int]]:
    """Coarse rows as far as they exist, then finer ones."""
    if length >= HOUR:
        until = min(max(first, progress["hours"]), last)
        yield hours, first, until
        first = until
    if length >= MINUTE:
        until = min(max(first, progress["minutes"]), last)
        yield minutes, first, until
        first = until
    yield seconds, first, last

"""Readings of every second, and trends over any time range."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, Table, select

from ssdpt.errors import SsdptError
from ssdpt.monitor.messages import MachineState, Reading
from ssdpt.monitor.store.base import StoreBase
from ssdpt.monitor.store.rollup import HOUR, MINUTE, aggregates, roll_up, roll_up_again
from ssdpt.monitor.store.rollup_progress import ProgressName, read_progress
from ssdpt.monitor.store.tables import STATE_CODES, STATE_OF_CODE, hours, minutes, seconds

_SILENCE_DBFS = -120.0
_LATEST = 1e11  # seconds since 1970; a later time is that of a wrong clock
_PAGE = 10_000  # rows per query
_DAY = 24 * HOUR
# Lengths of a point in milliseconds. Points begin at multiples of it, so that they stay the same
# when someone scrolls along the time axis.
_LENGTHS = (
    *(1000 * n for n in (1, 2, 5, 10, 15, 30)),
    *(MINUTE * n for n in (1, 2, 5, 10, 15, 30)),
    *(HOUR * n for n in (1, 2, 3, 6, 12)),
    *(_DAY * n for n in (1, 2, 7, 14, 28, 84, 364)),
)


@dataclass(frozen=True)
class Trend:
    """The smoothed score over a time range; there is no point where there are no readings."""

    seconds_per_point: float
    time: NDArray[np.float64]  # (points,) beginning of each, in seconds since 1970
    low: NDArray[np.float64]  # (points,) NaN where there is no score, like mean and high
    mean: NDArray[np.float64]
    high: NDArray[np.float64]
    state: tuple[MachineState, ...]  # (points,) the most urgent


@dataclass
class _Point:
    scored: int = 0  # readings with a smoothed score
    low: float = math.inf
    total: float = 0.0
    high: float = -math.inf
    state: int = 0


class Readings(StoreBase):
    """Readings of every second, rolled up to minutes and hours."""

    def add_readings(self, readings: Sequence[Reading]) -> None:
        """Add readings of any machines. Readings that exist already stay as they are.

        Times are stored in whole milliseconds; `parts` are not stored.
        """
        rows = [self._row(reading) for reading in readings]
        if not rows:
            return
        with self.database.write(durable=False) as connection:
            rolled_up = read_progress(connection, to_write=True)["minutes"]
            insert = self.database.insert(seconds)
            connection.execute(
                insert.on_conflict_do_nothing(index_elements=["machine", "time"]), rows
            )
            late: dict[int, tuple[int, int]] = {}
            for row in rows:
                machine, time = row["machine"], row["time"]
                if time < rolled_up:
                    first, last = late.get(machine, (time, time))
                    late[machine] = min(first, time), max(last, time)
            if late:
                roll_up_again(self.database, connection, late)

    def _row(self, reading: Reading) -> dict[str, Any]:
        return {
            "machine": self._get_or_add_number(reading.machine),
            "time": _milliseconds(reading.time),
            "state": STATE_CODES[reading.state],
            "level": _level(reading.level_dbfs),
            "score": _finite(reading.score),
            "smoothed": _finite(reading.smoothed),
            "p_value": _finite(reading.p_value),
        }

    def readings(self, machine: str, begin: float, end: float) -> Iterator[Reading]:
        """Readings of every second from `begin` up to `end`, in order, as far as they exist."""
        number = self._number(machine)
        first, last = _milliseconds(begin), _milliseconds(end)
        while number is not None:
            query = (
                select(seconds)
                .where(seconds.c.machine == number, seconds.c.time >= first, seconds.c.time < last)
                .order_by(seconds.c.time)
                .limit(_PAGE)
            )
            with self.database.read() as connection:
                rows = connection.execute(query).all()
            for row in rows:
                yield Reading(
                    machine=machine,
                    time=row.time / 1000,
                    state=STATE_OF_CODE[row.state],
                    level_dbfs=row.level,
                    score=row.score,
                    smoothed=row.smoothed,
                    p_value=row.p_value,
                )
            if len(rows) < _PAGE:
                return
            first = rows[-1].time + 1

    def trend(self, machine: str, begin: float, end: float, points: int = 600) -> Trend:
        """From `begin` up to `end`, in about `points` points."""
        if not (begin < end and points > 0):
            raise SsdptError(f"cannot show a trend from {begin} to {end} in {points} points")
        first, last = _milliseconds(begin), _milliseconds(end)
        number = self._number(machine)
        with self.database.read() as connection:
            progress = read_progress(connection)
            length = _length((last - first) / points, first, progress)
            first = first - first % length
            last = last + -last % length
            buckets: dict[int, _Point] = {}
            if number is not None:
                for table, since, until in _pieces(length, first, last, progress):
                    _add_rows(connection, table, number, since, until, length, buckets)
        return _trend(buckets, length)

    def roll_up(self, now: float) -> None:
        """Roll up seconds to minutes, and minutes to hours, that are over at `now`."""
        roll_up(self.database, _milliseconds(now))


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
    """Which tables a trend is read from: coarse rows as far as they exist, then finer ones."""
    if length >= HOUR:
        until = min(max(first, progress["hours"]), last)
        yield hours, first, until
        first = until
    if length >= MINUTE:
        until = min(max(first, progress["minutes"]), last)
        yield minutes, first, until
        first = until
    yield seconds, first, last


def _add_rows(
    connection: Connection,
    table: Table,
    number: int,
    since: int,
    until: int,
    length: int,
    buckets: dict[int, _Point],
) -> None:
    """Add the rows of a table to the points they belong to."""
    if since >= until:
        return
    column = table.c
    rows = connection.execute(
        select((column.time // length).label("bucket"), *aggregates(table))
        .where(column.machine == number, column.time >= since, column.time < until)
        .group_by("bucket")
    )
    for bucket, scored, low, total, high, state in rows:
        point = buckets.setdefault(bucket, _Point())
        point.state = max(point.state, state)
        if scored:
            point.scored += scored
            point.low = min(point.low, low)
            point.total += total
            point.high = max(point.high, high)


def _trend(buckets: dict[int, _Point], length: int) -> Trend:
    numbers = sorted(buckets)
    points = [buckets[number] for number in numbers]
    scored = np.array([point.scored for point in points], dtype=np.float64)

    def where_scored(values: list[float]) -> NDArray[np.float64]:
        return np.where(scored > 0, np.array(values, dtype=np.float64), np.nan)

    return Trend(
        seconds_per_point=length / 1000,
        time=np.array(numbers, dtype=np.float64) * (length / 1000),
        low=where_scored([point.low for point in points]),
        mean=where_scored([point.total for point in points]) / np.maximum(scored, 1),
        high=where_scored([point.high for point in points]),
        state=tuple(STATE_OF_CODE[point.state] for point in points),
    )


def _milliseconds(time: float) -> int:
    if not 0 <= time < _LATEST:
        raise SsdptError(f"time {time}: not in seconds since 1970; check the clock")
    return round(time * 1000)


def _level(dbfs: float) -> float:
    return max(dbfs, _SILENCE_DBFS) if math.isfinite(dbfs) else _SILENCE_DBFS


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None

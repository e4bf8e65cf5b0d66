"""What was heard, second by second, and its trend over any span."""

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
from ssdpt.monitor.store.machines import StoreBase
from ssdpt.monitor.store.rollup import HOUR, MINUTE, roll_late, roll_up, values_of
from ssdpt.monitor.store.rollup_progress import Mark, read_progress
from ssdpt.monitor.store.tables import STATE_CODES, STATE_OF_CODE, hours, minutes, seconds

_LOWEST_DBFS = -120.0  # of silence
_LATEST = 1e11  # seconds since 1970; beyond lies a broken clock
_PAGE = 10_000
_DAY = 24 * HOUR
# Lengths of a point in milliseconds. Points begin at whole multiples, so that they stay the same
# when someone moves along the time axis.
_LENGTHS = (
    *(1000 * n for n in (1, 2, 5, 10, 15, 30)),
    *(MINUTE * n for n in (1, 2, 5, 10, 15, 30)),
    *(HOUR * n for n in (1, 2, 3, 6, 12)),
    *(_DAY * n for n in (1, 2, 7, 14, 28, 84, 364)),
)


@dataclass(frozen=True)
class Trend:
    """The smoothed score over a span, a point for every time in which something was heard."""

    seconds_per_point: float
    time: NDArray[np.float64]  # (points,) when each begins
    low: NDArray[np.float64]  # (points,) NaN where nothing was judged, like mean and high
    mean: NDArray[np.float64]
    high: NDArray[np.float64]
    state: tuple[MachineState, ...]  # (points,) the worst


@dataclass
class _Point:
    heard: int = 0
    low: float = math.inf
    total: float = 0.0
    high: float = -math.inf
    state: int = 0


class Readings(StoreBase):
    """Readings of every second, summed up to minutes and hours."""

    def add_readings(self, readings: Sequence[Reading]) -> None:
        """Add them, of any machines. Those that are there stay as they are.

        Times are kept to the millisecond; `parts` are not kept.
        """
        rows = [self._row(reading) for reading in readings]
        if not rows:
            return
        with self.database.write(durable=False) as connection:
            made = read_progress(connection, to_write=True)["minutes"]
            insert = self.database.insert(seconds)
            connection.execute(
                insert.on_conflict_do_nothing(index_elements=["machine", "time"]), rows
            )
            late: dict[int, tuple[int, int]] = {}
            for row in rows:
                machine, time = row["machine"], row["time"]
                if time < made:
                    first, last = late.get(machine, (time, time))
                    late[machine] = min(first, time), max(last, time)
            if late:
                roll_late(self.database, connection, late)

    def _row(self, reading: Reading) -> dict[str, Any]:
        return {
            "machine": self._make_number(reading.machine),
            "time": _milliseconds(reading.time),
            "state": STATE_CODES[reading.state],
            "level": _level(reading.level_dbfs),
            "score": _finite(reading.score),
            "smoothed": _finite(reading.smoothed),
            "p_value": _finite(reading.p_value),
        }

    def readings(self, machine: str, begin: float, end: float) -> Iterator[Reading]:
        """Those of every second from `begin` up to `end`, in order, as far as they are kept."""
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
        """From `begin` up to `end` in about `points` points, of seconds where they are short."""
        if not (begin < end and points > 0):
            raise SsdptError(f"cannot show a trend from {begin} to {end} in {points} points")
        first, last = _milliseconds(begin), _milliseconds(end)
        number = self._number(machine)
        with self.database.read() as connection:
            made = read_progress(connection)
            length = _length((last - first) / points, first, made)
            first = first - first % length
            last = last + -last % length
            found: dict[int, _Point] = {}
            if number is not None:
                for table, since, until in _pieces(length, first, last, made):
                    _sum_up(connection, table, number, since, until, length, found)
        return _trend(found, length)

    def roll_up(self, now: float) -> None:
        """Sum up seconds to minutes, and minutes to hours, that are over at `now`."""
        roll_up(self.database, _milliseconds(now))


def _length(shortest: float, first: int, made: dict[Mark, int]) -> int:
    """Milliseconds of a point; at least those of rows that are still there at `first`."""
    if first < made["minutes_removed"]:
        shortest = max(shortest, HOUR)
    elif first < made["seconds_removed"]:
        shortest = max(shortest, MINUTE)
    fitting = (length for length in _LENGTHS if length >= shortest)
    return next(fitting, math.ceil(shortest / _DAY) * _DAY)


def _pieces(
    length: int, first: int, last: int, made: dict[Mark, int]
) -> Iterator[tuple[Table, int, int]]:
    """Where a trend is read: the coarse rows as far as they are made, then finer ones."""
    if length >= HOUR:
        until = min(max(first, made["hours"]), last)
        yield hours, first, until
        first = until
    if length >= MINUTE:
        until = min(max(first, made["minutes"]), last)
        yield minutes, first, until
        first = until
    yield seconds, first, last


def _sum_up(
    connection: Connection,
    table: Table,
    number: int,
    since: int,
    until: int,
    length: int,
    found: dict[int, _Point],
) -> None:
    """Add the rows of a table to the points that they lie in."""
    if since >= until:
        return
    column = table.c
    rows = connection.execute(
        select((column.time // length).label("bucket"), *values_of(table))
        .where(column.machine == number, column.time >= since, column.time < until)
        .group_by("bucket")
    )
    for bucket, heard, low, total, high, state in rows:
        point = found.setdefault(bucket, _Point())
        point.state = max(point.state, state)
        if heard:
            point.heard += heard
            point.low = min(point.low, low)
            point.total += total
            point.high = max(point.high, high)


def _trend(found: dict[int, _Point], length: int) -> Trend:
    buckets = sorted(found)
    points = [found[bucket] for bucket in buckets]
    heard = np.array([point.heard for point in points], dtype=np.float64)

    def judged(values: list[float]) -> NDArray[np.float64]:
        return np.where(heard > 0, np.array(values, dtype=np.float64), np.nan)

    return Trend(
        seconds_per_point=length / 1000,
        time=np.array(buckets, dtype=np.float64) * (length / 1000),
        low=judged([point.low for point in points]),
        mean=judged([point.total for point in points]) / np.maximum(heard, 1),
        high=judged([point.high for point in points]),
        state=tuple(STATE_OF_CODE[point.state] for point in points),
    )


def _milliseconds(time: float) -> int:
    if not 0 <= time < _LATEST:
        raise SsdptError(f"time {time}: seconds since 1970 are expected; check the clock")
    return round(time * 1000)


def _level(dbfs: float) -> float:
    return max(dbfs, _LOWEST_DBFS) if math.isfinite(dbfs) else _LOWEST_DBFS


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None

"""Readings of every second, and trends over any time range."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, Table, func, select

from ssdpt.monitor.messages import MachineState, Reading
from ssdpt.monitor.store.bands import band_row, bands_of
from ssdpt.monitor.store.base import StoreBase
from ssdpt.monitor.store.rollup import HOUR, aggregates, roll_up, roll_up_again
from ssdpt.monitor.store.rollup_progress import read_progress
from ssdpt.monitor.store.tables import STATE_CODES, STATE_OF_CODE, hours, seconds
from ssdpt.monitor.store.time_points import divide, milliseconds

_SILENCE_DBFS = -120.0
_PAGE = 10_000  # rows per query
_DAY = 24 * HOUR


@dataclass(frozen=True)
class Trend:
    """The smoothed score over a time range; there is no point where there are no readings."""

    seconds_per_point: float
    time: NDArray[np.float64]  # (points,) beginning of each, in seconds since 1970
    low: NDArray[np.float64]  # (points,) NaN where there is no score, like mean and high
    mean: NDArray[np.float64]
    high: NDArray[np.float64]
    state: tuple[MachineState, ...]  # (points,) the most urgent
    alert_seconds: NDArray[np.float64]  # (points,) of sound in alert, not counting alarm
    alarm_seconds: NDArray[np.float64]  # (points,)


@dataclass
class _Point:
    scored: int = 0  # readings with a smoothed score
    low: float = math.inf
    total: float = 0.0
    high: float = -math.inf
    state: int = 0
    alert_seconds: int = 0
    alarm_seconds: int = 0


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
            progress = read_progress(connection, to_write=True)
            insert = self.database.insert(seconds)
            connection.execute(
                insert.on_conflict_do_nothing(index_elements=["machine", "time"]), rows
            )
            late: dict[int, tuple[int, int]] = {}
            for row in rows:
                machine, time = row["machine"], row["time"]
                if time < progress["minutes"]:
                    first, last = late.get(machine, (time, time))
                    late[machine] = min(first, time), max(last, time)
            if late:
                roll_up_again(self.database, connection, late, progress)

    def _row(self, reading: Reading) -> dict[str, Any]:
        return {
            "machine": self._get_or_add_number(reading.machine),
            "time": milliseconds(reading.time),
            "state": STATE_CODES[reading.state],
            "level": _level(reading.level_dbfs),
            "score": _finite(reading.score),
            "smoothed": _finite(reading.smoothed),
            "p_value": _finite(reading.p_value),
            **band_row(reading.bands_db),
        }

    def readings(self, machine: str, begin: float, end: float) -> Iterator[Reading]:
        """Readings of every second from `begin` up to `end`, in order, as far as they exist."""
        number = self._number(machine)
        first, last = milliseconds(begin), milliseconds(end)
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
                    bands_db=bands_of(row),
                )
            if len(rows) < _PAGE:
                return
            first = rows[-1].time + 1

    def trend(self, machine: str, begin: float, end: float, points: int = 600) -> Trend:
        """From `begin` up to `end`, in about `points` points."""
        number = self._number(machine)
        buckets: dict[int, _Point] = {}
        with self.database.read() as connection:
            divided = divide(connection, begin, end, points)
            if number is not None:
                for table, since, until in divided.pieces:
                    _add_rows(connection, table, number, since, until, divided.length, buckets)
        return _trend(buckets, divided.seconds_per_point)

    def daily_maxima(self, machine: str, days: int = 90) -> list[float]:
        """The highest smoothed score of each of its last days (UTC) with scores, oldest first.

        The last of the days is that of its newest complete hour.
        """
        column = hours.c
        own = column.machine == self._number(machine)
        with self.database.read() as connection:
            newest = connection.scalar(select(func.max(column.time)).where(own))
            if newest is None:
                return []
            since = (newest // _DAY - days + 1) * _DAY
            query = (
                select(func.max(column.high), (column.time // _DAY).label("day"))
                .where(own, column.time >= since, column.high.is_not(None))
                .group_by("day")
                .order_by("day")
            )
            return [float(high) for high in connection.scalars(query)]

    def roll_up(self, now: float) -> None:
        """Roll up seconds to minutes, and minutes to hours, that are over at `now`."""
        roll_up(self.database, milliseconds(now))


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
    for bucket, scored, low, total, high, state, alert_seconds, alarm_seconds in rows:
        point = buckets.setdefault(bucket, _Point())
        point.state = max(point.state, state)
        point.alert_seconds += alert_seconds
        point.alarm_seconds += alarm_seconds
        if scored:
            point.scored += scored
            point.low = min(point.low, low)
            point.total += total
            point.high = max(point.high, high)


def _trend(buckets: dict[int, _Point], seconds_per_point: float) -> Trend:
    numbers = sorted(buckets)
    points = [buckets[number] for number in numbers]
    scored = np.array([point.scored for point in points], dtype=np.float64)

    def where_scored(values: list[float]) -> NDArray[np.float64]:
        return np.where(scored > 0, np.array(values, dtype=np.float64), np.nan)

    return Trend(
        seconds_per_point=seconds_per_point,
        time=np.array(numbers, dtype=np.float64) * seconds_per_point,
        low=where_scored([point.low for point in points]),
        mean=where_scored([point.total for point in points]) / np.maximum(scored, 1),
        high=where_scored([point.high for point in points]),
        state=tuple(STATE_OF_CODE[point.state] for point in points),
        alert_seconds=np.array([point.alert_seconds for point in points], dtype=np.float64),
        alarm_seconds=np.array([point.alarm_seconds for point in points], dtype=np.float64),
    )


def _level(dbfs: float) -> float:
    return max(dbfs, _SILENCE_DBFS) if math.isfinite(dbfs) else _SILENCE_DBFS


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None

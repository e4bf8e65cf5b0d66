"""What was measured of a machine over some time, in one row."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import func, select

from ssdpt.monitor.store.bands import DB_PER_UNIT
from ssdpt.monitor.store.base import StoreBase
from ssdpt.monitor.store.rollup import aggregates, band_sums
from ssdpt.monitor.store.tables import BAND_COLUMNS, hours, minutes, seconds
from ssdpt.monitor.store.time_points import divide

_HOUR, _QUARTER, _MINUTE = 3600.0, 900.0, 60.0  # seconds


@dataclass(frozen=True, slots=True)
class Summary:
    """Means over all readings; None where there are none."""

    readings: int  # seconds of sound, or measurements
    scored: int  # readings with a score
    score: float | None  # mean of the smoothed score
    highest_score: float | None
    level_db: float | None
    alert_seconds: int
    alarm_seconds: int
    bands_db: tuple[float, ...]  # NaN where a machine has fewer bands


class Summaries(StoreBase):
    """Sums of readings, at the resolution that is still stored."""

    def summary(self, machine: str, begin: float, end: float) -> Summary:
        """From `begin` up to `end`; whole quarters of an hour."""
        number = self._number(machine)
        whole_hours = begin % _HOUR == end % _HOUR == 0
        points = max(round((end - begin) / (_HOUR if whole_hours else _QUARTER)), 1)
        readings = scored = alert = alarm = 0
        total = level = 0.0
        highest: float | None = None
        bands: NDArray[np.float64] = np.zeros((2, len(BAND_COLUMNS)))
        with self.database.read() as connection:
            pieces = () if number is None else divide(connection, begin, end, points).pieces
            for table, since, until in pieces:
                column = table.c
                counted = func.count() if table is seconds else func.sum(column.readings)
                levels = column.level if table is seconds else column.level * column.readings
                sums, counts = band_sums(table)
                row = connection.execute(
                    select(counted, func.sum(levels), *aggregates(table), *sums, *counts).where(
                        column.machine == number, column.time >= since, column.time < until
                    )
                ).one()
                if not row[0]:
                    continue
                readings += int(row[0])
                level += float(row[1])
                scored += int(row[2] or 0)
                total += float(row[4] or 0.0)
                if row[5] is not None:
                    highest = max(float(row[5]), -np.inf if highest is None else highest)
                alert += int(row[7] or 0)
                alarm += int(row[8] or 0)
                bands += np.array([float(one or 0) for one in row[9:]]).reshape(bands.shape)
        means = np.divide(
            bands[0], bands[1], out=np.full(bands.shape[1], np.nan), where=bands[1] > 0
        )
        return Summary(
            readings=readings,
            scored=scored,
            score=total / scored if scored else None,
            highest_score=highest,
            level_db=level / readings if readings else None,
            alert_seconds=alert,
            alarm_seconds=alarm,
            bands_db=tuple((means * DB_PER_UNIT).tolist()),
        )

    def first_reading(self, machine: str) -> float | None:
        """When the first sound of a machine that is still known was heard; None: never."""
        number = self._number(machine)
        first, length = None, 0.0  # of what is known so far, seconds
        with self.database.read() as connection:
            for table, table_length in ((hours, _HOUR), (minutes, _MINUTE), (seconds, 1.0)):
                oldest = select(func.min(table.c.time)).where(table.c.machine == number)
                time = connection.scalar(oldest)
                # Within an hour, its first minute is the better answer, unless it was deleted.
                if time is not None and (first is None or time / 1000 < first + length):
                    first, length = time / 1000, table_length
        return first

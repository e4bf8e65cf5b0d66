"""Levels of a machine, of its whole sound and of its frequency bands, over any time range."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, Table, select

from ssdpt.monitor.store.bands import DB_PER_UNIT
from ssdpt.monitor.store.base import StoreBase
from ssdpt.monitor.store.rollup import band_sums, level_sum
from ssdpt.monitor.store.tables import BAND_COLUMNS
from ssdpt.monitor.store.time_points import divide

_BANDS = len(BAND_COLUMNS)


@dataclass(frozen=True)
class BandTrend:
    """Mean levels; there is no point where there are no readings."""

    seconds_per_point: float
    time: NDArray[np.float64]  # (points,) beginning of each, in seconds since 1970
    level_db: NDArray[np.float64]  # (points,) of the whole sound
    levels_db: NDArray[np.float64]  # (points, bands) NaN where a machine has fewer bands


class BandTrends(StoreBase):
    """Band levels of readings, at the resolution that is still stored."""

    def band_trend(self, machine: str, begin: float, end: float, points: int = 600) -> BandTrend:
        """From `begin` up to `end`, in about `points` points."""
        number = self._number(machine)
        # (2, 1 + bands) by point: totals and counts, of the level and of each band.
        sums: dict[int, NDArray[np.float64]] = {}
        with self.database.read() as connection:
            divided = divide(connection, begin, end, points)
            if number is not None:
                for table, since, until in divided.pieces:
                    _add_rows(connection, table, number, since, until, divided.length, sums)
        numbers = sorted(sums)
        totals, counts = (
            np.array([sums[number] for number in numbers])
            .reshape(-1, 2, 1 + _BANDS)
            .transpose(1, 0, 2)
        )  # (points, 1 + bands) each
        means = np.divide(totals, counts, out=np.full_like(totals, np.nan), where=counts > 0)
        return BandTrend(
            seconds_per_point=divided.seconds_per_point,
            time=np.array(numbers, dtype=np.float64) * divided.seconds_per_point,
            level_db=means[:, 0],
            levels_db=means[:, 1:] * DB_PER_UNIT,
        )


def _add_rows(
    connection: Connection,
    table: Table,
    number: int,
    since: int,
    until: int,
    length: int,
    sums: dict[int, NDArray[np.float64]],
) -> None:
    """Add the rows of a table to the points they belong to."""
    if since >= until:
        return
    column = table.c
    totals, counts = band_sums(table)
    level, levels = level_sum(table)
    rows = connection.execute(
        select((column.time // length).label("bucket"), level, *totals, levels, *counts)
        .where(column.machine == number, column.time >= since, column.time < until)
        .group_by("bucket")
    )
    for bucket, *values in rows:
        added = np.array([value or 0.0 for value in values], dtype=np.float64).reshape(
            2, 1 + _BANDS
        )
        sums[bucket] = sums[bucket] + added if bucket in sums else added

"""Rolls seconds up to minutes, and minutes to hours. Doing it twice changes nothing."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from sqlalchemy import (
    ColumnElement,
    Connection,
    Select,
    SmallInteger,
    Table,
    case,
    cast,
    func,
    select,
)

from ssdpt.monitor.messages import MachineState
from ssdpt.monitor.store.engine import Database
from ssdpt.monitor.store.rollup_progress import ProgressName, read_progress, set_progress
from ssdpt.monitor.store.tables import (
    BAND_COLUMNS,
    STATE_CODES,
    hours,
    machines,
    minutes,
    seconds,
)

MINUTE, HOUR = 60_000, 3_600_000  # milliseconds
_WAIT = 10_000  # ms; readings arrive in batches, and without the last a minute is rolled up twice
# Time per transaction (ms), so that a backlog of a year never blocks other writers for long.
_PORTION = {"minutes": 6 * HOUR, "hours": 30 * 24 * HOUR}


class Aggregates(NamedTuple):
    """Aggregates of the smoothed score over rows of a table of readings."""

    scored: ColumnElement[Any]  # readings with a smoothed score
    low: ColumnElement[Any]
    total: ColumnElement[Any]
    high: ColumnElement[Any]
    state: ColumnElement[Any]
    alert_seconds: ColumnElement[Any]  # a reading stands for a second
    alarm_seconds: ColumnElement[Any]


def aggregates(table: Table) -> Aggregates:
    """Those of seconds, minutes or hours."""
    column = table.c
    if table is seconds:
        score = column.smoothed
        return Aggregates(
            func.count(score), func.min(score), func.sum(score), func.max(score),
            func.max(column.state), _count(column.state, "alert"), _count(column.state, "alarm"),
        )  # fmt: skip
    return Aggregates(
        func.sum(column.scored),
        func.min(column.low),
        func.sum(column.mean * column.scored),
        func.max(column.high),
        func.max(column.state),
        func.sum(column.alert_seconds),
        func.sum(column.alarm_seconds),
    )


def band_sums(table: Table) -> tuple[list[ColumnElement[Any]], list[ColumnElement[Any]]]:
    """Sum of each band over rows of a table of readings, and the number of readings in it."""
    columns = [table.c[name] for name in BAND_COLUMNS]
    if table is seconds:
        return [func.sum(1.0 * band) for band in columns], [func.count(band) for band in columns]
    readings = table.c.readings
    return (
        [func.sum(1.0 * band * readings) for band in columns],
        [func.sum(case((band.is_not(None), readings))) for band in columns],
    )


def level_sum(table: Table) -> tuple[ColumnElement[Any], ColumnElement[Any]]:
    """Sum of the level over rows of a table of readings, and the number of readings in it."""
    level = table.c.level
    if table is seconds:
        return func.sum(level), func.count(level)
    return func.sum(level * table.c.readings), func.sum(table.c.readings)


def _count(column: ColumnElement[Any], state: MachineState) -> ColumnElement[Any]:
    return func.sum(case((column == STATE_CODES[state], 1), else_=0))


def roll_up(database: Database, now: int) -> None:
    """Roll up all minutes and hours that are over at `now` (ms)."""
    for table, source, length in ((minutes, seconds, MINUTE), (hours, minutes, HOUR)):
        while not _roll_up_portion(database, table, source, length, now):
            pass


def roll_up_again(
    database: Database,
    connection: Connection,
    times: dict[int, tuple[int, int]],
    progress: dict[ProgressName, int],
) -> None:
    """Update minutes and hours that were rolled up before late readings arrived.

    `times` are the first and last of the late readings (ms), by the number of the machine, and
    `progress` was read to write in the same transaction.
    """
    for machine, (first, last) in times.items():
        for table, source, length, until in (
            (minutes, seconds, MINUTE, progress["minutes"]),
            (hours, minutes, HOUR, progress["hours"]),
        ):
            begin = first - first % length
            end = min(last - last % length + length, until)
            if begin < end:
                _fill(database, connection, (table, source, length), [machine], begin, end)


def _roll_up_portion(
    database: Database, table: Table, source: Table, length: int, now: int
) -> bool:
    """The next portion, in its own transaction; True when nothing is left."""
    name: ProgressName = "minutes" if table is minutes else "hours"
    with database.write(durable=False) as connection:
        progress = read_progress(connection, to_write=True)
        # An hour needs all its minutes.
        over = now - _WAIT if table is minutes else progress["minutes"]
        target = over - over % length
        if progress[name] >= target:
            return True
        numbers = list(connection.scalars(select(machines.c.id)))
        first = [
            connection.scalar(
                select(func.min(source.c.time)).where(
                    source.c.machine == number, source.c.time >= progress[name]
                )
            )
            for number in numbers
        ]
        begin = min((time for time in first if time is not None), default=target)
        begin = min(begin - begin % length, target)
        end = min(begin + _PORTION[name], target)
        _fill(database, connection, (table, source, length), numbers, begin, end)
        set_progress(connection, name, end)
        return end == target


def _fill(
    database: Database,
    connection: Connection,
    kind: tuple[Table, Table, int],
    numbers: Iterable[int],
    begin: int,
    end: int,
) -> None:
    """Write rows of a table from those of a finer one; `kind` is both and the length of a row."""
    table, source, length = kind
    names = [column.name for column in table.c]
    for number in numbers:
        insert = database.insert(table).from_select(
            names, _rolled_up(source, length, number, begin, end)
        )
        connection.execute(
            insert.on_conflict_do_update(
                index_elements=["machine", "time"],
                set_={name: insert.excluded[name] for name in names[2:]},
                # A few late seconds do not replace a minute whose own seconds are removed.
                where=insert.excluded.readings >= table.c.readings,
            )
        )


def _rolled_up(source: Table, length: int, number: int, begin: int, end: int) -> Select[Any]:
    """Rows of the coarser table, with its columns in order."""
    values = aggregates(source)
    column = source.c
    readings = func.count() if source is seconds else func.sum(column.readings)
    level, levels = level_sum(source)
    bucket = (column.time // length * length).label("bucket")
    return (
        select(
            column.machine,
            bucket,
            readings,
            values.scored,
            values.low,
            values.total / func.nullif(values.scored, 0),
            values.high,
            values.state,
            level / levels,
            values.alert_seconds,
            values.alarm_seconds,
            *(
                cast(func.round(total / func.nullif(count, 0)), SmallInteger)
                for total, count in zip(*band_sums(source), strict=True)
            ),
        )
        .where(column.machine == number, column.time >= begin, column.time < end)
        .group_by(column.machine, "bucket")
    )

"""Seconds to minutes to hours. Doing it twice changes nothing."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Connection, Select, Table, func, select

from ssdpt.monitor.store.engine import Database
from ssdpt.monitor.store.rollup_progress import Mark, read_progress, set_progress
from ssdpt.monitor.store.tables import hours, machines, minutes, seconds

MINUTE, HOUR = 60_000, 3_600_000  # milliseconds
_SETTLE = 10_000  # readings come in batches: waiting for the last of a minute saves doing it twice
# Of one transaction: an hour's or a year's backlog never keeps others from writing for long.
_PORTION = {"minutes": 6 * HOUR, "hours": 30 * 24 * HOUR}


class Values(NamedTuple):
    """What a table of readings says of the smoothed score, for sums over its rows."""

    heard: ColumnElement[Any]  # readings with a smoothed score
    low: ColumnElement[Any]
    total: ColumnElement[Any]
    high: ColumnElement[Any]
    state: ColumnElement[Any]


def values_of(table: Table) -> Values:
    """Seconds, minutes and hours, summed up in the same way."""
    column = table.c
    if table is seconds:
        score = column.smoothed
        return Values(
            func.count(score), func.min(score), func.sum(score), func.max(score),
            func.max(column.state),
        )  # fmt: skip
    return Values(
        func.sum(column.heard),
        func.min(column.low),
        func.sum(column.mean * column.heard),
        func.max(column.high),
        func.max(column.state),
    )


def roll_up(database: Database, now: int) -> None:
    """Make all minutes and hours that are over at `now` (ms) and not made yet."""
    for table, source, length in ((minutes, seconds, MINUTE), (hours, minutes, HOUR)):
        while not _roll_portion(database, table, source, length, now):
            pass


def roll_late(
    database: Database, connection: Connection, times: dict[int, tuple[int, int]]
) -> None:
    """Make minutes and hours anew that readings came into after they were made.

    `times` are the first and last of the new readings (ms) by the machine's number.
    """
    made = read_progress(connection, to_write=True)
    for machine, (first, last) in times.items():
        for table, source, length, until in (
            (minutes, seconds, MINUTE, made["minutes"]),
            (hours, minutes, HOUR, made["hours"]),
        ):
            begin = first - first % length
            end = min(last - last % length + length, until)
            if begin < end:
                _make(database, connection, (table, source, length), [machine], begin, end)


def _roll_portion(database: Database, table: Table, source: Table, length: int, now: int) -> bool:
    """The next portion, in a transaction of its own; True when nothing is left."""
    name: Mark = "minutes" if table is minutes else "hours"
    with database.write(durable=False) as connection:
        made = read_progress(connection, to_write=True)
        # An hour needs all its minutes.
        over = now - _SETTLE if table is minutes else made["minutes"]
        target = over - over % length
        if made[name] >= target:
            return True
        numbers = list(connection.scalars(select(machines.c.id)))
        first = [
            connection.scalar(
                select(func.min(source.c.time)).where(
                    source.c.machine == number, source.c.time >= made[name]
                )
            )
            for number in numbers
        ]
        begin = min((time for time in first if time is not None), default=target)
        begin = min(begin - begin % length, target)
        end = min(begin + _PORTION[name], target)
        _make(database, connection, (table, source, length), numbers, begin, end)
        set_progress(connection, name, end)
        return end == target


def _make(
    database: Database,
    connection: Connection,
    kind: tuple[Table, Table, int],
    numbers: Iterable[int],
    begin: int,
    end: int,
) -> None:
    table, source, length = kind
    names = [column.name for column in table.c]
    for number in numbers:
        insert = database.insert(table).from_select(
            names, _summed(source, length, number, begin, end)
        )
        connection.execute(
            insert.on_conflict_do_update(
                index_elements=["machine", "time"],
                set_={name: insert.excluded[name] for name in names[2:]},
                # What was made before its seconds were removed is not made anew of a few late ones.
                where=insert.excluded.readings >= table.c.readings,
            )
        )


def _summed(source: Table, length: int, number: int, begin: int, end: int) -> Select[Any]:
    """Rows of the coarser table, its columns in their order."""
    values = values_of(source)
    column = source.c
    readings = func.count() if source is seconds else func.sum(column.readings)
    level = (
        func.avg(column.level)
        if source is seconds
        else func.sum(column.level * column.readings) / func.sum(column.readings)
    )
    bucket = (column.time // length * length).label("bucket")
    return (
        select(
            column.machine,
            bucket,
            readings,
            values.heard,
            values.low,
            values.total / func.nullif(values.heard, 0),
            values.high,
            values.state,
            level,
        )
        .where(column.machine == number, column.time >= begin, column.time < end)
        .group_by(column.machine, "bucket")
    )

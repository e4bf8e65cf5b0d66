"""No second of a machine lies in the store twice, and each minute counts its own seconds once.

The page could not show it: a trend puts all readings of a second into one point.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable

from sqlalchemy import Connection, Table, func, select

from faults.experiment import Outcome
from ssdpt.monitor.store.engine import Database
from ssdpt.monitor.store.rollup import HOUR, MINUTE
from ssdpt.monitor.store.rollup_progress import read_progress
from ssdpt.monitor.store.tables import hours, machines, minutes, seconds

_CLOSEST = 900  # milliseconds between two readings of a machine; each stands for a second


def check_stored_readings(database: Database, outcome: Outcome) -> None:
    """Look at all machines in one consistent state of a store, also while a service uses it."""
    with database.read() as connection:
        progress = read_progress(connection)
        for number, machine in connection.execute(select(machines.c.id, machines.c.name)).all():
            times = connection.scalars(
                select(seconds.c.time).where(seconds.c.machine == number).order_by(seconds.c.time)
            ).all()
            outcome.checked += len(times)
            outcome.doubled += doubled_seconds(machine, times)
            for table, source, length, removed in (
                (minutes, seconds, MINUTE, "seconds_removed"),
                (hours, minutes, HOUR, "minutes_removed"),
            ):
                begin, end = progress[removed], progress[table.name]
                _compare(
                    connection, (table, source, length), (number, machine), begin, end, outcome
                )


def doubled_seconds(machine: str, times: Iterable[int]) -> list[str]:
    """Readings that come sooner after the one before than a second of sound can; `times` in ms."""
    return [
        f"reading of {machine} at {after / 1000:.3f}, {after - before} ms after another"
        for before, after in itertools.pairwise(times)
        if after - before < _CLOSEST
    ]


def _compare(
    connection: Connection,
    kind: tuple[Table, Table, int],
    machine: tuple[int, str],
    begin: int,
    end: int,
    outcome: Outcome,
) -> None:
    """Rows of minutes or hours count as many readings as the finer table has in them."""
    table, source, length = kind
    readings = func.count() if source is seconds else func.sum(source.c.readings)
    bucket = (source.c.time // length * length).label("bucket")
    number, name = machine
    finer = connection.execute(
        select(bucket, readings)
        .where(source.c.machine == number, source.c.time >= begin, source.c.time < end)
        .group_by("bucket")
    ).all()
    rows = connection.execute(
        select(table.c.time, table.c.readings).where(
            table.c.machine == number, table.c.time >= begin, table.c.time < end
        )
    ).all()
    stored, wanted = dict(map(tuple, rows)), dict(map(tuple, finer))
    outcome.checked += len(wanted)
    for time in sorted(stored.keys() | wanted.keys()):
        counted, present = stored.get(time, 0), wanted.get(time, 0)
        what = f"{table.name} of {name} at {time // 1000}: {counted} readings, not {present}"
        if counted > present:
            outcome.doubled.append(what)
        elif counted < present:
            outcome.lost.append(what)

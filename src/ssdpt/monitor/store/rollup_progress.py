"""How far roll-up and retention have come: one time per name, in milliseconds since 1970."""

from __future__ import annotations

from typing import Literal

from sqlalchemy import Connection, select, update

from ssdpt.monitor.store.tables import rollup_progress

ProgressName = Literal[
    "minutes",  # minutes that begin earlier are rolled up from their seconds
    "hours",  # hours that begin earlier are rolled up from their minutes
    "seconds_removed",  # earlier seconds are removed, or about to be
    "minutes_removed",
]


def read_progress(connection: Connection, *, to_write: bool = False) -> dict[ProgressName, int]:
    """All times, by name.

    `to_write`: until the transaction ends, no one else can add readings or roll them up.
    Otherwise a reading could arrive in a minute while it is rolled up, and be missing in it.
    """
    column = rollup_progress.c
    if to_write:  # one row is locked for all: with several, two transactions could deadlock
        connection.execute(
            select(rollup_progress).where(column.name == "minutes").with_for_update()
        )
    rows = connection.execute(select(column.name, column.time)).all()
    return {row.name: row.time for row in rows}


def set_progress(connection: Connection, name: ProgressName, time: int) -> None:
    """Set one time (ms)."""
    own = rollup_progress.c.name == name
    connection.execute(update(rollup_progress).where(own).values(time=time))

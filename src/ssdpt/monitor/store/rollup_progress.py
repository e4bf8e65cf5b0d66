"""How far roll-ups and removals have come: one time each, in milliseconds since 1970."""

from __future__ import annotations

from typing import Literal

from sqlalchemy import Connection, select, update

from ssdpt.monitor.store.tables import marks

Mark = Literal[
    "minutes",  # minutes that begin before it are made of their seconds
    "hours",  # hours that begin before it are made of their minutes
    "seconds_removed",  # seconds before it are gone, or about to be
    "minutes_removed",
]


def read_progress(connection: Connection, *, to_write: bool = False) -> dict[Mark, int]:
    """All of them.

    `to_write`: until the transaction ends, nobody else adds readings or rolls them up. Otherwise
    a reading could slip into a minute while that is being summed up, and be missing in it.
    """
    if to_write:  # one row stands for all: locking several could have two wait for each other
        connection.execute(select(marks).where(marks.c.name == "minutes").with_for_update())
    rows = connection.execute(select(marks.c.name, marks.c.time)).all()
    return {row.name: row.time for row in rows}


def set_progress(connection: Connection, name: Mark, time: int) -> None:
    connection.execute(update(marks).where(marks.c.name == name).values(time=time))

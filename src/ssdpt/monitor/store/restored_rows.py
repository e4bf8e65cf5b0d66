"""Whether the rows of a backup can be read: a foreign one may hold anything."""

from __future__ import annotations

import json
from typing import get_args

from sqlalchemy import Connection, select

from ssdpt.monitor.messages import Note
from ssdpt.monitor.store.events import check_events
from ssdpt.monitor.store.tables import machine_values, notes, users
from ssdpt.monitor.store.users import Role


def check_rows(connection: Connection) -> None:
    """ValueError, TypeError or KeyError for rows that the service could not read later.

    Databases do not check what stands in a text; SQLite takes text for a number as well.
    """
    check_events(connection)
    for row in connection.execute(select(notes)):
        Note(
            id=row.id,
            machine="",
            at=row.at,
            kind=row.kind,
            text=row.text,
            who=row.who,
            written_at=row.written_at,
        )
    for value in connection.scalars(select(machine_values.c.value)):
        json.loads(value)
    for role in connection.scalars(select(users.c.role)):
        if role not in get_args(Role):
            raise ValueError(f"a user has the role {role}")

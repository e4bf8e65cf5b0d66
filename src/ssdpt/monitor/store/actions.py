"""The audit log: who did what. Rows are only ever added."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import Connection, select

from ssdpt.monitor.store.base import StoreBase, storable
from ssdpt.monitor.store.tables import actions


@dataclass(frozen=True, slots=True)
class Action:
    """Something that a person, or retention, has done."""

    id: int  # counts up
    who: str
    at: float  # seconds since 1970
    what: str
    about: str  # an event, a machine or a user


class Actions(StoreBase):
    """The audit log. Acknowledging, commenting and labelling add to it by themselves."""

    def log_action(self, who: str, at: float, what: str, about: str) -> None:
        """Add one action."""
        with self.database.write() as connection:
            log(connection, who, at, what, about)

    def actions(self, limit: int = 100, before: int | None = None) -> list[Action]:
        """The newest first. For the next page give the last id as `before`."""
        query = select(actions).order_by(actions.c.id.desc()).limit(limit)
        if before is not None:
            query = query.where(actions.c.id < before)
        with self.database.read() as connection:
            return [Action(*row) for row in connection.execute(query)]


def log(connection: Connection, who: str, at: float, what: str, about: str) -> None:
    """Add an action in the transaction of the change itself: both are written, or neither."""
    connection.execute(
        actions.insert().values(
            who=storable(who), at=at, what=storable(what), about=storable(about)
        )
    )

"""Who did what: a trail that is only ever added to."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import Connection, select

from ssdpt.monitor.store.machines import StoreBase, plain
from ssdpt.monitor.store.tables import actions


@dataclass(frozen=True, slots=True)
class Action:
    """Something that a person, or retention, has done."""

    id: int  # counts up
    who: str
    at: float
    what: str
    about: str  # an event, a machine, a user


class Actions(StoreBase):
    """The trail. Acknowledging, commenting and labelling leave theirs by themselves."""

    def log_action(self, who: str, at: float, what: str, about: str) -> None:
        with self.database.write() as connection:
            log(connection, who, at, what, about)

    def actions(self, limit: int = 100, before: int | None = None) -> list[Action]:
        """The newest first; `before` an id gives the next page."""
        query = select(actions).order_by(actions.c.id.desc()).limit(limit)
        if before is not None:
            query = query.where(actions.c.id < before)
        with self.database.read() as connection:
            return [Action(*row) for row in connection.execute(query)]


def log(connection: Connection, who: str, at: float, what: str, about: str) -> None:
    """Within the transaction of what is done, so that neither is there without the other."""
    connection.execute(
        actions.insert().values(who=plain(who), at=at, what=plain(what), about=plain(about))
    )

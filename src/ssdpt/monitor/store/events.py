"""Events, and what people do with them."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from sqlalchemy import Connection, Row, Select, and_, case, func, or_, select, update

from ssdpt.errors import SsdptError
from ssdpt.monitor.messages import Comment, Event, EventLabel
from ssdpt.monitor.store.actions import log
from ssdpt.monitor.store.machines import StoreBase, plain
from ssdpt.monitor.store.tables import comments, events, machines

# What the monitor says of an event. The rest is said by people, and saving never takes it back.
_HEARD = (
    *("machine", "kind", "level", "began", "ended", "words", "peak", "threshold"),
    *("audio_begin", "top_bands_hz"),
)


_AT_ONCE = 10_000  # events whose comments one query asks for; databases bound its values


class Events(StoreBase):
    """Events by id. What these methods have returned from is safe from kills and power cuts."""

    def save_event(self, event: Event) -> None:
        """Insert it, or bring it up to date; saving the same twice changes nothing.

        Saving never takes back an acknowledgement, a comment or a label that someone has given
        in the meantime.
        """
        row = {
            "id": event.id,
            "machine": self._make_number(event.machine),
            "kind": event.kind,
            "level": event.level,
            "began": event.began,
            "ended": event.ended,
            "words": plain(event.words),
            "peak": event.peak,
            "threshold": event.threshold,
            "label": event.label,
            "acknowledged_by": event.acknowledged_by and plain(event.acknowledged_by),
            "acknowledged_at": event.acknowledged_at,
            "audio_begin": event.audio_begin,
            "top_bands_hz": json.dumps(event.top_bands_hz),
        }
        insert = self.database.insert(events).values(row)
        new, old = insert.excluded, events.c
        changed = {name: new[name] for name in _HEARD} | {
            "acknowledged_by": func.coalesce(old.acknowledged_by, new.acknowledged_by),
            "acknowledged_at": func.coalesce(old.acknowledged_at, new.acknowledged_at),
        }
        with self.database.write() as connection:
            connection.execute(insert.on_conflict_do_update(index_elements=["id"], set_=changed))
            unsaid = and_(old.id == event.id, old.labelled_by.is_(None))
            connection.execute(update(events).where(unsaid).values(label=event.label))
            for comment in event.comments:
                _add_comment(connection, event.id, comment)

    def event(self, id: str) -> Event | None:
        with self.database.read() as connection:
            return _event(connection, id)

    def events(
        self,
        *,
        machine: str | None = None,
        open_only: bool = False,
        kind: str | None = None,
        begin: float | None = None,
        end: float | None = None,
        before: float | None = None,
        limit: int = 100,
    ) -> list[Event]:
        """Those that match all that is given, newest first.

        `open_only`: not cleared. `begin`, `end`: went on at some time between. `before`: began
        earlier; the beginning of the last one of a page gives the next page.
        """
        row = events.c
        query = _select(machine)
        if open_only:
            query = query.where(or_(row.acknowledged_at.is_(None), row.ended.is_(None)))
        if kind is not None:
            query = query.where(row.kind == kind)
        if begin is not None:
            query = query.where(or_(row.ended.is_(None), row.ended >= begin))
        if end is not None:
            query = query.where(row.began < end)
        if before is not None:
            query = query.where(row.began < before)
        query = query.order_by(row.began.desc(), row.id).limit(limit)
        with self.database.read() as connection:
            return _with_comments(connection, connection.execute(query).all())

    def going_on(self, machine: str | None = None) -> list[Event]:
        """All that have not ended, of one machine or of all, newest first."""
        row = events.c
        query = _select(machine).where(row.ended.is_(None)).order_by(row.began.desc(), row.id)
        with self.database.read() as connection:
            return _with_comments(connection, connection.execute(query).all())

    def acknowledge(self, id: str, who: str, at: float, comment: str = "") -> Event:
        """Someone has seen it. The first one counts; a later one's comment is kept all the same."""
        with self.database.write() as connection:
            _existing(connection, id)
            unseen = and_(events.c.id == id, events.c.acknowledged_at.is_(None))
            connection.execute(
                update(events).where(unseen).values(acknowledged_by=plain(who), acknowledged_at=at)
            )
            if comment.strip():
                _add_comment(connection, id, Comment(who, at, comment))
            log(connection, who, at, "acknowledge", id)
            return _existing(connection, id)

    def comment(self, id: str, who: str, at: float, text: str) -> Event:
        """Someone writes to it."""
        if not text.strip():
            raise SsdptError("a comment has no words; write some")
        with self.database.write() as connection:
            _existing(connection, id)
            _add_comment(connection, id, Comment(who, at, text))
            log(connection, who, at, "comment", id)
            return _existing(connection, id)

    def label(self, id: str, label: EventLabel, who: str, at: float) -> Event:
        """Someone says what it was, or ("") that this is not known after all."""
        with self.database.write() as connection:
            _existing(connection, id)
            connection.execute(
                update(events).where(events.c.id == id).values(label=label, labelled_by=plain(who))
            )
            log(connection, who, at, f"label {label or 'none'}", id)
            return _existing(connection, id)

    def end_events(self, machine: str, at: float) -> int:
        """End all events of a machine that go on, of every kind; how many."""
        going_on = and_(events.c.machine == self._number(machine), events.c.ended.is_(None))
        # None ends before it began, even where the clock was set back.
        over = case((events.c.began > at, events.c.began), else_=at)
        with self.database.write() as connection:
            return connection.execute(update(events).where(going_on).values(ended=over)).rowcount


def _select(machine: str | None = None) -> Select[Any]:
    """Rows of events with the names of their machines; of one machine where it is given."""
    query = select(events, machines.c.name.label("machine_name")).join(machines)
    return query if machine is None else query.where(machines.c.name == machine)


def _existing(connection: Connection, id: str) -> Event:
    event = _event(connection, id)
    if event is None:
        raise SsdptError(f"event '{plain(id)}': there is none of this id")
    return event


def _event(connection: Connection, id: str) -> Event | None:
    rows = connection.execute(_select().where(events.c.id == plain(id))).all()
    return next(iter(_with_comments(connection, rows)), None)


def _with_comments(connection: Connection, rows: Iterable[Row[Any]]) -> list[Event]:
    found = list(rows)
    said: dict[str, list[Comment]] = {row.id: [] for row in found}
    ids = list(said)
    for first in range(0, len(ids), _AT_ONCE):
        some = comments.c.event.in_(ids[first : first + _AT_ONCE])
        for row in connection.execute(select(comments).where(some).order_by(comments.c.id)):
            said[row.event].append(Comment(row.who, row.at, row.text))
    return [
        Event(
            id=row.id,
            machine=row.machine_name,
            kind=row.kind,
            level=row.level,
            began=row.began,
            words=row.words,
            ended=row.ended,
            peak=row.peak,
            threshold=row.threshold,
            label=row.label,
            acknowledged_by=row.acknowledged_by,
            acknowledged_at=row.acknowledged_at,
            comments=tuple(said[row.id]),
            audio_begin=row.audio_begin,
            top_bands_hz=tuple((low, high) for low, high in json.loads(row.top_bands_hz)),
        )
        for row in found
    ]


def _add_comment(connection: Connection, event: str, comment: Comment) -> None:
    """Once: what is sent again after a broken connection is there already."""
    row = {
        "event": event,
        "who": plain(comment.who),
        "at": comment.at,
        "text": plain(comment.text),
    }
    same = and_(*(comments.c[name] == value for name, value in row.items()))
    if connection.scalar(select(comments.c.id).where(same).limit(1)) is None:
        connection.execute(comments.insert().values(row))

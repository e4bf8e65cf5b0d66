"""Events, and what people do with them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Unpack

from pydantic import TypeAdapter
from sqlalchemy import Connection, Row, Select, and_, case, func, select, update

from ssdpt.alarms.findings import Finding
from ssdpt.alarms.severity import Severity
from ssdpt.errors import SsdptError
from ssdpt.monitor.events.episodes import end_event
from ssdpt.monitor.messages import (
    Acknowledgement,
    Comment,
    Episode,
    Event,
    EventGroup,
    EventLabel,
    LooksLike,
)
from ssdpt.monitor.store.actions import log
from ssdpt.monitor.store.base import StoreBase, storable
from ssdpt.monitor.store.event_filter import FAULT, EventConditions, matching
from ssdpt.monitor.store.tables import comments, events, machines
from ssdpt.sentences import Sentence

# Columns that the service sets. The others are set by people, and saving never overwrites them.
_SET_BY_SERVICE = (
    *("machine", "kind", "level", "began", "ended", "message", "peak", "threshold"),
    *("audio_begin", "voice_seconds", "top_bands_hz", "findings", "episodes", "may_continue"),
    *("baseline_learned_at", "severity", "looks_like", "looks_like_events", "similarity"),
    "speed_rpm",
)
_EPISODES = TypeAdapter(tuple[Episode, ...])
_FINDINGS = TypeAdapter(tuple[Finding, ...])
_EVENTS_PER_QUERY = 10_000  # databases limit how many values a query has


class Events(StoreBase):
    """Events by id. Once a method has returned, its change survives kills and power cuts."""

    def save_event(self, event: Event) -> None:
        """Insert or update it; saving the same event twice changes nothing.

        Saving never overwrites an acknowledgement, a comment or a label that someone has added
        meanwhile.
        """
        acknowledged = event.acknowledged
        row = {
            "id": event.id,
            "machine": self._get_or_add_number(event.machine),
            "kind": event.kind,
            "level": event.level,
            "began": event.began,
            "ended": event.ended,
            "message": storable(event.message),
            "peak": event.peak,
            "threshold": event.threshold,
            "label": event.label,
            "acknowledged_by": None if acknowledged is None else storable(acknowledged.who),
            "acknowledged_at": None if acknowledged is None else acknowledged.at,
            "audio_begin": event.audio_begin,
            "voice_seconds": event.voice_seconds,
            "top_bands_hz": json.dumps(event.top_bands_hz),
            "findings": _FINDINGS.dump_json(event.findings).decode(),
            "episodes": _EPISODES.dump_json(event.episodes).decode(),
            "may_continue": event.may_continue,
            "baseline_learned_at": event.baseline_learned_at,
            "severity": None if event.severity is None else event.severity.model_dump_json(),
            "cause": storable(event.cause),
            "work_order": storable(event.work_order),
            "fault": storable(event.fault),
            **_looks_like_row(event.looks_like),
            "speed_rpm": event.speed_rpm,
        }
        insert = self.database.insert(events).values(row)
        new, old = insert.excluded, events.c
        changed = {name: new[name] for name in _SET_BY_SERVICE} | {
            "acknowledged_by": func.coalesce(old.acknowledged_by, new.acknowledged_by),
            "acknowledged_at": func.coalesce(old.acknowledged_at, new.acknowledged_at),
        }
        with self.database.write() as connection:
            connection.execute(insert.on_conflict_do_update(index_elements=["id"], set_=changed))
            unlabelled = and_(old.id == event.id, old.labelled_by.is_(None))
            connection.execute(update(events).where(unlabelled).values(label=event.label))
            for comment in event.comments:
                _add_comment(connection, event.id, comment)

    def event(self, id: str) -> Event | None:
        """The event with this id; None if there is none."""
        with self.database.read() as connection:
            return _event(connection, id)

    def events(self, *, limit: int = 100, **wanted: Unpack[EventConditions]) -> list[Event]:
        """Events that match every given condition, newest first.

        For the next page set `before` to the beginning of the last event of this page.
        """
        column = events.c
        query = _select().where(*matching(wanted))
        query = query.order_by(column.began.desc(), column.id).limit(limit)
        with self.database.read() as connection:
            return _with_comments(connection, connection.execute(query).all())

    def event_groups(
        self, *, limit: int = 200, **wanted: Unpack[EventConditions]
    ) -> list[EventGroup]:
        """Events that match every given condition, by machine and fault.

        Those with the newest event come first.
        """
        column = events.c
        alarm = func.max(case((column.level == "alarm", 1), else_=0))
        unseen = func.sum(case((column.acknowledged_at.is_(None), 1), else_=0))
        named = func.sum(case((column.fault != "", 1), else_=0))
        count, first, last = func.count(), func.min(column.began), func.max(column.began)
        query = (
            select(machines.c.name, column.kind, FAULT, count, named, first, last, alarm, unseen)
            .join(machines)
            .where(*matching(wanted))
            .group_by(machines.c.name, column.kind, FAULT)
            .order_by(last.desc(), machines.c.name)
            .limit(limit)
        )
        with self.database.read() as connection:
            return [
                EventGroup(
                    machine=machine,
                    kind=kind,
                    fault=fault,
                    events=total,
                    confirmed=confirmed,
                    first_began=began,
                    last_began=latest,
                    level="alarm" if in_alarm else "alert",
                    unacknowledged=waiting,
                )
                for machine, kind, fault, total, confirmed, began, latest, in_alarm, waiting in (
                    connection.execute(query)
                )
            ]

    def ongoing_events(self, machine: str | None = None) -> list[Event]:
        """All events that have not ended, of one machine or of all, newest first."""
        column = events.c
        query = _select().where(*matching({"machine": machine}), column.ended.is_(None))
        query = query.order_by(column.began.desc(), column.id)
        with self.database.read() as connection:
            return _with_comments(connection, connection.execute(query).all())

    def acknowledge(self, id: str, who: str, at: float, comment: str = "") -> Event:
        """Someone has seen it. The first one counts; comments of later ones are stored too."""
        with self.database.write() as connection:
            _existing(connection, id)
            unseen = and_(events.c.id == id, events.c.acknowledged_at.is_(None))
            connection.execute(
                update(events)
                .where(unseen)
                .values(acknowledged_by=storable(who), acknowledged_at=at)
            )
            if comment.strip():
                _add_comment(connection, id, _comment(who, at, comment))
            log(connection, who, at, "acknowledge", id)
            return _existing(connection, id)

    def comment(self, id: str, who: str, at: float, text: str) -> Event:
        """Add a comment."""
        if not text.strip():
            raise SsdptError(Sentence("store.emptyComment"))
        with self.database.write() as connection:
            _existing(connection, id)
            _add_comment(connection, id, _comment(who, at, text))
            log(connection, who, at, "comment", id)
            return _existing(connection, id)

    def label(self, id: str, label: EventLabel, who: str, at: float) -> Event:
        """Set what it was; "" removes the label."""
        with self.database.write() as connection:
            _existing(connection, id)
            labelled = {"label": label, "labelled_by": storable(who)}
            connection.execute(update(events).where(events.c.id == id).values(labelled))
            log(connection, who, at, f"label {label or 'none'}", id)
            return _existing(connection, id)

    def set_details(self, id: str, who: str, at: float, details: Mapping[str, str]) -> Event:
        """Set `cause`, `work_order` or `fault`, by name; "" removes one."""
        values = {name: storable(text).strip() for name, text in details.items()}
        with self.database.write() as connection:
            _existing(connection, id)
            if values:
                connection.execute(update(events).where(events.c.id == id).values(values))
            for name, text in values.items():
                log(connection, who, at, f"{name.replace('_', ' ')}: {text or 'none'}", id)
            return _existing(connection, id)

    def reject_looks_like(self, id: str, who: str, at: float) -> Event:
        """It is not the fault that it looks like."""
        with self.database.write() as connection:
            event = _existing(connection, id)
            if event.looks_like is not None:
                own = update(events).where(events.c.id == id)
                connection.execute(own.values(looks_like_rejected=True))
                log(connection, who, at, f"is not: {event.looks_like.fault}", id)
            return _existing(connection, id)

    def end_events(self, machine: str, at: float) -> int:
        """End all active events of a machine, of every kind; returns how many."""
        ongoing = self.ongoing_events(machine)
        for event in ongoing:
            self.save_event(end_event(event, at))
        return len(ongoing)


def _select() -> Select[Any]:
    """Rows of events with the ids of their machines."""
    return select(events, machines.c.name.label("machine_id")).join(machines)


def _existing(connection: Connection, id: str) -> Event:
    event = _event(connection, id)
    if event is None:
        raise unknown_event(id)
    return event


def unknown_event(id: str) -> SsdptError:
    """The error for an id that no event has."""
    return SsdptError(Sentence("store.noEvent", id=storable(id)))


def _event(connection: Connection, id: str) -> Event | None:
    rows = connection.execute(_select().where(events.c.id == storable(id))).all()
    return next(iter(_with_comments(connection, rows)), None)


def _with_comments(connection: Connection, rows: Sequence[Row[Any]]) -> list[Event]:
    """The events of these rows, in their order."""
    comments_by_event: dict[str, list[Comment]] = {row.id: [] for row in rows}
    ids = list(comments_by_event)
    for first in range(0, len(ids), _EVENTS_PER_QUERY):
        own = comments.c.event.in_(ids[first : first + _EVENTS_PER_QUERY])
        for row in connection.execute(select(comments).where(own).order_by(comments.c.id)):
            comment = Comment(who=row.who, at=row.at, text=row.text)
            comments_by_event[row.event].append(comment)
    return [
        Event(
            id=row.id,
            machine=row.machine_id,
            kind=row.kind,
            level=row.level,
            began=row.began,
            ended=row.ended,
            message=row.message,
            peak=row.peak,
            threshold=row.threshold,
            label=row.label,
            acknowledged=_acknowledgement(row),
            comments=tuple(comments_by_event[row.id]),
            audio_begin=row.audio_begin,
            voice_seconds=row.voice_seconds,
            top_bands_hz=tuple((low, high) for low, high in json.loads(row.top_bands_hz)),
            findings=_FINDINGS.validate_json(row.findings),
            episodes=_EPISODES.validate_json(row.episodes),
            may_continue=row.may_continue,
            baseline_learned_at=row.baseline_learned_at,
            severity=None if row.severity is None else Severity.model_validate_json(row.severity),
            cause=row.cause,
            work_order=row.work_order,
            fault=row.fault,
            looks_like=_looks_like(row),
            speed_rpm=row.speed_rpm,
        )
        for row in rows
    ]


def check_events(connection: Connection) -> None:
    """ValueError, TypeError or KeyError for rows that are no events."""
    ids = list(connection.scalars(select(events.c.id)))
    for first in range(0, len(ids), _EVENTS_PER_QUERY):
        own = events.c.id.in_(ids[first : first + _EVENTS_PER_QUERY])
        _with_comments(connection, connection.execute(_select().where(own)).all())


def _acknowledgement(row: Row[Any]) -> Acknowledgement | None:
    if row.acknowledged_at is None:
        return None
    return Acknowledgement(who=row.acknowledged_by, at=row.acknowledged_at)


def _looks_like(row: Row[Any]) -> LooksLike | None:
    if not row.looks_like or row.looks_like_rejected:
        return None
    return LooksLike(
        fault=row.looks_like,
        earlier_events=row.looks_like_events,
        similarity=row.similarity,
    )


def _looks_like_row(looks_like: LooksLike | None) -> dict[str, Any]:
    if looks_like is None:
        return {}
    return {
        "looks_like": storable(looks_like.fault),
        "looks_like_events": looks_like.earlier_events,
        "similarity": looks_like.similarity,
    }


def _comment(who: str, at: float, text: str) -> Comment:
    return Comment(who=storable(who), at=at, text=storable(text))


def _add_comment(connection: Connection, event: str, comment: Comment) -> None:
    """Add it once, even if it is sent again after a broken connection."""
    row = {
        "event": event,
        "who": storable(comment.who),
        "at": comment.at,
        "text": storable(comment.text),
    }
    same = and_(*(comments.c[name] == value for name, value in row.items()))
    if connection.scalar(select(comments.c.id).where(same).limit(1)) is None:
        connection.execute(comments.insert().values(row))

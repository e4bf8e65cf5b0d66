"""What is kept for how long, and what makes way when the disk is full."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from sqlalchemy import ColumnElement, Row, Table, delete, select, update

from ssdpt.monitor.config import RetentionSettings
from ssdpt.monitor.store.actions import log
from ssdpt.monitor.store.attachments import Attachments
from ssdpt.monitor.store.readings import Readings
from ssdpt.monitor.store.rollup import HOUR, MINUTE
from ssdpt.monitor.store.rollup_progress import Mark, read_progress, set_progress
from ssdpt.monitor.store.tables import attachments, events, machines, minutes, seconds

_DAY = 86400.0
_MEGABYTE = 1e6


@dataclass(frozen=True, slots=True)
class RemovedAudio:
    """An event that has lost its recording."""

    event: str
    machine: str
    began: float
    bytes: int
    reason: Literal["age", "disk"]


@dataclass(frozen=True, slots=True)
class Retained:
    """What was removed."""

    seconds: int  # rows
    minutes: int
    audio: tuple[RemovedAudio, ...]
    disk_full: bool  # nothing was left that may make way, and there still is too little space

    @property
    def words(self) -> str:
        """For people; empty where nobody need know."""
        told = []
        for reason, why in (("age", "were old enough"), ("disk", "made way on a full disk")):
            own = [one for one in self.audio if one.reason == reason]
            if own:
                size = sum(one.bytes for one in own) / _MEGABYTE
                told.append(f"{len(own)} recordings of events ({size:.1f} MB) {why}")
        if self.disk_full:
            told.append(
                "the disk is full and every recording left is of an event that nobody has "
                "acknowledged: acknowledge some or free space"
            )
        return "; ".join(told)


class Retention(Readings, Attachments):
    """Removes what is old."""

    def retain(
        self,
        now: float,
        rules: RetentionSettings,
        free_bytes: Callable[[], int] | None = None,
    ) -> Retained:
        """Remove what `rules` say, as of `now`. A kill half-way loses nothing; run it again.

        Hours are kept for ever, and the audio of events that nobody has acknowledged as well.
        `free_bytes` tells the space that the audio's disk has left.
        """
        self.roll_up(now)
        gone_seconds = self._remove_readings(
            seconds, now - rules.seconds_days * _DAY, MINUTE, "minutes", "seconds_removed"
        )
        gone_minutes = self._remove_readings(
            minutes, now - rules.minutes_days * _DAY, HOUR, "hours", "minutes_removed"
        )
        old = events.c.began < now - rules.audio_days * _DAY
        removed = [self._remove_audio(row, "age", now) for row in self._removable(old)]
        self.sweep()
        free = free_bytes or (lambda: shutil.disk_usage(self.files.folder).free)
        least = rules.least_free_mb * _MEGABYTE
        if free() < least:
            for row in self._removable():
                removed.append(self._remove_audio(row, "disk", now))
                if free() >= least:
                    break
        return Retained(gone_seconds, gone_minutes, tuple(removed), free() < least)

    def _remove_readings(
        self, table: Table, before: float, length: int, made: Mark, removed: Mark
    ) -> int:
        """Rows that begin before a time (s) and that the coarser table has taken up; how many."""
        with self.database.write() as connection:
            marks = read_progress(connection, to_write=True)
            until = min(round(before * 1000), marks[made])
            until = max(until - until % length, marks[removed])
            # First of all, so that no trend is read where rows are missing.
            set_progress(connection, removed, until)
            numbers = list(connection.scalars(select(machines.c.id)))
        count = 0
        for number in numbers:  # a transaction each: others may write in between
            old = delete(table).where(table.c.machine == number, table.c.time < until)
            with self.database.write(durable=False) as connection:
                count += connection.execute(old).rowcount
        return count

    def _removable(self, *conditions: ColumnElement[bool]) -> list[Row[Any]]:
        """Audio that someone has taken note of: of events that are over, then of others."""
        query = (
            select(attachments, events.c.began, machines.c.name.label("machine"))
            .join(events, events.c.id == attachments.c.event)
            .join(machines, machines.c.id == events.c.machine)
            .where(
                attachments.c.name == "audio", events.c.acknowledged_at.is_not(None), *conditions
            )
            .order_by(events.c.ended.is_(None), events.c.began)
        )
        with self.database.read() as connection:
            return list(connection.execute(query))

    def _remove_audio(
        self, row: Row[Any], reason: Literal["age", "disk"], now: float
    ) -> RemovedAudio:
        # The file first: a database on a full disk could not write that its row is gone.
        self.files.remove(row.key)
        with self.database.write() as connection:
            connection.execute(delete(attachments).where(attachments.c.key == row.key))
            silent = update(events).where(events.c.id == row.event).values(audio_begin=None)
            connection.execute(silent)
            log(connection, "retention", now, f"remove audio ({reason})", row.event)
        return RemovedAudio(row.event, row.machine, row.began, row.bytes, reason)

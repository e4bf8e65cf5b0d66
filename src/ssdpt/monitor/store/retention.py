"""Removes what is too old, and old recordings when the disk is full."""

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
from ssdpt.monitor.store.rollup_progress import ProgressName, read_progress, set_progress
from ssdpt.monitor.store.tables import attachments, events, machines, minutes, seconds

_DAY = 86400.0
_MEGABYTE = 1e6


@dataclass(frozen=True, slots=True)
class RemovedAudio:
    """A recording of an event that was removed."""

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
    disk_full: bool  # still too little space, and no recording is left that may be removed

    @property
    def message(self) -> str:
        """For people; empty if there is nothing to report."""
        sentences = []
        for reason, why in (("age", "because of their age"), ("disk", "to free disk space")):
            removed = [audio for audio in self.audio if audio.reason == reason]
            if removed:
                size = sum(audio.bytes for audio in removed) / _MEGABYTE
                count = (
                    "1 event recording" if len(removed) == 1 else f"{len(removed)} event recordings"
                )
                sentences.append(f"{count} ({size:.1f} MB) removed {why}")
        if self.disk_full:
            sentences.append(
                "the disk is full and the remaining recordings belong to unacknowledged events: "
                "acknowledge some of them or free disk space"
            )
        return "; ".join(sentences)


class Retention(Readings, Attachments):
    """Applies the retention settings."""

    def retain(
        self,
        now: float,
        settings: RetentionSettings,
        free_bytes: Callable[[], int] | None = None,
    ) -> Retained:
        """Remove what is too old at `now`. After a kill half-way, run it again.

        Hours are kept for ever, and so are the recordings of unacknowledged events.
        `free_bytes` returns the free space of the disk that holds the recordings.
        """
        self.roll_up(now)
        removed_seconds = self._remove_readings(
            seconds, now - settings.seconds_days * _DAY, MINUTE, "minutes", "seconds_removed"
        )
        removed_minutes = self._remove_readings(
            minutes, now - settings.minutes_days * _DAY, HOUR, "hours", "minutes_removed"
        )
        old = events.c.began < now - settings.audio_days * _DAY
        audio = [self._remove_audio(row, "age", now) for row in self._removable(old)]
        self.remove_orphan_files()
        free = free_bytes or (lambda: shutil.disk_usage(self.files.folder).free)
        min_free = settings.min_free_mb * _MEGABYTE
        if free() < min_free:
            for row in self._removable():
                audio.append(self._remove_audio(row, "disk", now))
                if free() >= min_free:
                    break
        return Retained(removed_seconds, removed_minutes, tuple(audio), free() < min_free)

    def _remove_readings(
        self,
        table: Table,
        before: float,
        length: int,
        rolled_up: ProgressName,
        removed: ProgressName,
    ) -> int:
        """Remove rows before a time (s) that the coarser table includes; returns how many."""
        with self.database.write() as connection:
            progress = read_progress(connection, to_write=True)
            until = min(round(before * 1000), progress[rolled_up])
            until = max(until - until % length, progress[removed])
            # Before any row is removed, so that no trend is read where rows are missing.
            set_progress(connection, removed, until)
            numbers = list(connection.scalars(select(machines.c.id)))
        count = 0
        for number in numbers:  # in one transaction each, so that others can write in between
            old = delete(table).where(table.c.machine == number, table.c.time < until)
            with self.database.write(durable=False) as connection:
                count += connection.execute(old).rowcount
        return count

    def _removable(self, *conditions: ColumnElement[bool]) -> list[Row[Any]]:
        """Recordings of acknowledged events: first of those that have ended, then the others."""
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
        # The file first: on a full disk the database may be unable to remove its row.
        self.files.remove(row.key)
        with self.database.write() as connection:
            connection.execute(delete(attachments).where(attachments.c.key == row.key))
            without_audio = update(events).where(events.c.id == row.event).values(audio_begin=None)
            connection.execute(without_audio)
            log(connection, "retention", now, f"remove audio ({reason})", row.event)
        return RemovedAudio(row.event, row.machine, row.began, row.bytes, reason)

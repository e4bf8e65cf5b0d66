"""Removes what is too old, and old recordings when the disk is full."""

from __future__ import annotations

import itertools
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

from sqlalchemy import ColumnElement, Row, Table, delete, select, update

from ssdpt.monitor.config import RetentionSettings
from ssdpt.monitor.store.actions import log
from ssdpt.monitor.store.patience import patient
from ssdpt.monitor.store.readings import Readings
from ssdpt.monitor.store.recordings import Recordings
from ssdpt.monitor.store.rollup import HOUR, MINUTE
from ssdpt.monitor.store.rollup_progress import ProgressName, read_progress, set_progress
from ssdpt.monitor.store.tables import (
    attachments,
    events,
    machines,
    minutes,
    recordings,
    seconds,
)
from ssdpt.sentences import Sentence

_DAY = 86400.0
_MEGABYTE = 1e6


@dataclass(frozen=True, slots=True)
class RemovedAudio:
    """A recording that was removed."""

    event: str | None  # None: a person had kept it
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
    def message(self) -> Sentence | None:
        """For people; None if there is nothing to report."""
        sentences = []
        for reason, kept in itertools.product(("age", "disk"), (False, True)):
            removed = [
                audio
                for audio in self.audio
                if audio.reason == reason and (audio.event is None) == kept
            ]
            if removed:
                size = round(sum(audio.bytes for audio in removed) / _MEGABYTE, 1)
                sentences.append(_removed(reason, len(removed), size, kept=kept))
        if self.disk_full:
            sentences.append(Sentence("service.diskFull"))
        return Sentence("common.clauses", clauses=sentences) if sentences else None


def _removed(reason: str, count: int, megabytes: float, *, kept: bool) -> Sentence:
    if reason == "age":
        if kept:
            return Sentence("service.keptRemovedByAge", count=count, megabytes=megabytes)
        return Sentence("service.eventsRemovedByAge", count=count, megabytes=megabytes)
    if kept:
        return Sentence("service.keptRemovedForSpace", count=count, megabytes=megabytes)
    return Sentence("service.eventsRemovedForSpace", count=count, megabytes=megabytes)


class Retention(Readings, Recordings):
    """Applies the retention settings."""

    def retain(
        self,
        now: float,
        settings: RetentionSettings,
        free_bytes: Callable[[], int] | None = None,
    ) -> Retained:
        """Remove what is too old at `now`. After a kill half-way, run it again.

        Hours are kept for ever, and so are the recordings of unacknowledged events. Recordings
        that a person has kept are removed like those of acknowledged events.
        `free_bytes` returns the free space of the disk that holds the recordings.
        """
        self.roll_up(now)
        removed_seconds = self._remove_readings(
            seconds, now - settings.seconds_days * _DAY, MINUTE, "minutes", "seconds_removed"
        )
        removed_minutes = self._remove_readings(
            minutes, now - settings.minutes_days * _DAY, HOUR, "hours", "minutes_removed"
        )
        oldest = now - settings.audio_days * _DAY
        old_events = self._removable(events.c.began < oldest)
        audio = [self._remove_audio(row, "age", now) for row in old_events]
        old_kept = self._kept(recordings.c.begin < oldest)
        audio += [self._remove_kept(row, "age", now) for row in old_kept]
        self.remove_orphan_files()
        free = free_bytes or (lambda: shutil.disk_usage(self.files.folder).free)
        min_free = settings.min_free_mb * _MEGABYTE
        if free() < min_free:
            # What someone kept on purpose goes last.
            removals = [
                *(partial(self._remove_audio, row, "disk", now) for row in self._removable()),
                *(partial(self._remove_kept, row, "disk", now) for row in self._kept()),
            ]
            for remove in removals:
                audio.append(remove())
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
            with patient(), self.database.write(durable=False) as connection:
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

    def _kept(self, *conditions: ColumnElement[bool]) -> list[Row[Any]]:
        """Recordings that a person has kept, the oldest first."""
        query = (
            select(recordings, machines.c.name.label("machine_name"))
            .join(machines, machines.c.id == recordings.c.machine)
            .where(*conditions)
            .order_by(recordings.c.begin)
        )
        with self.database.read() as connection:
            return list(connection.execute(query))

    def _remove_kept(
        self, row: Row[Any], reason: Literal["age", "disk"], now: float
    ) -> RemovedAudio:
        what = f"remove kept sound ({reason})"
        self._remove_recording(row, "retention", now, what, row.machine_name)
        return RemovedAudio(None, row.machine_name, row.begin, row.bytes, reason)

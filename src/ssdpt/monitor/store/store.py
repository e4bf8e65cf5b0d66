"""The store: readings, events, recordings, values of machines, users and the audit log."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Self

from ssdpt.common.temporary import remove_leftovers
from ssdpt.monitor.store.actions import Actions
from ssdpt.monitor.store.attachments import Files, files_folder
from ssdpt.monitor.store.band_trends import BandTrends
from ssdpt.monitor.store.engine import Database
from ssdpt.monitor.store.events import Events
from ssdpt.monitor.store.key_value_store import KeyValueStore
from ssdpt.monitor.store.lock import ServiceLock
from ssdpt.monitor.store.named_faults import NamedFaults
from ssdpt.monitor.store.notes import Notes
from ssdpt.monitor.store.restored_files import undo_killed_restore
from ssdpt.monitor.store.retention import Retention
from ssdpt.monitor.store.schema import current_revision, needs_upgrade, store_id, upgrade
from ssdpt.monitor.store.sent_reports import SentReports
from ssdpt.monitor.store.summaries import Summaries
from ssdpt.monitor.store.upgrades import (
    BACKUPS,
    StoreUpgrade,
    Upgrades,
    back_up_before_upgrade,
    record_upgrade,
)
from ssdpt.monitor.store.users import Users


class Store(
    Retention,
    BandTrends,
    Summaries,
    Events,
    NamedFaults,
    Notes,
    SentReports,
    KeyValueStore,
    Users,
    Actions,
    Upgrades,
):
    """Made by `open`. For all threads of a process.

    Methods raise StoreUnavailable while the database cannot be reached, and work again afterwards.
    """

    def __init__(self, database: Database, files: Files, lock: ServiceLock | None) -> None:
        super().__init__(database, files)
        self.upgraded: StoreUpgrade | None = None  # by opening it
        self._lock = lock

    @classmethod
    def open(cls, url: str, folder: Path, *, writer: bool = False) -> Self:
        """Open a store; its tables are created, or upgraded after a backup, if needed.

        `url` is sqlite:///path or postgresql+psycopg://user@host/database. `folder` holds the
        recordings and pictures. `writer` is for the service: only one can be open at a time.
        """
        with contextlib.ExitStack() as undo:
            database = Database(url)
            undo.callback(database.close)
            lock = None
            # Before anything is changed: the tables must not change while a service is running.
            if writer or needs_upgrade(database):
                lock = ServiceLock(database)
                undo.callback(lock.release)
            backup = back_up_before_upgrade(database, folder)
            with database.write(makes_tables=True) as connection:
                before = current_revision(connection)
                upgrade(connection)
                id = store_id(database, connection)
                upgraded = None
                if writer or backup is not None:
                    upgraded = record_upgrade(database, connection, before, backup)
            files = Files(files_folder(folder, id))
            if lock is not None and writer:
                lock.announce()
            elif lock is not None:
                lock.release()
            store = cls(database, files, lock if writer else None)
            store.upgraded = upgraded
            if writer:
                store._remove_unfinished(folder, id)
            undo.pop_all()
        return store

    def _remove_unfinished(self, folder: Path, id: str) -> None:
        """Remove what killed processes have left; the service alone writes files from now on."""
        undo_killed_restore(folder, id)
        remove_leftovers(folder)
        remove_leftovers(folder / BACKUPS)
        self.files.remove_leftovers()
        self.remove_orphan_files(older_than=0.0)

    def close(self) -> None:
        """Release the lock and close the database."""
        if self._lock is not None:
            self._lock.release()
        self.database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

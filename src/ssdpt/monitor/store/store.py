"""The store: readings, events, recordings, values of machines, users and the audit log."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Self

from ssdpt.monitor.store.actions import Actions
from ssdpt.monitor.store.attachments import Files, files_folder
from ssdpt.monitor.store.band_trends import BandTrends
from ssdpt.monitor.store.engine import Database
from ssdpt.monitor.store.events import Events
from ssdpt.monitor.store.key_value_store import KeyValueStore
from ssdpt.monitor.store.lock import ServiceLock
from ssdpt.monitor.store.retention import Retention
from ssdpt.monitor.store.schema import needs_upgrade, store_id, upgrade
from ssdpt.monitor.store.users import Users


class Store(Retention, BandTrends, Events, KeyValueStore, Users, Actions):
    """Made by `open`. For all threads of a process.

    Methods raise StoreUnavailable while the database cannot be reached, and work again afterwards.
    """

    def __init__(self, database: Database, files: Files, lock: ServiceLock | None) -> None:
        super().__init__(database, files)
        self._lock = lock

    @classmethod
    def open(cls, url: str, folder: Path, *, writer: bool = False) -> Self:
        """Open a store; its tables are created or upgraded if needed.

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
            with database.write(makes_tables=True) as connection:
                upgrade(connection)
                id = store_id(database, connection)
            files = Files(files_folder(folder, id))
            if lock is not None and writer:
                lock.announce()
            elif lock is not None:
                lock.release()
            undo.pop_all()
        return cls(database, files, lock if writer else None)

    def close(self) -> None:
        """Release the lock and close the database."""
        if self._lock is not None:
            self._lock.release()
        self.database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

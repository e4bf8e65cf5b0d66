"""The history of a plant: readings, events, recordings, users, and who did what."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Self

from ssdpt.monitor.store.actions import Actions
from ssdpt.monitor.store.attachments import Files, files_folder
from ssdpt.monitor.store.engine import Database
from ssdpt.monitor.store.events import Events
from ssdpt.monitor.store.lock import ServiceLock
from ssdpt.monitor.store.machines import KeyValueStore
from ssdpt.monitor.store.retention import Retention
from ssdpt.monitor.store.schema import outdated, store_id, upgrade
from ssdpt.monitor.store.users import Users


class Store(Retention, Events, KeyValueStore, Users, Actions):
    """Made by `open`. For all threads of a process; methods raise StoreUnavailable while the
    database is away and work again when it is back."""

    def __init__(self, database: Database, files: Files, lock: ServiceLock | None) -> None:
        super().__init__(database, files)
        self._lock = lock

    @classmethod
    def open(cls, url: str, folder: Path, *, writer: bool = False) -> Self:
        """A store, made or brought up to date where needed.

        `url` is sqlite:///path or postgresql+psycopg://user@host/database; `folder` holds audio
        and pictures. `writer` is for the service: there is only one at a time.
        """
        with contextlib.ExitStack() as undo:
            database = Database(url)
            undo.callback(database.close)
            lock = None
            # Before anything is changed: tables do not change under a service that runs.
            if writer or outdated(database):
                lock = ServiceLock(database)
                undo.callback(lock.release)
            with database.write(makes_tables=True) as connection:
                upgrade(connection)
                number = store_id(database, connection)
            files = Files(files_folder(folder, number))
            if lock is not None and writer:
                lock.announce()
            elif lock is not None:
                lock.release()
            undo.pop_all()
        return cls(database, files, lock if writer else None)

    def close(self) -> None:
        """Let go of the database, and of the lock."""
        if self._lock is not None:
            self._lock.release()
        self.database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

"""The lock of a store: only one service can use it at a time.

The lock is released when the process ends, however it ends: an SQLite store is locked by a file
beside it, a PostgreSQL store by a session. The table `about` says who holds the lock.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import socket
import threading
import time
from pathlib import Path
from typing import Protocol

from sqlalchemy import Connection, inspect, select, text
from sqlalchemy.exc import DBAPIError
from sqlalchemy.pool import NullPool

from ssdpt.common.files import writing
from ssdpt.errors import SsdptError
from ssdpt.monitor.store.engine import Database, new_engine
from ssdpt.monitor.store.patience import brief
from ssdpt.monitor.store.tables import about

_HOLDER = "service"
# The server notices within half a minute that the computer of the service is down.
_KEEPALIVE = {"tcp_keepalives_idle": 10, "tcp_keepalives_interval": 5, "tcp_keepalives_count": 4}


class _Lock(Protocol):
    def take(self) -> bool:
        """False if another process holds it."""
        ...

    def held(self) -> bool:
        """Whether this process still holds it."""
        ...

    def release(self) -> None: ...


class ServiceLock:
    """Held from construction until `release`."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._lock: _Lock = (
            _FileLock(Path(f"{database.url.database}.lock"))
            if database.is_sqlite
            else _SessionLock(database)
        )
        self._check_lock = threading.Lock()
        self._take()
        database.guard = self._check

    def announce(self) -> None:
        """Write into the store who holds it; call this once the store has its tables."""
        holder = {"host": socket.gethostname(), "pid": os.getpid(), "since": time.time()}
        row = {"name": _HOLDER, "value": json.dumps(holder)}
        with self._database.write(guarded=False) as connection:
            insert = self._database.insert(about).values(row)
            connection.execute(insert.on_conflict_do_update(index_elements=["name"], set_=row))

    def release(self) -> None:
        """Release the lock; writes are no longer checked."""
        self._database.guard = None
        self._lock.release()

    def _check(self) -> None:
        """Called before every write. Takes the lock again if it was lost with its connection."""
        with self._check_lock:
            self._database.check_answers()  # it may have failed while others checked
            if not self._lock.held():
                self._take()
                self.announce()

    def _take(self) -> None:
        if not self._lock.take():
            raise SsdptError(
                f"{self._database.name}: this store is already used by {self._holder()}; "
                f"stop that service or choose another store"
            )

    def _holder(self) -> str:
        holder = None
        with self._database.read() as connection:
            if inspect(connection).has_table(about.name):
                holder = connection.scalar(select(about.c.value).where(about.c.name == _HOLDER))
        if holder is None:
            return "another service"
        service = json.loads(holder)
        return f"a service on host {service['host']} (process {service['pid']})"


class _FileLock:
    """A lock of the kernel on a file."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: int | None = None

    def take(self) -> bool:
        with writing(self._path):
            file = os.open(self._path, os.O_CREAT | os.O_RDWR, 0o600)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(file)
            return False
        self._file = file
        return True

    def held(self) -> bool:
        return self._file is not None

    def release(self) -> None:
        # The file stays: if it were removed, two processes could lock two files of the same name.
        if self._file is not None:
            os.close(self._file)
            self._file = None


class _SessionLock:
    """An advisory lock of PostgreSQL, on a connection that stays open."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._engine = new_engine(database.url, poolclass=NullPool, isolation_level="AUTOCOMMIT")
        self._connection: Connection | None = None

    def take(self) -> bool:
        with self._database.reachable(), brief(), contextlib.ExitStack() as unless_taken:
            connection = unless_taken.enter_context(self._engine.connect())
            for name, value in _KEEPALIVE.items():
                connection.execute(text(f"SET {name} TO {value}"))
            schema = connection.scalar(text("SELECT current_schema()"))
            taken = connection.scalar(
                text("SELECT pg_try_advisory_lock(:key)"), {"key": _key(str(schema))}
            )
            if taken:
                self._connection = connection
                unless_taken.pop_all()
            return bool(taken)

    def held(self) -> bool:
        if self._connection is None:
            return False
        try:
            with brief():
                self._connection.execute(text("SELECT 1"))
        except DBAPIError:
            self.release()
            return False
        return True

    def release(self) -> None:
        if self._connection is not None:
            connection, self._connection = self._connection, None
            with contextlib.suppress(DBAPIError):
                connection.close()


def _key(schema: str) -> int:
    """The number of the lock: 64 bits, unique in the database."""
    digest = hashlib.blake2b(f"ssdpt service {schema}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big", signed=True)

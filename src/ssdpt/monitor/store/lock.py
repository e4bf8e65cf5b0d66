"""One service at a time: the lock that a store's writer holds while it lives.

The system itself lets go when the process dies, however it dies: SQLite stores are locked by a
file beside them, PostgreSQL by a session of its own. Who holds it stands in the table `about`.
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
from ssdpt.monitor.store.tables import about

_HOLDER = "service"
# The server notices within half a minute that the other computer is gone.
_KEEPALIVE = {"tcp_keepalives_idle": 10, "tcp_keepalives_interval": 5, "tcp_keepalives_count": 4}


class _Hold(Protocol):
    def take(self) -> bool:
        """False where another one has it."""
        ...

    def held(self) -> bool:
        """Whether it still is."""
        ...

    def release(self) -> None: ...


class ServiceLock:
    """Held from its making until `release`."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._hold: _Hold = (
            _FileHold(Path(f"{database.url.database}.lock"))
            if database.is_sqlite
            else _SessionHold(database)
        )
        self._turn = threading.Lock()
        self._take()
        database.guard = self._check

    def announce(self) -> None:
        """Write down who holds it, once the store has its tables."""
        holder = {"host": socket.gethostname(), "pid": os.getpid(), "since": time.time()}
        row = {"name": _HOLDER, "value": json.dumps(holder)}
        with self._database.write(guarded=False) as connection:
            insert = self._database.insert(about).values(row)
            connection.execute(insert.on_conflict_do_update(index_elements=["name"], set_=row))

    def release(self) -> None:
        self._database.guard = None
        self._hold.release()

    def _check(self) -> None:
        """Before every write. A lock that was lost with its connection is taken again."""
        with self._turn:
            if not self._hold.held():
                self._take()
                self.announce()

    def _take(self) -> None:
        if not self._hold.take():
            raise SsdptError(
                f"{self._database.name}: {self._holder()} works on this store already; "
                f"stop it first or choose another store"
            )

    def _holder(self) -> str:
        found = None
        with self._database.read() as connection:
            if inspect(connection).has_table(about.name):
                found = connection.scalar(select(about.c.value).where(about.c.name == _HOLDER))
        if found is None:
            return "another service"
        holder = json.loads(found)
        return f"a service on host {holder['host']} (process {holder['pid']})"


class _FileHold:
    """The kernel's lock of a file."""

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
        # The file stays: removing it would let two lock different files of the same name.
        if self._file is not None:
            os.close(self._file)
            self._file = None


class _SessionHold:
    """An advisory lock of PostgreSQL, on a connection that is kept open."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._engine = new_engine(database.url, poolclass=NullPool, isolation_level="AUTOCOMMIT")
        self._connection: Connection | None = None

    def take(self) -> bool:
        with self._database.reachable(), contextlib.ExitStack() as unless_taken:
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
    """PostgreSQL's locks have numbers of 64 bits and hold for a database."""
    digest = hashlib.blake2b(f"ssdpt service {schema}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big", signed=True)

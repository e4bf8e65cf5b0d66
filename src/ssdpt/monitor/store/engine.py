"""The database under a store: SQLite or PostgreSQL, read and written in short transactions."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, Table, create_engine, event, make_url
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine import URL
from sqlalchemy.exc import (
    ArgumentError,
    DatabaseError,
    DBAPIError,
    InterfaceError,
    InternalError,
    NoSuchModuleError,
    OperationalError,
    TimeoutError,
)

from ssdpt.errors import SsdptError

_WAIT_SECONDS = 10  # for another writer, a free connection, or a server that does not answer
_WRITES, _MAKES_TABLES = "ssdpt_writes", "ssdpt_makes_tables"

Insert = sqlite.Insert | postgresql.Insert


class StoreUnavailable(SsdptError):
    """The database cannot be reached at the moment; trying again later may help."""


class Database:
    """One store's database, for all threads of a process."""

    def __init__(self, url: str) -> None:
        self.url = read_url(url)
        self.is_sqlite = self.url.get_backend_name() == "sqlite"
        # Called before every write: a service that has lost its lock must not write.
        self.guard: Callable[[], None] | None = None
        # Threads of this process queue here: SQLite would have them poll for the one writer.
        self._turn: contextlib.AbstractContextManager[Any] = (
            threading.RLock() if self.is_sqlite else contextlib.nullcontext()
        )
        if self.is_sqlite:
            _make_file(Path(self.url.database or ""))
        self._durable = self._engine("FULL", "on")
        # A power cut may take the last second of readings, never what a person has done.
        self._swift = self._engine("NORMAL", "off")

    @property
    def name(self) -> str:
        """For people; without the password."""
        return self.url.render_as_string(hide_password=True)

    @contextlib.contextmanager
    def read(self) -> Iterator[Connection]:
        """One unchanging view of the database."""
        options = {} if self.is_sqlite else {"isolation_level": "REPEATABLE READ"}
        with (
            self.reachable(),
            self._durable.connect() as connection,
            connection.execution_options(**options).begin(),
        ):
            yield connection

    @contextlib.contextmanager
    def write(
        self, *, durable: bool = True, guarded: bool = True, makes_tables: bool = False
    ) -> Iterator[Connection]:
        """A transaction: all of it or nothing; when it returns, a `durable` one survives anything.

        `guarded`: only while this process holds the lock that it has taken. `makes_tables`: a
        table may be made anew, and SQLite must not mind that rows refer to the one dropped; see
        `ssdpt.monitor.store.schema.check_references`.
        """
        if guarded and self.guard is not None:
            self.guard()
        engine = self._durable if durable else self._swift
        with (
            self._turn,
            self.reachable(),
            engine.connect() as connection,
            connection.execution_options(**{_WRITES: True, _MAKES_TABLES: makes_tables}).begin(),
        ):
            yield connection

    def insert(self, table: Table) -> Insert:
        """An insert that knows what to do with rows that are there."""
        return sqlite.insert(table) if self.is_sqlite else postgresql.insert(table)

    def close(self) -> None:
        self._durable.dispose()
        self._swift.dispose()

    @contextlib.contextmanager
    def reachable(self) -> Iterator[None]:
        """The driver's errors in a sentence."""
        try:
            yield
        except (OperationalError, InterfaceError, InternalError, TimeoutError) as error:
            raise self._unavailable(error) from error
        except DBAPIError as error:
            if error.connection_invalidated:
                raise self._unavailable(error) from error
            if type(error) is DatabaseError:  # SQLite's word for a file that is none of its own
                raise SsdptError(
                    f"{self.name}: is damaged or no SQLite database ({error.orig}); "
                    f"restore a backup or choose another file"
                ) from error
            raise

    def _unavailable(self, error: Exception) -> StoreUnavailable:
        return StoreUnavailable(
            f"{self.name}: the database does not answer ({in_a_line(error)}); "
            f"see that it runs and that its disk has room"
        )

    def _engine(self, sqlite_synchronous: str, postgres_commit: str) -> Engine:
        engine = new_engine(
            self.url, pool_size=5, max_overflow=15, pool_timeout=_WAIT_SECONDS, pool_pre_ping=True
        )

        @event.listens_for(engine, "connect")
        def _connected(connection: Any, _: object) -> None:
            if self.is_sqlite:
                connection.isolation_level = None  # begins are ours, below
                statements = [
                    "PRAGMA journal_mode=WAL",
                    f"PRAGMA synchronous={sqlite_synchronous}",
                ]
            else:
                statements = [f"SET synchronous_commit TO {postgres_commit}"]
            cursor = connection.cursor()
            for statement in statements:
                cursor.execute(statement)
            cursor.close()
            if not self.is_sqlite:
                connection.commit()

        if self.is_sqlite:

            @event.listens_for(engine, "begin")
            def _began(connection: Connection) -> None:
                options = connection.get_execution_options()
                references = "OFF" if options.get(_MAKES_TABLES) else "ON"
                connection.exec_driver_sql(f"PRAGMA foreign_keys={references}")
                # A reader that turns into a writer half-way would be refused without waiting.
                begin = "BEGIN IMMEDIATE" if options.get(_WRITES) else "BEGIN"
                connection.exec_driver_sql(begin)

        return engine


def read_url(url: str) -> URL:
    """A database that a store can live in; refused in a sentence where it cannot."""
    try:
        parsed = make_url(url)
    except (ArgumentError, ValueError) as error:
        raise SsdptError(
            f"store '{url}': is no address of a database; write sqlite:///path/to/file.db or "
            f"postgresql+psycopg://user@host/database"
        ) from error
    if parsed.drivername in ("postgresql", "postgres"):
        parsed = parsed.set(drivername="postgresql+psycopg")
    name = parsed.render_as_string(hide_password=True)
    if parsed.drivername not in ("sqlite", "postgresql+psycopg"):
        raise SsdptError(f"store {name}: only sqlite and postgresql+psycopg can be used")
    if parsed.drivername == "sqlite" and parsed.database in (None, "", ":memory:"):
        raise SsdptError(f"store {name}: names no file; write sqlite:///path/to/file.db")
    return parsed


def new_engine(url: URL, **options: Any) -> Engine:
    """SQLAlchemy's engine; a server that does not answer is not waited for longer than others."""
    if url.get_backend_name() == "sqlite":
        arguments = {"timeout": _WAIT_SECONDS}
    else:
        arguments = {
            name: value
            for name, value in {
                "connect_timeout": _WAIT_SECONDS,
                "tcp_user_timeout": _WAIT_SECONDS * 1000,
            }.items()
            if name not in url.query
        }
    try:
        return create_engine(url, connect_args=arguments, **options)
    except (ModuleNotFoundError, NoSuchModuleError) as error:
        raise SsdptError(
            "a store in PostgreSQL needs the package psycopg: pip install 'ssdpt[postgres]'"
        ) from error


def in_a_line(error: Exception) -> str:
    """What the driver, or whoever else, says of an error."""
    words = str(getattr(error, "orig", None) or error).strip() or type(error).__name__
    return " ".join(words.split())


def _make_file(path: Path) -> None:
    """An empty file that others cannot read: it will hold password hashes."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
    except OSError as error:
        raise SsdptError(
            f"{path}: the store cannot be written ({error.strerror}); choose another place"
        ) from error

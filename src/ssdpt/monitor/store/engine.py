"""The database of a store: SQLite or PostgreSQL, read and written in short transactions."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from time import monotonic
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
    SQLAlchemyError,
    TimeoutError,
)
from sqlalchemy.pool import NullPool

from ssdpt.errors import SsdptError
from ssdpt.monitor.store import patience
from ssdpt.monitor.store.outage import Outage
from ssdpt.sentences import Sentence, said

_WAIT_SECONDS = 10  # for another writer, a free connection, or a server that does not respond
_HANGS_AFTER = 0.4  # seconds; a server that has failed sooner does not hang
_CONNECT_SECONDS = 5  # until a server accepts a connection
_WRITES, _MAKES_TABLES = "ssdpt_writes", "ssdpt_makes_tables"

Insert = sqlite.Insert | postgresql.Insert


class StoreUnavailable(SsdptError):
    """The database cannot be reached now; trying again later may help."""


class Database:
    """The database of one store, for all threads of a process."""

    def __init__(self, url: str) -> None:
        self.url = read_url(url)
        self.is_sqlite = self.url.get_backend_name() == "sqlite"
        # Called before every write: a service that has lost its lock must not write.
        self.guard: Callable[[], None] | None = None
        # SQLite allows one writer, and others would poll: threads of this process queue here.
        self._write_lock: contextlib.AbstractContextManager[Any] = (
            threading.RLock() if self.is_sqlite else contextlib.nullcontext()
        )
        self._outage = Outage(self._answers)  # of a server that hangs
        if self.is_sqlite:
            _create_file(Path(self.url.database or ""))
        self._durable = self._engine("FULL", "on")
        # A power cut may lose the last second of readings, but never what a person has done.
        self._fast = self._engine("NORMAL", "off")

    @property
    def name(self) -> str:
        """The address for people, without the password."""
        return self.url.render_as_string(hide_password=True)

    @contextlib.contextmanager
    def read(self) -> Iterator[Connection]:
        """A transaction that sees one consistent state of the database."""
        options = {} if self.is_sqlite else {"isolation_level": "REPEATABLE READ"}
        self.check_answers()
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
        """A transaction that writes. Once it has returned, a `durable` one survives a power cut.

        `guarded`: refused if this process has lost the lock it had taken. `makes_tables`: tables
        may be replaced, so SQLite does not check references between them meanwhile; see
        `ssdpt.monitor.store.schema.check_references`.
        """
        self.check_answers()
        if guarded and self.guard is not None:
            self.guard()
        engine = self._durable if durable else self._fast
        with (
            patience.patient() if makes_tables else contextlib.nullcontext(),
            self._write_lock,
            self.reachable(),
            engine.connect() as connection,
            connection.execution_options(**{_WRITES: True, _MAKES_TABLES: makes_tables}).begin(),
        ):
            yield connection

    def insert(self, table: Table) -> Insert:
        """An insert with ON CONFLICT, in the dialect of the database."""
        return sqlite.insert(table) if self.is_sqlite else postgresql.insert(table)

    def close(self) -> None:
        """Close all connections."""
        self._outage.close()
        self._durable.dispose()
        self._fast.dispose()

    @contextlib.contextmanager
    def reachable(self) -> Iterator[None]:
        """Turns errors of the driver into sentences for people."""
        began = monotonic()
        try:
            yield
        except (
            *(OperationalError, InterfaceError, InternalError),
            *(TimeoutError, patience.NoAnswer),
        ) as error:
            raise self._unavailable(error, began) from error
        except DBAPIError as error:
            if error.connection_invalidated:
                raise self._unavailable(error, began) from error
            if type(error) is DatabaseError:  # of SQLite, for a file that is not its own
                raise self._damaged(str(error.orig)) from error
            raise
        except UnicodeDecodeError as error:  # SQLite quotes the damaged part in its message
            raise self._damaged("malformed text") from error

    def _damaged(self, reason: str) -> SsdptError:
        return SsdptError(Sentence("store.damaged", name=self.name, reason=reason))

    def _unavailable(self, error: Exception, began: float) -> StoreUnavailable:
        unavailable = StoreUnavailable(
            Sentence("store.unavailable", name=self.name, reason=in_one_line(error))
        )
        # One that refuses at once may be back at once.
        if not self.is_sqlite and monotonic() - began > _HANGS_AFTER:
            self._outage.begin(said(unavailable))
        return unavailable

    def check_answers(self) -> None:
        """StoreUnavailable while the server hangs: all threads would wait for it."""
        if message := self._outage.message:
            raise StoreUnavailable(message)

    def _answers(self) -> bool:
        """Whether the server answers on a new connection."""
        engine = new_engine(self.url, poolclass=NullPool)
        try:
            with patience.brief(), engine.connect() as connection:
                connection.exec_driver_sql("SELECT 1")
        except SQLAlchemyError:
            return False
        return True

    def _engine(self, sqlite_synchronous: str, postgres_commit: str) -> Engine:
        engine = new_engine(self.url, pool_size=5, max_overflow=15, pool_timeout=_WAIT_SECONDS)

        @event.listens_for(engine, "connect")
        def _on_connect(connection: Any, _: object) -> None:
            if self.is_sqlite:
                connection.isolation_level = None  # transactions are begun below, not by the driver
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
            def _on_begin(connection: Connection) -> None:
                options = connection.get_execution_options()
                references = "OFF" if options.get(_MAKES_TABLES) else "ON"
                connection.exec_driver_sql(f"PRAGMA foreign_keys={references}")
                # SQLite refuses, without waiting, a reader that becomes a writer half-way.
                begin = "BEGIN IMMEDIATE" if options.get(_WRITES) else "BEGIN"
                connection.exec_driver_sql(begin)

        return engine


def read_url(url: str) -> URL:
    """Check the address of a database; SsdptError if no store can be in it."""
    try:
        parsed = make_url(url)
    except (ArgumentError, ValueError) as error:
        raise SsdptError(
            f"store '{url}': not the address of a database; write sqlite:///path/to/file.db or "
            f"postgresql+psycopg://user@host/database"
        ) from error
    if parsed.drivername in ("postgresql", "postgres"):
        parsed = parsed.set(drivername="postgresql+psycopg")
    name = parsed.render_as_string(hide_password=True)
    if parsed.drivername not in ("sqlite", "postgresql+psycopg"):
        raise SsdptError(f"store {name}: only sqlite and postgresql+psycopg are supported")
    if parsed.drivername == "sqlite" and parsed.database in (None, "", ":memory:"):
        raise SsdptError(f"store {name}: names no file; write sqlite:///path/to/file.db")
    return parsed


def new_engine(url: URL, **options: Any) -> Engine:
    """An engine of SQLAlchemy that does not wait for ever for a server."""
    if url.get_backend_name() == "sqlite":
        arguments = {"timeout": _WAIT_SECONDS}
    else:
        arguments = {
            name: value
            for name, value in {
                "connect_timeout": _CONNECT_SECONDS,
                "tcp_user_timeout": _WAIT_SECONDS * 1000,
            }.items()
            if name not in url.query
        }
    try:
        engine = create_engine(url, connect_args=arguments, **options)
        if url.get_backend_name() != "sqlite":
            patience.bound_waits(engine)
        return engine
    except (ModuleNotFoundError, NoSuchModuleError) as error:
        raise SsdptError(
            "a store in PostgreSQL needs the package psycopg: pip install 'ssdpt[postgres]'"
        ) from error


def in_one_line(error: Exception) -> str:
    """The message of an error; that of the driver if it comes from there."""
    message = str(getattr(error, "orig", None) or error).strip() or type(error).__name__
    return " ".join(message.split())


def _create_file(path: Path) -> None:
    """An empty file that other users cannot read: it will hold password hashes."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
    except OSError as error:
        raise SsdptError(
            f"{path}: the store cannot be written ({error.strerror}); choose another path"
        ) from error

"""Creates and upgrades the tables of a store, with the migrations in this package."""

from __future__ import annotations

import re
import secrets
from functools import cache
from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from alembic.util.exc import CommandError
from sqlalchemy import Connection, select, text
from sqlalchemy.exc import DBAPIError

from ssdpt.errors import SsdptError
from ssdpt.monitor.store.engine import Database, in_one_line
from ssdpt.monitor.store.tables import about
from ssdpt.sentences import Sentence

_MIGRATIONS = Path(__file__).parent / "migrations"
_UPGRADE_LOCK = 0x5553_4450_5455_5047  # any number that no one else uses
_ID = "id"


@cache
def _scripts(folder: Path) -> ScriptDirectory:
    """The migrations in a folder: reading them takes longer than opening a store."""
    return ScriptDirectory(str(folder))


def newest_revision() -> str:
    """The revision of the tables that this version uses."""
    head = _scripts(_MIGRATIONS).get_current_head()
    assert head is not None
    return head


def current_revision(connection: Connection) -> str | None:
    """The revision of the tables of a store; None for an empty database."""
    try:
        return MigrationContext.configure(connection).get_current_revision()
    except CommandError as error:
        raise _damaged(connection, "it names several revisions of its tables") from error


def is_known_revision(name: str) -> bool:
    """False for a revision of a newer version of ssdpt."""
    return name in {script.revision for script in _scripts(_MIGRATIONS).walk_revisions()}


def needs_upgrade(database: Database) -> bool:
    """Whether the database has the tables of an earlier version."""
    with database.read() as connection:
        current = current_revision(connection)
    if current is None or not is_known_revision(current):
        return False
    return current != newest_revision()


def upgrade(connection: Connection, to: str = "head") -> None:
    """Upgrade the tables to revision `to`, or create them, within the connection's transaction.

    It must be a transaction with `makes_tables`.
    """
    if connection.dialect.name == "postgresql":
        # If two open a new store at once, the second waits here and finds the tables created.
        connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _UPGRADE_LOCK})
    current = current_revision(connection)
    if to == "head" and current == newest_revision():
        return
    name = connection.engine.url.render_as_string(hide_password=True)
    if current is not None and not is_known_revision(current):
        raise SsdptError(
            f"{name}: this store was written by a newer version of ssdpt (tables {current}, this "
            f"version supports {newest_revision()}); update ssdpt"
        )
    config = Config()
    # alembic takes % for the beginning of a variable.
    config.set_main_option("script_location", str(_MIGRATIONS).replace("%", "%%"))
    config.attributes["connection"] = connection
    try:
        command.upgrade(config, to)
        if current_revision(connection) != current:
            check_references(connection)
    except Exception as error:  # of a migration as well as of the driver
        if isinstance(error, DBAPIError) and error.connection_invalidated:
            raise
        raise SsdptError(
            f"{name}: the tables cannot be upgraded from {current or 'nothing'} to "
            f"{newest_revision() if to == 'head' else to} ({in_one_line(error)}); nothing was "
            f"changed: check that the disk is not full, or use the previous version of ssdpt"
        ) from error


def check_references(connection: Connection) -> None:
    """ValueError if rows refer to rows that do not exist.

    PostgreSQL checks this by itself, and SQLite too unless the transaction has `makes_tables`.
    """
    if connection.dialect.name == "sqlite":
        for row in connection.exec_driver_sql("PRAGMA foreign_key_check"):
            raise ValueError(f"rows of {row[0]} refer to rows of {row[2]} that do not exist")


def store_id(database: Database, connection: Connection, new_id: str = "") -> str:
    """The unique id of a store; a store without one gets `new_id`, or a random one."""
    known = select(about.c.value).where(about.c.name == _ID)
    if connection.scalar(known) is None:
        new = database.insert(about).values(name=_ID, value=new_id or secrets.token_hex(8))
        connection.execute(new.on_conflict_do_nothing(index_elements=["name"]))
    id = connection.scalar(known)
    if id is None or not re.fullmatch("[0-9a-f]{16}", id):  # it becomes part of a path
        raise _damaged(connection, "a store with an impossible id")
    return id


def _damaged(connection: Connection, reason: str) -> SsdptError:
    name = connection.engine.url.render_as_string(hide_password=True)
    return SsdptError(Sentence("store.damaged", name=name, reason=reason))

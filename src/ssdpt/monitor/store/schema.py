"""Which tables a store has: made and brought up to date by the migrations in this package."""

from __future__ import annotations

import secrets
from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, select, text
from sqlalchemy.exc import DBAPIError

from ssdpt.errors import SsdptError
from ssdpt.monitor.store.engine import Database, in_a_line
from ssdpt.monitor.store.tables import about

_MIGRATIONS = Path(__file__).parent / "migrations"
_UPGRADE_LOCK = 0x5553_4450_5455_5047  # any number that nobody else uses
_ID = "id"


def newest() -> str:
    """The revision of this version's tables."""
    head = ScriptDirectory(str(_MIGRATIONS)).get_current_head()
    assert head is not None
    return head


def revision(connection: Connection) -> str | None:
    """That of a store's tables; None for an empty database."""
    return MigrationContext.configure(connection).get_current_revision()


def known(name: str | None) -> bool:
    """Whether this version knows a revision, or came after it."""
    there = {script.revision for script in ScriptDirectory(str(_MIGRATIONS)).walk_revisions()}
    return name is None or name in there


def outdated(database: Database) -> bool:
    """Whether there are tables, of an earlier version."""
    with database.read() as connection:
        current = revision(connection)
    return current is not None and known(current) and current != newest()


def upgrade(connection: Connection, to: str = "head") -> None:
    """Bring the tables to revision `to`, within the connection's transaction.

    That must be one that makes tables.
    """
    if connection.dialect.name == "postgresql":
        # Two that open a new store at once: the second waits here, and finds the tables made.
        connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _UPGRADE_LOCK})
    current, name = revision(connection), connection.engine.url.render_as_string(hide_password=True)
    if not known(current):
        raise SsdptError(
            f"{name}: this store was made by a newer version of ssdpt (tables {current}, this one "
            f"knows {newest()}); update ssdpt"
        )
    config = Config()
    # alembic reads % as the beginning of a variable.
    config.set_main_option("script_location", str(_MIGRATIONS).replace("%", "%%"))
    config.attributes["connection"] = connection
    try:
        command.upgrade(config, to)
        if revision(connection) != current:
            check_references(connection)
    except Exception as error:  # a migration's own as well as the driver's
        if isinstance(error, DBAPIError) and error.connection_invalidated:
            raise
        raise SsdptError(
            f"{name}: the tables cannot be brought from {current or 'nothing'} to "
            f"{newest() if to == 'head' else to} ({in_a_line(error)}); nothing was changed: see "
            f"that the disk has room, or go on with the version of ssdpt before"
        ) from error


def check_references(connection: Connection) -> None:
    """Refuse rows that refer to others which are not there, before they are kept.

    PostgreSQL has done so already, and SQLite unless the transaction makes tables.
    """
    if connection.dialect.name == "sqlite":
        for row in connection.exec_driver_sql("PRAGMA foreign_key_check"):
            raise ValueError(f"rows of {row[0]} refer to {row[2]} that are not there")


def store_id(database: Database, connection: Connection) -> str:
    """What tells this store from all others; given to it when it is first asked for."""
    new = database.insert(about).values(name=_ID, value=secrets.token_hex(8))
    connection.execute(new.on_conflict_do_nothing(index_elements=["name"]))
    found = connection.scalar(select(about.c.value).where(about.c.name == _ID))
    assert found is not None
    return found

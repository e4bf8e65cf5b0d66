"""Upgrades of a store to the tables of this release: a backup first, and a record afterwards."""

from __future__ import annotations

import json
import logging
import sqlite3
import time
from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path

from sqlalchemy import Connection, delete, select

from ssdpt.common.files import atomic_path
from ssdpt.errors import SsdptError
from ssdpt.monitor.store.attachments import Files, files_folder
from ssdpt.monitor.store.backup import write_backup
from ssdpt.monitor.store.base import StoreBase
from ssdpt.monitor.store.engine import Database
from ssdpt.monitor.store.schema import current_revision, needs_upgrade, newest_revision, store_id
from ssdpt.monitor.store.tables import about
from ssdpt.sentences import Sentence
from ssdpt.version import __version__

BACKUPS = "backups"  # in the data folder
_KEPT = 3  # backups
_PREFIX = "before-tables-"
_VERSION, _UPGRADE = "version", "upgrade"  # names in the table `about`
_SEEN = "upgrade_seen_by"  # users, as JSON
_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class StoreUpgrade:
    """What happened to a store when a newer release first opened it."""

    at: float  # seconds since 1970
    from_version: str  # of ssdpt; empty: not known
    to_version: str
    from_tables: str  # revisions; the same where only ssdpt is newer
    to_tables: str
    backup: str  # in the data folder; empty where the tables did not change


def back_up_before_upgrade(database: Database, folder: Path) -> Path | None:
    """Back up a store that has the tables of an earlier release; None where it has today's.

    An SQLite store is copied as a file, which takes seconds even where it holds years. Recordings
    are left out: an upgrade does not touch them. Without a backup nothing is upgraded.
    """
    if not needs_upgrade(database):
        return None
    with database.read() as connection:
        tables = current_revision(connection)
        id = store_id(database, connection)
    moment = time.strftime("%Y%m%d-%H%M%S", time.gmtime())
    suffix = ".db" if database.is_sqlite else ".tar"
    path = folder / BACKUPS / f"{_PREFIX}{newest_revision()}-{moment}{suffix}"
    _LOG.info("the store has the tables of an earlier release; writing a backup to %s", path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        if database.is_sqlite:
            _copy_file(Path(database.url.database or ""), path)
        else:
            write_backup(database, Files(files_folder(folder, id)), path, recordings=False)
    except (SsdptError, OSError) as error:
        raise SsdptError(
            f"{database.name}: has the tables of an earlier release ({tables}) and is not upgraded "
            f"without a backup, which cannot be written: {error}"
        ) from error
    _remove_old(path.parent)
    return path


def record_upgrade(
    database: Database, connection: Connection, from_tables: str | None, backup: Path | None
) -> StoreUpgrade | None:
    """Note with which version the store is used; `from_tables`: None for a new store.

    Gives the upgrade, if this is one.
    """
    before = connection.scalar(select(about.c.value).where(about.c.name == _VERSION)) or ""
    to_tables = newest_revision()
    upgrade = None
    # A store without a version and with today's tables was made by a command of this release.
    newer_tables, newer_version = from_tables != to_tables, before not in ("", __version__)
    if from_tables is not None and (newer_tables or newer_version):
        upgrade = StoreUpgrade(
            at=time.time(),
            from_version=before,
            to_version=__version__,
            from_tables=from_tables,
            to_tables=to_tables,
            backup="" if backup is None else f"{BACKUPS}/{backup.name}",
        )
        _set(database, connection, _UPGRADE, json.dumps(asdict(upgrade)))
        connection.execute(delete(about).where(about.c.name == _SEEN))
        _LOG.info("%s", describe(upgrade))
    if before != __version__:
        _set(database, connection, _VERSION, __version__)
    return upgrade


def describe(upgrade: StoreUpgrade) -> Sentence:
    """What was upgraded, and where the backup lies, in a sentence."""
    upgraded = Sentence("service.upgraded", to=upgrade.to_version)
    if upgrade.from_version:
        upgraded = Sentence(
            "service.upgradedFrom", before=upgrade.from_version, to=upgrade.to_version
        )
    if upgrade.from_tables == upgrade.to_tables:
        return upgraded
    migrated = Sentence(
        "service.migrated", old=upgrade.from_tables, new=upgrade.to_tables, backup=upgrade.backup
    )
    return Sentence("common.clauses", clauses=(upgraded, migrated))


class Upgrades(StoreBase):
    """The last upgrade of this store, and who was told about it."""

    def last_upgrade(self) -> StoreUpgrade | None:
        """None for a store that was made by this release."""
        text = self._about(_UPGRADE)
        return None if text is None else StoreUpgrade(**json.loads(text))

    def has_seen_upgrade(self, user: str) -> bool:
        """Whether this user has dismissed the notice of the last upgrade."""
        return user in json.loads(self._about(_SEEN) or "[]")

    def dismiss_upgrade(self, user: str) -> None:
        """This user knows about the last upgrade."""
        with self.database.write() as connection:
            text = connection.scalar(select(about.c.value).where(about.c.name == _SEEN))
            seen = sorted({*json.loads(text or "[]"), user})
            _set(self.database, connection, _SEEN, json.dumps(seen))

    def _about(self, name: str) -> str | None:
        with self.database.read() as connection:
            return connection.scalar(select(about.c.value).where(about.c.name == name))


def _set(database: Database, connection: Connection, name: str, value: str) -> None:
    row = {"name": name, "value": value}
    insert = database.insert(about).values(row)
    connection.execute(insert.on_conflict_do_update(index_elements=["name"], set_=row))


def _copy_file(store: Path, path: Path) -> None:
    """Copy an SQLite file with all that is committed, whole or not at all."""
    with atomic_path(path, private=True) as temporary:  # it holds password hashes
        try:
            with (
                closing(sqlite3.connect(store)) as source,
                closing(sqlite3.connect(temporary)) as to,
            ):
                to.execute("PRAGMA journal_mode=OFF")  # no second file beside it
                source.backup(to)
        except sqlite3.Error as error:
            raise SsdptError(Sentence("store.cannotWrite", path=path, reason=error)) from error


def _remove_old(folder: Path) -> None:
    """Keep the last backups of upgrades; others in the folder are not ours."""
    own = sorted(folder.glob(f"{_PREFIX}*"), key=lambda path: path.stat().st_mtime)
    for path in own[:-_KEPT]:
        path.unlink(missing_ok=True)

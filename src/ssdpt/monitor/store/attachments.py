"""Recordings and pictures of events, and samples of the normal sound of machines.

FOLDER/store-<id>/ab/ab12….flac   File names are random digits. A file is never changed once its row
exists. It is removed before its row, so that space can be freed when the disk is full.
"""

from __future__ import annotations

import contextlib
import re
import secrets
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

from sqlalchemy import Table, delete, select, union_all

from ssdpt.common.files import atomic_path, writing
from ssdpt.common.temporary import remove_leftovers
from ssdpt.errors import SsdptError
from ssdpt.monitor.store.base import StoreBase, storable
from ssdpt.monitor.store.engine import Database
from ssdpt.monitor.store.events import unknown_event
from ssdpt.monitor.store.tables import attachments, events, recordings, samples

AttachmentName = Literal["audio", "spectrogram", "map"]
_KEY = re.compile(r"[0-9a-f]{2}/[0-9a-f]{32}\.[a-z0-9]{1,8}")
_ORPHAN_SECONDS = 3600.0


def files_folder(folder: Path, store: str) -> Path:
    """Named after the store: several stores may share a folder, and each cleans up only its own."""
    return folder / f"store-{store}"


class Files:
    """The files of one store, by key."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        with writing(folder):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)

    def path(self, key: str) -> Path:
        """The path of a file; refuses keys that were not made here."""
        if not _KEY.fullmatch(key):
            raise SsdptError(f"attachment '{key}': not a key of this store; restore a backup")
        return self.folder / key

    def write(self, content: bytes, suffix: str) -> str:
        """Write a new file to the disk; returns its key."""
        digits = secrets.token_hex(16)
        key = f"{digits[:2]}/{digits}{suffix}"
        if not _KEY.fullmatch(key):
            raise SsdptError(f"attachment: '{suffix}' is not a file suffix; use one such as .flac")
        with atomic_path(self.path(key), private=True) as temporary:
            temporary.write_bytes(content)
        return key

    def remove(self, key: str) -> None:
        """Remove a file, if it exists."""
        with writing(self.path(key)):
            self.path(key).unlink(missing_ok=True)

    def remove_leftovers(self) -> None:
        """Remove what killed processes were writing."""
        for folder in self.folder.iterdir():
            if folder.is_dir():
                remove_leftovers(folder)

    def __iter__(self) -> Iterator[str]:
        """The keys of all files."""
        for path in self.folder.glob("*/*"):
            key = path.relative_to(self.folder).as_posix()
            if _KEY.fullmatch(key):
                yield key


class Attachments(StoreBase):
    """Files of events, by name, and one sample per machine."""

    def __init__(self, database: Database, files: Files) -> None:
        super().__init__(database)
        self.files = files

    def attach(self, event: str, name: AttachmentName, content: bytes, suffix: str) -> str:
        """Store `content` for an event, replacing a file of the same name; returns its key.

        `suffix` is that of the file, such as .flac.
        """
        with self.database.read() as connection:
            query = select(events.c.id).where(events.c.id == storable(event))
            if connection.scalar(query) is None:
                raise unknown_event(event)
        return self._save(attachments, {"event": event, "name": name}, content, suffix)

    def attachment(self, event: str, name: str) -> Path | None:
        """The file; None if there is none, or if it was removed."""
        return self._file(attachments, {"event": storable(event), "name": storable(name)})

    def keep_sample(self, machine: str, content: bytes, suffix: str) -> str:
        """Store a sample of the normal sound of a machine, replacing the previous one."""
        owner = {"machine": self._get_or_add_number(machine)}
        return self._save(samples, owner, content, suffix)

    def sample(self, machine: str) -> Path | None:
        """The file; None if there is none."""
        number = self._number(machine)
        return None if number is None else self._file(samples, {"machine": number})

    def drop_sample(self, machine: str) -> None:
        """Remove the sample, if there is one."""
        own = samples.c.machine == self._number(machine)
        with self.database.read() as connection:
            key = connection.scalar(select(samples.c.key).where(own))
        if key is None:
            return
        self.files.remove(key)
        with self.database.write() as connection:
            # A sample that was stored meanwhile stays.
            connection.execute(delete(samples).where(own, samples.c.key == key))

    def remove_orphan_files(self, older_than: float = _ORPHAN_SECONDS) -> int:
        """Remove files whose row was never written, as after a kill; returns how many.

        `older_than`: seconds; the row of a younger file may still be on its way.
        """
        with self.database.read() as connection:
            tables = (attachments, samples, recordings)
            rows = union_all(*(select(table.c.key) for table in tables))
            referenced = set(connection.scalars(rows))
        oldest = time.time() - older_than
        removed = 0
        for key in set(self.files) - referenced:
            # Another process may have removed it meanwhile.
            with contextlib.suppress(FileNotFoundError):
                if self.files.path(key).stat().st_mtime <= oldest:
                    self.files.remove(key)
                    removed += 1
        return removed

    def _save(self, table: Table, owner: dict[str, Any], content: bytes, suffix: str) -> str:
        key = self.files.write(content, suffix)
        values = {"key": key, "bytes": len(content)}
        insert = self.database.insert(table).values(owner | values)
        with self.database.write() as connection:
            old = connection.scalar(select(table.c.key).where(*_owned_by(table, owner)))
            connection.execute(
                insert.on_conflict_do_update(index_elements=list(owner), set_=values)
            )
        if old is not None:
            self.files.remove(old)
        return key

    def _file(self, table: Table, owner: dict[str, Any]) -> Path | None:
        with self.database.read() as connection:
            key = connection.scalar(select(table.c.key).where(*_owned_by(table, owner)))
        if key is None:
            return None
        path = self.files.path(key)
        return path if path.is_file() else None


def _owned_by(table: Table, owner: dict[str, Any]) -> list[Any]:
    return [table.c[name] == value for name, value in owner.items()]

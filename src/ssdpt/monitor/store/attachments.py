"""Recordings and pictures of events, and of how machines sound when all is well.

FOLDER/store-<id>/ab/ab12….flac   The names are made here, of random digits. A file is never
written to again once its row is there; it goes before its row, so that a full disk can be freed.
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
from ssdpt.errors import SsdptError
from ssdpt.monitor.store.engine import Database
from ssdpt.monitor.store.machines import StoreBase, plain
from ssdpt.monitor.store.tables import attachments, events, samples

AttachmentName = Literal["audio", "spectrogram", "map"]
_KEY = re.compile(r"[0-9a-f]{2}/[0-9a-f]{32}\.[a-z0-9]{1,8}")
_ORPHAN_SECONDS = 3600  # a file without a row may be one whose row is just being written


def files_folder(folder: Path, store: str) -> Path:
    """Named after the store: several may share a folder, and each sweeps only its own."""
    return folder / f"store-{store}"


class Files:
    """The files of one store, by key."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        with writing(folder):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)

    def path(self, key: str) -> Path:
        """Where a file lies; a key that was not made here is refused."""
        if not _KEY.fullmatch(key):
            raise SsdptError(f"attachment '{key}': is no key of this store; restore a backup")
        return self.folder / key

    def write(self, content: bytes, suffix: str) -> str:
        """A new file, safe on the disk; returns its key."""
        digits = secrets.token_hex(16)
        key = f"{digits[:2]}/{digits}{suffix}"
        if not _KEY.fullmatch(key):
            raise SsdptError(f"attachment: '{suffix}' is no ending of a file; give one as .flac")
        with atomic_path(self.path(key)) as temporary:
            temporary.write_bytes(content)
        return key

    def remove(self, key: str) -> None:
        with writing(self.path(key)):
            self.path(key).unlink(missing_ok=True)

    def __iter__(self) -> Iterator[str]:
        """The keys of all that are there."""
        for path in self.folder.glob("*/*"):
            key = path.relative_to(self.folder).as_posix()
            if _KEY.fullmatch(key):
                yield key


class Attachments(StoreBase):
    """Files that belong to an event or a machine; each has one of a name."""

    def __init__(self, database: Database, files: Files) -> None:
        super().__init__(database)
        self.files = files

    def attach(self, event: str, name: AttachmentName, content: bytes, suffix: str) -> str:
        """Keep `content` with an event, in place of what had this name; returns its key.

        `suffix` is the file's ending, such as .flac.
        """
        with self.database.read() as connection:
            if connection.scalar(select(events.c.id).where(events.c.id == plain(event))) is None:
                raise SsdptError(f"event '{plain(event)}': there is none of this id")
        return self._keep(attachments, {"event": event, "name": name}, content, suffix)

    def attachment(self, event: str, name: str) -> Path | None:
        """The file; None where there is none, or none any more."""
        return self._file(attachments, {"event": plain(event), "name": plain(name)})

    def keep_sample(self, machine: str, content: bytes, suffix: str) -> str:
        """Keep how a machine sounds when all is well, in place of the last such sample."""
        return self._keep(samples, {"machine": self._make_number(machine)}, content, suffix)

    def sample(self, machine: str) -> Path | None:
        """The file; None where there is none."""
        number = self._number(machine)
        return None if number is None else self._file(samples, {"machine": number})

    def drop_sample(self, machine: str) -> None:
        """Remove the sample, where there is one."""
        own = samples.c.machine == self._number(machine)
        with self.database.read() as connection:
            key = connection.scalar(select(samples.c.key).where(own))
        if key is None:
            return
        self.files.remove(key)
        with self.database.write() as connection:
            # A new sample that came in between stays.
            connection.execute(delete(samples).where(own, samples.c.key == key))

    def sweep(self) -> int:
        """Remove files whose row was never written, as after a kill; how many."""
        with self.database.read() as connection:
            rows = union_all(select(attachments.c.key), select(samples.c.key))
            wanted = set(connection.scalars(rows))
        oldest = time.time() - _ORPHAN_SECONDS
        removed = 0
        for key in set(self.files) - wanted:
            # Someone else may have removed it meanwhile.
            with contextlib.suppress(FileNotFoundError):
                if self.files.path(key).stat().st_mtime < oldest:
                    self.files.remove(key)
                    removed += 1
        return removed

    def _keep(self, table: Table, owner: dict[str, Any], content: bytes, suffix: str) -> str:
        key = self.files.write(content, suffix)
        values = {"key": key, "bytes": len(content)}
        insert = self.database.insert(table).values(owner | values)
        with self.database.write() as connection:
            old = connection.scalar(select(table.c.key).where(*_is(table, owner)))
            connection.execute(
                insert.on_conflict_do_update(index_elements=list(owner), set_=values)
            )
        if old is not None:
            self.files.remove(old)
        return key

    def _file(self, table: Table, owner: dict[str, Any]) -> Path | None:
        with self.database.read() as connection:
            key = connection.scalar(select(table.c.key).where(*_is(table, owner)))
        if key is None:
            return None
        path = self.files.path(key)
        return path if path.is_file() else None


def _is(table: Table, owner: dict[str, Any]) -> list[Any]:
    return [table.c[name] == value for name, value in owner.items()]

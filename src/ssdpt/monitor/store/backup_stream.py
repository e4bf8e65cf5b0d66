"""A backup that is sent while it is made: no copy of it lies anywhere."""

from __future__ import annotations

import io
import queue
import tarfile
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sqlalchemy import text

from ssdpt.errors import SsdptError
from ssdpt.monitor.store.backup import add_backup
from ssdpt.monitor.store.learned_models import MODELS
from ssdpt.monitor.store.store import Store
from ssdpt.monitor.store.tables import metadata
from ssdpt.sentences import Sentence

_PIECE = 2**18  # bytes
_MOST_WAITING = 8  # pieces
_PATIENCE = 60.0  # seconds that the receiver may take for one piece


def stream_backup(store: Store) -> Iterator[bytes]:
    """The bytes of a backup file, in pieces. An error ends it early: what was sent is no backup."""
    pieces = _Pieces()
    thread = threading.Thread(target=_write, args=(store, pieces), name="ssdpt-backup", daemon=True)
    thread.start()
    try:
        yield from pieces.taken()
    finally:
        pieces.abandoned.set()  # the receiver may have left


def backup_size(store: Store) -> int:
    """At most about how many bytes a backup has now; tables are compressed in it."""
    folders = (store.files.folder, store.files.folder.parent / MODELS)
    files = sum(_size(path) for folder in folders for path in folder.rglob("*"))
    database = store.database
    if database.is_sqlite:
        path = database.url.database or ""
        return files + sum(_size(Path(path + suffix)) for suffix in ("", "-wal"))
    names = ", ".join(f"'{table.name}'" for table in metadata.sorted_tables)
    query = f"SELECT sum(pg_table_size(name::regclass)) FROM unnest(ARRAY[{names}]) AS name"
    with database.read() as connection:
        return files + int(connection.scalar(text(query)) or 0)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size if path.is_file() else 0
    except OSError:  # removed meanwhile
        return 0


def _write(store: Store, pieces: _Pieces) -> None:
    try:
        with (
            tempfile.TemporaryDirectory(prefix="ssdpt-backup-") as work,
            tarfile.open(mode="w|", fileobj=pieces, bufsize=_PIECE) as tar,
        ):
            add_backup(tar, store.database, store.files, Path(work))
        pieces.put(None)
    except _Closed:
        pass
    except Exception as error:
        pieces.fail(error)


class _Closed(Exception):
    """Nobody takes the pieces any more."""


class _Pieces(io.RawIOBase):
    """What is written by one thread is taken by another; few pieces wait."""

    def __init__(self) -> None:
        super().__init__()
        self.abandoned = threading.Event()
        self._queue: queue.Queue[bytes | Exception | None] = queue.Queue(_MOST_WAITING)

    def write(self, content: Any, /) -> int:
        self.put(bytes(content))
        return len(content)

    def put(self, item: bytes | None) -> None:
        """Waits while too much waits to be taken; a receiver that hangs is given up."""
        try:
            self._queue.put(item, timeout=0.0 if self.abandoned.is_set() else _PATIENCE)
        except queue.Full:
            raise _Closed from None
        if self.abandoned.is_set():
            raise _Closed

    def fail(self, error: Exception) -> None:
        """The receiver shall know."""
        self.abandoned.set()
        if isinstance(error, OSError):
            error = SsdptError(Sentence("store.backupFailed", reason=error.strerror or error))
        try:
            self._queue.put(error, timeout=_PATIENCE)
        except queue.Full:
            return

    def taken(self) -> Iterator[bytes]:
        while (item := self._queue.get()) is not None:
            if isinstance(item, Exception):
                raise item
            yield item

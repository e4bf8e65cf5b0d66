"""The SQLite file of a store: a good one with some bytes changed, or any bytes."""

from __future__ import annotations

import struct

from fuzz_target import FuzzTarget

from fuzz_targets.backup_file import Target as BackupFile
from ssdpt.monitor.store import Store

_CHANGE = struct.Struct("<IH")  # where, and how long what follows is


class Target(FuzzTarget):
    """Inputs that begin with a P are changes of a good file; all others are a file."""

    share = 6
    longest = 1024
    words = (b"SQLite format 3\x00", b"CREATE TABLE", b"alembic_version", b"P\x00\x00\x00\x00")

    def __init__(self, folder):
        super().__init__(folder)
        path = folder / "good.db"
        with Store.open(f"sqlite:///{path}", folder) as store:
            store.add_user("ann", "admin", "correct horse")
            store.add_note("fan", 1.79e9, "repair", "bearing changed", who="ann", now=1.79e9)
        self._good = path.read_bytes()

    def run(self, data: bytes) -> None:
        folder = self.empty("data")
        content = self._changed(data[1:]) if data[:1] == b"P" else data
        (folder / "ssdpt.db").write_bytes(content)
        with Store.open(f"sqlite:///{folder / 'ssdpt.db'}", folder, writer=True) as store:
            BackupFile.read(self, store)

    def _changed(self, changes: bytes) -> bytes:
        content, at = bytearray(self._good), 0
        while at + _CHANGE.size <= len(changes):
            place, length = _CHANGE.unpack_from(changes, at)
            piece = changes[at + _CHANGE.size :][: length % 32]
            place %= len(content)
            content[place : place + len(piece)] = piece
            at += _CHANGE.size + len(piece)
        return bytes(content)

"""Sound of machines that someone has kept."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sqlalchemy import Row, delete, select

from ssdpt.monitor.messages import KeptRecording
from ssdpt.monitor.store.actions import log
from ssdpt.monitor.store.attachments import Attachments
from ssdpt.monitor.store.base import storable
from ssdpt.monitor.store.tables import machines, recordings


class Recordings(Attachments):
    """Recordings by id; each is one file."""

    def keep_recording(self, recording: KeptRecording, content: bytes, suffix: str) -> None:
        """Store a recording and its file; the audit log says who kept it."""
        row = recording.model_dump() | {
            "machine": self._get_or_add_number(recording.machine),
            "who": storable(recording.who),
            "note": storable(recording.note),
            "bytes": len(content),
            "key": self.files.write(content, suffix),
        }
        minutes = (recording.end - recording.begin) / 60
        with self.database.write() as connection:
            connection.execute(recordings.insert().values(row))
            what = f"kept {minutes:.1f} min of sound"
            log(connection, recording.who, recording.at, what, recording.machine)

    def recordings(self, machine: str) -> list[KeptRecording]:
        """Those of a machine, newest first."""
        own = recordings.c.machine == self._number(machine)
        query = select(recordings).where(own).order_by(recordings.c.begin.desc(), recordings.c.id)
        with self.database.read() as connection:
            return [_recording(machine, row) for row in connection.execute(query)]

    def recording(self, machine: str, id: str) -> tuple[KeptRecording, Path] | None:
        """A recording and its file; None where either is missing."""
        row = self._recording_row(machine, id)
        if row is None:
            return None
        path = self.files.path(row.key)
        return (_recording(machine, row), path) if path.is_file() else None

    def remove_recording(self, machine: str, id: str, who: str, at: float) -> bool:
        """Whether there was one to remove."""
        row = self._recording_row(machine, id)
        if row is None:
            return False
        self._remove_recording(row, who, at, "removed kept sound", machine)
        return True

    def _remove_recording(
        self, row: Row[Any], who: str, at: float, what: str, machine: str
    ) -> None:
        # The file first: on a full disk the database may be unable to remove its row.
        self.files.remove(row.key)
        with self.database.write() as connection:
            connection.execute(delete(recordings).where(recordings.c.id == row.id))
            log(connection, who, at, what, machine)

    def _recording_row(self, machine: str, id: str) -> Row[Any] | None:
        query = (
            select(recordings)
            .join(machines, machines.c.id == recordings.c.machine)
            .where(machines.c.name == storable(machine), recordings.c.id == storable(id))
        )
        with self.database.read() as connection:
            return connection.execute(query).one_or_none()


def _recording(machine: str, row: Row[Any]) -> KeptRecording:
    fields = {name: getattr(row, name) for name in KeptRecording.model_fields}
    return KeptRecording(**fields | {"machine": machine})

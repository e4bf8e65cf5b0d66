"""Notes that people write on the trend of a machine."""

from __future__ import annotations

from sqlalchemy import Connection, delete, select, update

from ssdpt.errors import SsdptError
from ssdpt.monitor.messages import Note, NoteKind
from ssdpt.monitor.store.actions import log
from ssdpt.monitor.store.base import StoreBase, storable
from ssdpt.monitor.store.tables import machines, notes
from ssdpt.sentences import Sentence

_MOST = 1000  # in one answer


class UnknownNote(SsdptError):
    """The machine has no note of this number, or no longer."""


class Notes(StoreBase):
    """Notes by number; every change is in the audit log."""

    def notes(
        self, machine: str | None = None, begin: float = 0.0, end: float = float("inf")
    ) -> list[Note]:
        """Notes of a machine, or of all, from `begin` up to `end`; the oldest first.

        The newest, where there are more than a thousand.
        """
        query = (
            select(notes, machines.c.name)
            .join(machines)
            .where(notes.c.at >= begin, notes.c.at < end)
            .order_by(notes.c.at.desc(), notes.c.id.desc())
            .limit(_MOST)
        )
        if machine is not None:
            query = query.where(machines.c.name == machine)
        with self.database.read() as connection:
            rows = connection.execute(query).all()
        return [
            Note(
                id=row.id,
                machine=row.name,
                at=row.at,
                kind=row.kind,
                text=row.text,
                who=row.who,
                written_at=row.written_at,
            )
            for row in reversed(rows)
        ]

    def add_note(
        self, machine: str, at: float, kind: NoteKind, text: str, *, who: str, now: float
    ) -> Note:
        """Note that something happened at a time."""
        row = {
            "machine": self._get_or_add_number(machine),
            "at": at,
            "kind": kind,
            "text": _text(text),
            "who": storable(who),
            "written_at": now,
        }
        with self.database.write() as connection:
            id = connection.scalar(notes.insert().values(row).returning(notes.c.id))
            assert id is not None
            log(connection, who, now, f"noted: {row['text']}", machine)
        return Note(
            id=id, machine=machine, at=at, kind=kind, text=_text(text), who=who, written_at=now
        )

    def change_note(
        self, machine: str, id: int, at: float, kind: NoteKind, text: str, *, who: str, now: float
    ) -> Note:
        """Replace time, kind and text; who wrote it first stays."""
        row = {"at": at, "kind": kind, "text": _text(text)}
        with self.database.write() as connection:
            before = self._found(connection, machine, id)
            if before is None:
                raise UnknownNote(f"note {id} does not exist; someone may have removed it")
            connection.execute(update(notes).where(notes.c.id == id).values(row))
            log(connection, who, now, f"changed the note: {row['text']}", machine)
        return before.model_copy(update=row)

    def remove_note(self, machine: str, id: int, *, who: str, now: float) -> None:
        """If it is there; its text stays in the audit log."""
        with self.database.write() as connection:
            note = self._found(connection, machine, id)
            if note is None:
                return
            connection.execute(delete(notes).where(notes.c.id == id))
            log(connection, who, now, f"removed the note: {note.text}", machine)

    def _found(self, connection: Connection, machine: str, id: int) -> Note | None:
        own = select(notes).where(notes.c.id == id, notes.c.machine == self._number(machine))
        row = connection.execute(own).one_or_none()
        if row is None:
            return None
        values = {name: getattr(row, name) for name in ("at", "kind", "text", "who", "written_at")}
        return Note(id=row.id, machine=machine, **values)


def _text(text: str) -> str:
    stored = storable(text).strip()
    if not stored:
        raise SsdptError(Sentence("store.emptyNote"))
    return stored

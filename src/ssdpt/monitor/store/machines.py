"""The machines a store knows, and what is to be remembered of each."""

from __future__ import annotations

import json
import re
import threading
from typing import Any

from sqlalchemy import delete, select

from ssdpt.common.files import printable
from ssdpt.errors import SsdptError
from ssdpt.monitor.config import MACHINE_ID
from ssdpt.monitor.store.engine import Database
from ssdpt.monitor.store.tables import machines, memory


class StoreBase:
    """What every part of a store works on."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self._numbers: dict[str, int] = {}  # of machines; they never change
        self._numbers_turn = threading.Lock()

    def _number(self, machine: str) -> int | None:
        """A machine's number in the tables; None for one that the store has not met."""
        with self._numbers_turn:
            if machine not in self._numbers:
                with self.database.read() as connection:
                    rows = connection.execute(select(machines.c.name, machines.c.id)).all()
                self._numbers = {row.name: row.id for row in rows}
            return self._numbers.get(machine)

    def _make_number(self, machine: str) -> int:
        """The same; a new machine is given one."""
        found = self._number(machine)
        if found is not None:
            return found
        if not re.fullmatch(MACHINE_ID, machine):
            raise SsdptError(
                f"machine '{machine}': an id has small letters, digits, - and _, at most 64 of them"
            )
        with self.database.write() as connection:
            insert = self.database.insert(machines).values(name=machine)
            connection.execute(insert.on_conflict_do_nothing(index_elements=["name"]))
        made = self._number(machine)
        assert made is not None
        return made


class KeyValueStore(StoreBase):
    """What is learnt about a machine and must outlive a restart."""

    def remember(self, machine: str, key: str, value: Any) -> None:
        """Keep `value`, anything that JSON can say, in place of what was kept under `key`."""
        row = {"machine": self._make_number(machine), "key": key, "value": json.dumps(value)}
        with self.database.write() as connection:
            insert = self.database.insert(memory).values(row)
            connection.execute(
                insert.on_conflict_do_update(
                    index_elements=["machine", "key"], set_={"value": row["value"]}
                )
            )

    def recall(self, machine: str, key: str) -> Any:
        """What was remembered; None where nothing was."""
        number = self._number(machine)
        if number is None:
            return None
        wanted = (memory.c.machine == number) & (memory.c.key == key)
        with self.database.read() as connection:
            found = connection.scalar(select(memory.c.value).where(wanted))
        return None if found is None else json.loads(found)

    def forget(self, machine: str, name: str | None = None) -> None:
        """Remove what was remembered under the key `name`; None: all that is of the machine."""
        wanted = memory.c.machine == self._number(machine)
        if name is not None:
            wanted &= memory.c.key == name
        with self.database.write() as connection:
            connection.execute(delete(memory).where(wanted))


def plain(text: str) -> str:
    """Text that every database takes: PostgreSQL knows no zero bytes, neither halves of signs."""
    return printable(text).replace("\0", "")

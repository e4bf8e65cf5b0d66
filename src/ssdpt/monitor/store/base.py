"""What every part of a store shares: the database, and the numbers of machines in its tables."""

from __future__ import annotations

import re

from sqlalchemy import select

from ssdpt.common.files import printable
from ssdpt.errors import SsdptError
from ssdpt.monitor.config import MACHINE_ID
from ssdpt.monitor.store.engine import Database
from ssdpt.monitor.store.tables import machines
from ssdpt.sentences import Sentence


class StoreBase:
    """Holds the database. Tables refer to machines by number."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self._numbers: dict[str, int] = {}  # by id of the machine; they never change

    def _number(self, machine: str) -> int | None:
        """The number of a machine in the tables; None for a machine without any data."""
        if machine not in self._numbers:
            with self.database.read() as connection:
                rows = connection.execute(select(machines.c.name, machines.c.id)).all()
            # Replaced as a whole, and only added to: no thread sees less than it knew.
            self._numbers = self._numbers | {row.name: row.id for row in rows}
        return self._numbers.get(machine)

    def _get_or_add_number(self, machine: str) -> int:
        """The number of a machine in the tables; a new machine gets one."""
        number = self._number(machine)
        if number is not None:
            return number
        if not re.fullmatch(MACHINE_ID, machine):
            raise SsdptError(Sentence("machines.badId", id=machine))
        with self.database.write() as connection:
            insert = self.database.insert(machines).values(name=machine)
            connection.execute(insert.on_conflict_do_nothing(index_elements=["name"]))
        number = self._number(machine)
        assert number is not None
        return number


def storable(text: str) -> str:
    """Text that both databases accept: PostgreSQL refuses zero bytes and lone surrogates."""
    return printable(text).replace("\0", "")

"""Values of a machine that outlive a restart, such as its baseline, as JSON by key."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from sqlalchemy import delete, select

from ssdpt.monitor.store.base import StoreBase
from ssdpt.monitor.store.tables import machine_values


class KeyValueStore(StoreBase):
    """One JSON value per machine and key."""

    def set_value(self, machine: str, key: str, value: Any) -> None:
        """Store `value`, anything that JSON can hold; it replaces the previous value."""
        self.set_values({(machine, key): value})

    def set_values(self, values: Mapping[tuple[str, str], Any]) -> None:
        """Store values by machine and key in one transaction: all of them, or none."""
        rows = [
            {"machine": self._get_or_add_number(machine), "key": key, "value": json.dumps(value)}
            for (machine, key), value in values.items()
        ]
        if not rows:
            return
        insert = self.database.insert(machine_values)
        replacing = insert.on_conflict_do_update(
            index_elements=["machine", "key"], set_={"value": insert.excluded.value}
        )
        with self.database.write() as connection:
            connection.execute(replacing, rows)

    def get_value(self, machine: str, key: str) -> Any:
        """The stored value; None if there is none."""
        number = self._number(machine)
        if number is None:
            return None
        column = machine_values.c
        query = select(column.value).where(column.machine == number, column.key == key)
        with self.database.read() as connection:
            text = connection.scalar(query)
        return None if text is None else json.loads(text)

    def get_values(self, machine: str) -> dict[str, Any]:
        """All stored values of a machine, by key."""
        column = machine_values.c
        query = select(column.key, column.value).where(column.machine == self._number(machine))
        with self.database.read() as connection:
            rows = connection.execute(query).all()
        return {row.key: json.loads(row.value) for row in rows}

    def remove_value(self, machine: str, key: str) -> None:
        """Remove the value, if there is one."""
        column = machine_values.c
        own = delete(machine_values).where(
            column.machine == self._number(machine), column.key == key
        )
        with self.database.write() as connection:
            connection.execute(own)

    def remove_values(self, machine: str) -> None:
        """Remove all values of a machine."""
        own = delete(machine_values).where(machine_values.c.machine == self._number(machine))
        with self.database.write() as connection:
            connection.execute(own)

"""Faults that people have named, and how they sounded."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Column, func, select, update

from ssdpt.monitor.store.base import StoreBase
from ssdpt.monitor.store.tables import events, machines

_MOST_SUGGESTIONS = 50
_MOST_EXAMPLES = 500


@dataclass(frozen=True, slots=True)
class NamedFault:
    """An event whose fault a person has named."""

    event: str
    fault: str
    signature: tuple[float, ...]


class NamedFaults(StoreBase):
    """Signatures of events, and the words that were used for faults and causes."""

    def save_signature(self, event: str, signature: Sequence[float]) -> None:
        """How an event sounded; it belongs to the recording."""
        text = json.dumps([round(value, 3) for value in signature])
        with self.database.write() as connection:
            connection.execute(update(events).where(events.c.id == event).values(signature=text))

    def signature(self, event: str) -> tuple[float, ...]:
        """Of an event; () where nothing was recorded."""
        with self.database.read() as connection:
            text = connection.scalar(select(events.c.signature).where(events.c.id == event))
        return () if text is None else tuple(json.loads(text))

    def named_faults(self, machine_ids: Sequence[str]) -> list[NamedFault]:
        """The newest events of these machines whose fault has a name and whose sound is known."""
        column = events.c
        query = (
            select(column.id, column.fault, column.signature)
            .join(machines)
            .where(
                machines.c.name.in_(machine_ids),
                column.fault != "",
                column.signature.is_not(None),
            )
            .order_by(column.began.desc())
            .limit(_MOST_EXAMPLES)
        )
        with self.database.read() as connection:
            return [
                NamedFault(id, fault, tuple(json.loads(signature)))
                for id, fault, signature in connection.execute(query)
            ]

    def earlier_causes(self) -> list[str]:
        """What people gave as the cause of events, the newest first."""
        return self._earlier(events.c.cause)

    def earlier_faults(self) -> list[str]:
        """The names that people gave to faults, the newest first."""
        return self._earlier(events.c.fault)

    def _earlier(self, column: Column[str]) -> list[str]:
        query = (
            select(column)
            .where(column != "")
            .group_by(column)
            .order_by(func.max(events.c.began).desc())
            .limit(_MOST_SUGGESTIONS)
        )
        with self.database.read() as connection:
            return list(connection.scalars(query))

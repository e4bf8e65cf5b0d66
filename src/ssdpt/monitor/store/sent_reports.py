"""Which weekly report was sent last, so that none is sent twice."""

from __future__ import annotations

from sqlalchemy import select

from ssdpt.monitor.store.base import StoreBase
from ssdpt.monitor.store.tables import about

_NAME = "report_sent"


class SentReports(StoreBase):
    """The last week whose report was handed to the outputs."""

    def last_report_sent(self) -> str:
        """Such as 2026-W46; empty: none yet."""
        with self.database.read() as connection:
            return connection.scalar(select(about.c.value).where(about.c.name == _NAME)) or ""

    def report_sent(self, week: str) -> None:
        """Remember it over restarts."""
        insert = self.database.insert(about).values(name=_NAME, value=week)
        with self.database.write() as connection:
            connection.execute(
                insert.on_conflict_do_update(index_elements=["name"], set_={"value": week})
            )

"""Run by alembic, on the connection that ssdpt.monitor.store.schema passes to it."""

from __future__ import annotations

from alembic import context

from ssdpt.monitor.store.tables import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    transactional_ddl=True,  # for SQLite too: an upgrade is complete, or nothing has changed
)
context.run_migrations()

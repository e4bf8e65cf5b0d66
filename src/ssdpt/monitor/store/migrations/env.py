"""Run by alembic, on the connection that ssdpt.monitor.store.schema hands it."""

from __future__ import annotations

from alembic import context

from ssdpt.monitor.store.tables import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    transactional_ddl=True,  # SQLite too: a store is upgraded whole or not at all
)
context.run_migrations()

"""Tables are created by migrations, and a store of a newer version is not changed."""

from __future__ import annotations

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import inspect, text

from ssdpt.errors import SsdptError
from ssdpt.monitor.store import Store
from ssdpt.monitor.store.schema import current_revision, newest_revision
from ssdpt.monitor.store.tables import metadata


def test_migrations_create_the_tables_that_the_code_expects(store):
    with store.database.read() as connection:
        assert current_revision(connection) == newest_revision()
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        assert compare_metadata(context, metadata) == []


def test_opening_again_changes_nothing(store, url, folder):
    with Store.open(url, folder) as again:
        assert again.files.folder == store.files.folder


def test_a_store_of_a_newer_version_is_refused(store, url, folder):
    with store.database.write() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    with pytest.raises(SsdptError, match=r"newer version of ssdpt \(tables 9999.*update ssdpt"):
        Store.open(url, folder)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ("UPDATE about SET value = '../../elsewhere' WHERE name = 'id'", "impossible id"),
        ("INSERT INTO alembic_version (version_num) VALUES ('0001')", "several revisions"),
    ],
)
def test_a_damaged_store_is_refused(store, url, folder, change, reason):
    """The id is part of a path: one with dots led out of the data folder."""
    with store.database.write() as connection:
        connection.execute(text(change))
    before = sorted(folder.parent.rglob("*"))
    with pytest.raises(SsdptError, match=rf"damaged.*{reason}.*restore a backup"):
        Store.open(url, folder)
    assert sorted(folder.parent.rglob("*")) == before


def test_a_failed_upgrade_leaves_nothing_behind(url, folder, monkeypatch):
    def fail(*_):
        raise RuntimeError("power cut")

    monkeypatch.setattr("ssdpt.monitor.store.store.store_id", fail)
    with pytest.raises(RuntimeError):
        Store.open(url, folder)
    monkeypatch.undo()
    with Store.open(url, folder) as store:
        assert inspect(store.database._durable).has_table("events")


def test_time_ranges_of_readings_are_read_in_one_piece(store, kind):
    """This makes trends fast: SQLite stores rows by key, PostgreSQL reads only the index."""
    query = "SELECT time, low, mean, high, state, scored FROM minutes WHERE machine=1 AND time>5"
    with store.database.write() as connection:
        if kind == "sqlite":
            plan = connection.execute(text(f"EXPLAIN QUERY PLAN {query}")).all()
            sql = connection.scalar(text("SELECT sql FROM sqlite_master WHERE name='minutes'"))
            assert "WITHOUT ROWID" in sql
            assert "PRIMARY KEY (machine=? AND time>?)" in str(plan)
        else:
            connection.execute(text("SET LOCAL enable_seqscan TO off"))
            connection.execute(text("SET LOCAL enable_bitmapscan TO off"))
            plan = connection.execute(text(f"EXPLAIN {query}")).all()
            assert "Index Only Scan using minutes_pkey" in str(plan)

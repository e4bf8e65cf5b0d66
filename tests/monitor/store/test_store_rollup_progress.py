"""Who adds, rolls up or removes readings waits for the others; who reads does not."""

from __future__ import annotations

import pytest
from sqlalchemy import Engine, Select, event, text
from sqlalchemy.dialects import postgresql
from store_data import BEGIN, readings

from ssdpt.monitor.config import RetentionSettings
from ssdpt.monitor.store import Store, StoreUnavailable
from ssdpt.monitor.store.rollup_progress import read_progress, set_progress
from ssdpt.monitor.store.tables import rollup_progress

NAMES = {"minutes", "hours", "seconds_removed", "minutes_removed"}


@pytest.fixture
def asked():
    """Questions for progress so far: the statement, and whether it locks rows on PostgreSQL.

    SQLite lets one write at a time by itself, so its SQL does not say it.
    """
    questions = []

    def note(connection, statement, *_):
        if isinstance(statement, Select) and rollup_progress in statement.get_final_froms():
            written = str(statement.compile(dialect=postgresql.dialect()))
            questions.append((statement, written.endswith("FOR UPDATE")))

    event.listen(Engine, "before_execute", note)
    yield questions
    event.remove(Engine, "before_execute", note)


def test_who_writes_locks_one_row_and_who_reads_none(store, asked):
    with store.database.read() as connection:
        assert set(read_progress(connection)) == NAMES
        assert [locks for _, locks in asked] == [False]
    asked.clear()
    with store.database.write() as connection:
        assert set(read_progress(connection, to_write=True)) == NAMES
        assert [locks for _, locks in asked] == [True, False]
        [row] = connection.execute(asked[0][0])  # of several, two writers might each hold one
        assert row.name == "minutes"


@pytest.mark.parametrize(
    "write",
    [
        lambda store: store.add_readings(readings("fan-1", BEGIN, [2.0])),
        lambda store: store.roll_up(BEGIN + 7200),
        lambda store: store.retain(BEGIN + 86400, RetentionSettings(), lambda: 10**12),
    ],
    ids=["add", "roll up", "remove"],
)
def test_all_who_write_lock_before_they_ask(store, asked, write):
    store.add_readings(readings("fan-1", BEGIN, [1.0]))
    asked.clear()
    write(store)
    locks = [locks for _, locks in asked]
    assert locks == [True, False] * (len(locks) // 2)
    assert locks


def test_one_time_is_set_and_the_others_stay(store):
    with store.database.write() as connection:
        before = read_progress(connection)
        set_progress(connection, "hours", 3_600_000)
    with store.database.read() as connection:
        assert read_progress(connection) == before | {"hours": 3_600_000}


def read_to_write_at_once(store):
    with store.database.write() as connection:
        connection.execute(text("SET LOCAL lock_timeout = 20"))  # ms
        return read_progress(connection, to_write=True)


@pytest.mark.needs_postgres
def test_a_second_writer_waits_and_a_reader_does_not(new_url, folder):
    url = new_url("postgresql")
    with Store.open(url, folder) as store, Store.open(url, folder) as other:
        with store.database.write() as connection:
            progress = read_progress(connection, to_write=True)
            with other.database.read() as reader:
                assert read_progress(reader) == progress
            with pytest.raises(StoreUnavailable, match="lock timeout"):
                read_to_write_at_once(other)
        assert read_to_write_at_once(other) == progress

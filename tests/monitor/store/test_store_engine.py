"""The database: unavailable and back again, many threads, errors that say what is wrong."""

from __future__ import annotations

import re
import sqlite3
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from sqlalchemy import create_engine, make_url, text
from store_data import BEGIN, event, readings

from ssdpt.errors import SsdptError
from ssdpt.monitor.store import Store, StoreUnavailable

_OPEN = """
import sys
from pathlib import Path
from ssdpt.monitor.store import Store
with Store.open(sys.argv[1], Path(sys.argv[2])) as store:
    store.log_action("Ada", 1.0, "open", sys.argv[3])
"""


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("", "not the address of a database"),
        ("plant.db", "not the address of a database"),
        ("sqlite://", "names no file"),
        ("sqlite:///:memory:", "names no file"),
        ("mysql://host/plant", "only sqlite and postgresql"),
    ],
)
def test_wrong_addresses_are_refused(url, message, folder):
    with pytest.raises(SsdptError, match=message):
        Store.open(url, folder)


def test_a_password_is_never_shown(folder):
    url = "postgresql://ada:secret@localhost:1/plant"
    with pytest.raises(StoreUnavailable) as away:
        Store.open(url, folder)
    assert "secret" not in str(away.value)
    assert "ada:***@localhost:1/plant" in str(away.value)


def test_without_psycopg_the_extra_is_named(folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(SsdptError, match=r"pip install 'ssdpt\[postgres\]'"):
        Store.open("postgresql://localhost/plant", folder)


def test_a_file_that_is_not_a_database(tmp_path, folder):
    (tmp_path / "plant.db").write_text("name: Plant\n" * 1000)
    with pytest.raises(SsdptError, match="damaged, or not an SQLite database"):
        Store.open(f"sqlite:///{tmp_path}/plant.db", folder)
    with pytest.raises(SsdptError, match="cannot be written"):
        Store.open(f"sqlite:///{tmp_path}/plant.db/plant.db", folder)


def test_sqlite_files_are_private_and_writes_of_people_durable(new_url, folder):
    with Store.open(new_url("sqlite"), folder) as store:
        assert stat.S_IMODE(Path(store.database.url.database).stat().st_mode) == 0o600

        def pragma(name, **options):
            with store.database.write(**options) as connection:
                return connection.exec_driver_sql(f"PRAGMA {name}").scalar()

        assert pragma("journal_mode") == "wal"
        assert (pragma("synchronous"), pragma("synchronous", durable=False)) == (2, 1)
        assert pragma("foreign_keys") == 1


@pytest.mark.needs_postgres
def test_postgres_writes_of_people_are_durable(new_url, folder):
    with Store.open(new_url("postgresql"), folder) as store:
        for durable, expected in ((True, "on"), (False, "off")):
            with store.database.write(durable=durable) as connection:
                assert connection.scalar(text("SHOW synchronous_commit")) == expected


def test_a_failed_transaction_changes_nothing(store):
    store.save_event(event())
    with pytest.raises(ZeroDivisionError), store.database.write() as connection:
        _ = connection.execute(text("UPDATE events SET message = 'half'")).rowcount / 0
    assert store.event(event().id) == event()


def test_many_threads_read_while_others_write(store):
    def write(part):
        for n in range(10):
            store.add_readings(readings(f"fan-{part}", BEGIN + 10 * n, [1.0] * 10))
            store.save_event(event(100 * part + n))

    def read(_):
        before = 0
        while before < 40:
            count = len(store.events(limit=1000))
            assert count >= before
            before = count
            store.trend("fan-0", BEGIN, BEGIN + 100)

    with ThreadPoolExecutor(8) as pool:
        work = [pool.submit(write, part) for part in range(4)]
        work += [pool.submit(read, part) for part in range(4)]
        for future in work:
            future.result(60)
    for part in range(4):
        assert len(list(store.readings(f"fan-{part}", BEGIN, BEGIN + 100))) == 100


def test_several_processes_may_open_a_new_store_at_once(url, folder):
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", _OPEN, url, str(folder), str(n)],
            stderr=subprocess.PIPE,
            text=True,
        )
        for n in range(3)
    ]
    errors = [process.communicate(timeout=60)[1] for process in processes]
    assert [process.returncode for process in processes] == [0] * 3, errors
    with Store.open(url, folder) as store:
        assert {action.about for action in store.actions()} == {"0", "1", "2"}


def cut_off(store, server):
    """The server ends a session in the middle of a transaction, as when it restarts."""
    with store.database.write() as connection:
        pid = connection.scalar(text("SELECT pg_backend_pid()"))
        with server.begin() as other:
            other.execute(text("SELECT pg_terminate_backend(:pid, 5000)"), {"pid": pid})
        connection.execute(text("UPDATE events SET message = 'half'"))


@pytest.mark.needs_postgres
def test_postgres_goes_away_and_comes_back(new_url, folder):
    url = new_url("postgresql")
    server = create_engine(make_url(url))
    with Store.open(url, folder) as store:
        store.save_event(event())
        with pytest.raises(StoreUnavailable, match="does not respond"):
            cut_off(store, server)
        # The next transaction opens a new connection by itself.
        assert store.event(event().id) == event()
        store.acknowledge(event().id, "Ada", BEGIN)
    server.dispose()


def test_a_locked_file_is_an_error_after_a_while(new_url, folder, monkeypatch):
    monkeypatch.setattr("ssdpt.monitor.store.engine._WAIT_SECONDS", 0.1)
    url = new_url("sqlite")
    with Store.open(url, folder) as store:
        other = sqlite3.connect(store.database.url.database, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreUnavailable, match="database is locked"):
            store.add_readings(readings("fan-1", BEGIN, [1.0]))
        other.execute("ROLLBACK")
        other.close()
        store.add_readings(readings("fan-1", BEGIN, [1.0]))
        assert len(list(store.readings("fan-1", BEGIN, BEGIN + 1))) == 1


@pytest.mark.parametrize("damage", [b"\x82\xf8\xc1", b"\0\0\0", b"(((", b"'\";"])
def test_a_file_with_damaged_tables_is_one_sentence(new_url, folder, damage):
    url = new_url("sqlite")
    with Store.open(url, folder) as store:
        store.save_event(event())
        path = Path(store.database.url.database)
    whole = path.read_bytes()
    # In the statement behind "CREATE TABLE ", or in the name of the table before it.
    begins = [match.start() for match in re.finditer(b"CREATE TABLE", whole)]
    for place in [begin + offset for begin in begins for offset in (13, -12)]:
        path.write_bytes(whole[:place] + damage + whole[place + len(damage) :])
        with pytest.raises(SsdptError, match=re.escape(str(path))), Store.open(url, folder):
            pass

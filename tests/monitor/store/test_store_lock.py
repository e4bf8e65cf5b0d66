"""Only one service at a time, and a dead process holds no lock."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys

import pytest
from sqlalchemy import text
from store_data import BEGIN, readings

from ssdpt.errors import SsdptError
from ssdpt.monitor.store import Store, StoreUnavailable
from ssdpt.monitor.store.lock import _key

_HOLD = """
import sys, time
from pathlib import Path
from ssdpt.monitor.store import Store
store = Store.open(sys.argv[1], Path(sys.argv[2]), writer=True)
print("held", flush=True)
time.sleep(600)
"""


def end_lock(store):
    """End the session that holds the lock, as a restart of the server does; returns how many.

    The number of a lock depends on the schema, so those of other tests are not ended.
    """
    key = _key(dict(store.database.url.query)["options"].partition("=")[2]) % 2**64
    held = (
        "SELECT pg_terminate_backend(pid, 5000) FROM pg_locks "
        "WHERE locktype = 'advisory' AND granted AND classid = :high AND objid = :low"
    )
    with store.database.read() as connection:
        halves = {"high": key >> 32, "low": key & 0xFFFFFFFF}
        return len(connection.execute(text(held), halves).all())


def test_a_second_service_is_refused_with_the_name_of_the_first(url, folder):
    with subprocess.Popen(
        [sys.executable, "-c", _HOLD, url, str(folder)], stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout.readline() == "held\n"
            with pytest.raises(SsdptError) as refused:
                Store.open(url, folder, writer=True)
            assert f"host {socket.gethostname()} (process {process.pid})" in str(refused.value)
            with Store.open(url, folder) as reader:  # others may read, and acknowledge
                reader.log_action("Ada", BEGIN, "look", "fan-1")
        finally:
            os.kill(process.pid, signal.SIGKILL)
    with Store.open(url, folder, writer=True) as store:  # the lock of the dead process is free
        store.add_readings(readings("fan-1", BEGIN, [1.0]))


def test_a_closed_store_releases_the_lock(url, folder):
    Store.open(url, folder, writer=True).close()
    with (
        Store.open(url, folder, writer=True),
        pytest.raises(SsdptError, match=f"process {os.getpid()}"),
    ):
        Store.open(url, folder, writer=True)
    Store.open(url, folder, writer=True).close()


def test_tables_are_not_upgraded_while_a_service_runs(url, folder, monkeypatch):
    """This version has newer tables, and a command opens the store to read."""
    with Store.open(url, folder, writer=True) as store:
        monkeypatch.setattr("ssdpt.monitor.store.schema.newest_revision", lambda: "9999")
        with pytest.raises(SsdptError, match="this store is already used by"):
            Store.open(url, folder)
        store.log_action("Ada", BEGIN, "look", "fan-1")
    with Store.open(url, folder), Store.open(url, folder, writer=True):
        pass  # upgraded, and free again


@pytest.mark.needs_postgres
def test_a_lock_lost_with_its_session_is_taken_again(new_url, folder):
    url = new_url("postgresql")
    with Store.open(url, folder, writer=True) as store:
        assert end_lock(store) == 1
        store.add_readings(readings("fan-1", BEGIN, [1.0]))
        with pytest.raises(SsdptError, match="this store is already used by"):
            Store.open(url, folder, writer=True)


@pytest.mark.needs_postgres
def test_a_service_that_has_lost_the_lock_to_another_cannot_write(new_url, folder):
    url = new_url("postgresql")
    with Store.open(url, folder, writer=True) as first:
        assert end_lock(first) == 1
        with Store.open(url, folder, writer=True) as second:
            with pytest.raises(SsdptError, match="this store is already used by") as refused:
                first.add_readings(readings("fan-1", BEGIN, [1.0]))
            assert not isinstance(refused.value, StoreUnavailable)  # waiting does not help
            second.add_readings(readings("fan-1", BEGIN, [1.0]))
        first.add_readings(readings("fan-1", BEGIN + 1, [1.0]))  # the other one has ended
        assert len(list(first.readings("fan-1", BEGIN, BEGIN + 9))) == 2

"""One service at a time, and the dead hold nothing."""

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
    """End the session that holds the lock, as a restart of the server does; how many there were.

    Locks have the numbers of their schemas, so those of other tests stay.
    """
    key = _key(dict(store.database.url.query)["options"].partition("=")[2]) % 2**64
    held = (
        "SELECT pg_terminate_backend(pid, 5000) FROM pg_locks "
        "WHERE locktype = 'advisory' AND granted AND classid = :high AND objid = :low"
    )
    with store.database.read() as connection:
        halves = {"high": key >> 32, "low": key & 0xFFFFFFFF}
        return len(connection.execute(text(held), halves).all())


def test_a_second_service_is_refused_and_told_who_works(url, folder):
    with subprocess.Popen(
        [sys.executable, "-c", _HOLD, url, str(folder)], stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout.readline() == "held\n"
            with pytest.raises(SsdptError) as refused:
                Store.open(url, folder, writer=True)
            assert f"host {socket.gethostname()} (process {process.pid})" in str(refused.value)
            with Store.open(url, folder) as reader:  # others may look on, and acknowledge
                reader.log_action("Ada", BEGIN, "look", "fan-1")
        finally:
            os.kill(process.pid, signal.SIGKILL)
    with Store.open(url, folder, writer=True) as store:  # the dead one's lock is free
        store.add_readings(readings("fan-1", BEGIN, [1.0]))


def test_a_closed_store_lets_go(url, folder):
    Store.open(url, folder, writer=True).close()
    with (
        Store.open(url, folder, writer=True),
        pytest.raises(SsdptError, match=f"process {os.getpid()}"),
    ):
        Store.open(url, folder, writer=True)
    Store.open(url, folder, writer=True).close()


def test_tables_do_not_change_under_a_service_that_runs(url, folder, monkeypatch):
    """This version's tables are newer, and someone only wants to look."""
    with Store.open(url, folder, writer=True) as store:
        monkeypatch.setattr("ssdpt.monitor.store.schema.newest", lambda: "9999")
        with pytest.raises(SsdptError, match="works on this store already"):
            Store.open(url, folder)
        store.log_action("Ada", BEGIN, "look", "fan-1")
    with Store.open(url, folder), Store.open(url, folder, writer=True):
        pass  # brought up to date, and free again


@pytest.mark.needs_postgres
def test_a_lock_lost_with_its_session_is_taken_again(new_url, folder):
    url = new_url("postgresql")
    with Store.open(url, folder, writer=True) as store:
        assert end_lock(store) == 1
        store.add_readings(readings("fan-1", BEGIN, [1.0]))
        with pytest.raises(SsdptError, match="works on this store already"):
            Store.open(url, folder, writer=True)


@pytest.mark.needs_postgres
def test_who_has_lost_the_lock_to_another_writes_no_more(new_url, folder):
    url = new_url("postgresql")
    with Store.open(url, folder, writer=True) as first:
        assert end_lock(first) == 1
        with Store.open(url, folder, writer=True) as second:
            with pytest.raises(SsdptError, match="works on this store already") as refused:
                first.add_readings(readings("fan-1", BEGIN, [1.0]))
            assert not isinstance(refused.value, StoreUnavailable)  # waiting will not help
            second.add_readings(readings("fan-1", BEGIN, [1.0]))
        first.add_readings(readings("fan-1", BEGIN + 1, [1.0]))  # the other one has gone
        assert len(list(first.readings("fan-1", BEGIN, BEGIN + 9))) == 2

"""The watch over slow work: what it notices, and what it does not mind."""

from __future__ import annotations

import threading

import pytest
from slow_work import no_slow_work

from ssdpt.monitor.store import Store


@pytest.fixture
def store(tmp_path):
    with Store.open(f"sqlite:///{tmp_path}/history.db", tmp_path) as store:
        yield store


@pytest.mark.parametrize("work", ["read", "write", "file"])
def test_work_with_the_lock_is_noticed(store, tmp_path, monkeypatch, work):
    lock = threading.RLock()
    works = {
        "read": store.users,
        "write": lambda: store.revoke_token("x"),
        "file": lambda: (tmp_path / "file").write_text("x"),
    }
    with (
        pytest.raises(AssertionError, match="with the lock"),
        no_slow_work(lock, monkeypatch),
        lock,
    ):
        works[work]()


def test_work_in_the_loop_is_noticed(store, monkeypatch):
    def work():
        thread = threading.Thread(target=store.users, name="ssdpt-loop")
        thread.start()
        thread.join()

    with (
        pytest.raises(AssertionError, match="in the loop"),
        no_slow_work(threading.RLock(), monkeypatch),
    ):
        work()


def test_work_without_the_lock_is_fine(store, tmp_path, monkeypatch):
    lock = threading.RLock()
    with no_slow_work(lock, monkeypatch):
        with lock:
            (tmp_path / "history.db").stat()
        store.users()
        (tmp_path / "file").write_text("x")

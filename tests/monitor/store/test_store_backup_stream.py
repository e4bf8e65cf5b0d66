"""A backup that is sent while it is made."""

from __future__ import annotations

import tempfile
import threading

import pytest
from store_data import content, fill

from ssdpt.monitor.store import Store, StoreUnavailable, backup_size, restore, stream_backup
from ssdpt.monitor.store import backup_stream as module
from waiting import wait_until


def backup_threads():
    return [thread for thread in threading.enumerate() if thread.name == "ssdpt-backup"]


def test_what_was_sent_is_restored_and_nothing_is_left(store, new_url, tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()
    fill(store)
    (tmp_path / "backup.tar").write_bytes(b"".join(stream_backup(store)))
    assert list((tmp_path / "temporary").iterdir()) == []
    url = new_url("sqlite")
    restore(tmp_path / "backup.tar", url, tmp_path / "restored")
    with Store.open(url, tmp_path / "restored") as again:
        assert content(again) == content(store)
    assert 0 < (tmp_path / "backup.tar").stat().st_size < backup_size(store) + 100_000


def test_a_receiver_that_leaves_ends_it(store, monkeypatch):
    monkeypatch.setattr(module, "_PIECE", 512)
    monkeypatch.setattr(module, "_MOST_WAITING", 1)
    fill(store)
    pieces = stream_backup(store)
    next(pieces)
    pieces.close()
    wait_until(lambda: not backup_threads(), "it has ended")


def test_a_receiver_that_hangs_is_given_up(store, monkeypatch):
    monkeypatch.setattr(module, "_PIECE", 512)
    monkeypatch.setattr(module, "_MOST_WAITING", 1)
    monkeypatch.setattr(module, "_PATIENCE", 0.05)
    fill(store)
    pieces = stream_backup(store)
    next(pieces)
    wait_until(lambda: not backup_threads(), "it has ended")


def test_an_error_reaches_the_receiver(store, monkeypatch):
    def fail(*_):
        raise StoreUnavailable("the database does not answer")

    monkeypatch.setattr(module, "add_backup", fail)
    with pytest.raises(StoreUnavailable, match="does not answer"):
        list(stream_backup(store))

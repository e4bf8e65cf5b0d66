"""Recordings and pictures: complete or missing, with names that only the store chooses."""

from __future__ import annotations

import os
import stat
import time

import pytest
from sqlalchemy import update
from store_data import event

from ssdpt.errors import SsdptError
from ssdpt.monitor.store import Store
from ssdpt.monitor.store.tables import attachments


def age(path, seconds):
    moment = time.time() - seconds
    os.utime(path, (moment, moment))


def test_attachments_come_back_after_a_restart(store, url, folder):
    store.save_event(event())
    store.attach(event().id, "audio", b"sound", ".flac")
    store.attach(event().id, "map", b"picture", ".npz")
    store.keep_sample("fan-1", b"fine", ".flac")
    with Store.open(url, folder) as again:
        assert again.attachment(event().id, "audio").read_bytes() == b"sound"
        assert again.attachment(event().id, "audio").suffix == ".flac"
        assert again.attachment(event().id, "map").read_bytes() == b"picture"
        assert again.attachment(event().id, "spectrogram") is None
        assert again.attachment("../../etc", "audio") is None
        assert again.sample("fan-1").read_bytes() == b"fine"
        assert again.sample("fan-2") is None


def test_a_new_file_replaces_the_old_one(store):
    store.save_event(event())
    for attach, find in (
        (
            lambda content: store.attach(event().id, "audio", content, ".flac"),
            lambda: store.attachment(event().id, "audio"),
        ),
        (
            lambda content: store.keep_sample("fan-1", content, ".flac"),
            lambda: store.sample("fan-1"),
        ),
    ):
        first = store.files.path(attach(b"one"))
        attach(b"two")
        assert find().read_bytes() == b"two"
        assert not first.exists()


def test_a_dropped_sample_is_removed_from_the_disk_too(store, url, folder):
    path = store.files.path(store.keep_sample("fan-1", b"fine", ".flac"))
    store.keep_sample("fan-2", b"fine too", ".flac")
    store.drop_sample("fan-1")
    store.drop_sample("fan-1")
    store.drop_sample("unknown")
    assert not path.exists()
    with Store.open(url, folder) as again:
        assert again.sample("fan-1") is None
        assert again.sample("fan-2").read_bytes() == b"fine too"
    store.keep_sample("fan-1", b"new", ".flac")
    assert store.sample("fan-1").read_bytes() == b"new"


def test_names_are_made_by_the_store(store, tmp_path):
    store.save_event(event())
    for suffix in ("flac", "./../../x", ".FLAC", "", ".a/b"):
        with pytest.raises(SsdptError, match="not a file suffix"):
            store.attach(event().id, "audio", b"sound", suffix)
    assert list(store.files) == []
    store.attach(event().id, "audio", b"sound", ".flac")
    (tmp_path / "secret.flac").write_bytes(b"secret")
    with store.database.write() as connection:
        connection.execute(update(attachments).values(key="../../secret.flac"))
    with pytest.raises(SsdptError, match="not a key of this store"):
        store.attachment(event().id, "audio")


def test_a_lost_file_is_not_found(store):
    store.save_event(event())
    store.files.path(store.attach(event().id, "audio", b"sound", ".flac")).unlink()
    assert store.attachment(event().id, "audio") is None


def test_others_cannot_read_recordings(store):
    assert stat.S_IMODE(store.files.folder.stat().st_mode) == 0o700


def test_only_files_without_a_row_are_removed(store, url, folder, new_url):
    store.save_event(event())
    kept = store.files.path(store.attach(event().id, "audio", b"sound", ".flac"))
    sample = store.files.path(store.keep_sample("fan-1", b"fine", ".flac"))
    orphan = store.files.path(store.files.write(b"killed before its row", ".flac"))
    fresh = store.files.path(store.files.write(b"its row is coming", ".flac"))
    foreign = store.files.folder / "notes.txt"
    foreign.write_text("not ours")
    with Store.open(new_url("sqlite"), folder) as neighbour:  # another store in the same folder
        other = neighbour.files.path(neighbour.files.write(b"other", ".flac"))
    for path in (kept, sample, orphan, foreign, other):
        age(path, 7200)
    assert store.remove_orphan_files() == 1
    assert not orphan.exists()
    assert all(path.exists() for path in (kept, sample, fresh, foreign, other))

"""Sound that someone has kept."""

from __future__ import annotations

from store_data import BEGIN, recording

from ssdpt.monitor.config import RetentionSettings
from ssdpt.monitor.store import Store, back_up, restore

DAY = 86400.0


def test_it_is_listed_read_and_removed(store):
    for number in (1, 2):
        store.keep_recording(recording(number), b"fLaC", ".flac")
    store.keep_recording(recording(3, machine="pump-1"), b"fLaC", ".flac")
    assert store.recordings("fan-1") == [recording(2), recording(1)]
    kept, path = store.recording("fan-1", recording(1).id)
    assert (kept, path.read_bytes()) == (recording(1), b"fLaC")
    assert store.recording("pump-1", recording(1).id) is None
    assert not store.remove_recording("pump-1", recording(1).id, "Ada", BEGIN)
    assert store.remove_recording("fan-1", recording(1).id, "Ada", BEGIN)
    assert not path.exists()
    assert store.recordings("fan-1") == [recording(2)]
    assert store.recordings("none") == []
    done = [(action.who, action.what, action.about) for action in store.actions(2)]
    assert done == [
        ("Ada", "removed kept sound", "fan-1"),
        ("Ada", "kept 10.0 min of sound", "pump-1"),
    ]


def test_old_ones_are_removed_and_said(store):
    store.keep_recording(recording(1), b"fLaC" * 100_000, ".flac")
    store.keep_recording(recording(2, begin=BEGIN + 40 * DAY), b"fLaC", ".flac")
    settings = RetentionSettings(audio_days=30)
    removed = store.retain(BEGIN + 41 * DAY, settings, lambda: 10**12)
    assert removed.message == "1 kept recording (0.4 MB) removed because of their age"
    assert [entry.id for entry in store.recordings("fan-1")] == [recording(2).id]


def test_on_a_full_disk_the_oldest_go_first(store):
    for number in (1, 2, 3):
        store.keep_recording(recording(number), b"fLaC", ".flac")
    free = iter([0, 0, 10**12, 10**12])
    removed = store.retain(BEGIN + 700, RetentionSettings(), lambda: next(free))
    assert [(audio.event, audio.began) for audio in removed.audio] == [
        (None, BEGIN + 1),
        (None, BEGIN + 2),
    ]
    assert "2 kept recordings" in removed.message


def test_it_is_part_of_a_backup(store, tmp_path):
    store.keep_recording(recording(), b"fLaC", ".flac")
    back_up(store, tmp_path / "backup.tar")
    (tmp_path / "restored").mkdir()
    url = f"sqlite:///{tmp_path}/restored/ssdpt.db"
    restore(tmp_path / "backup.tar", url, tmp_path / "restored")
    with Store.open(url, tmp_path / "restored") as restored:
        kept, path = restored.recording("fan-1", recording().id)
        assert (kept, path.read_bytes()) == (recording(), b"fLaC")
        assert restored.remove_orphan_files() == 0

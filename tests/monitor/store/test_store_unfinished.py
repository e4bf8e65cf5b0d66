"""What killed processes leave in a data folder is gone after the next start."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest
from store_data import event, fill

from ssdpt.common.files import atomic_folder
from ssdpt.detection.storage import MODEL_FILES
from ssdpt.errors import SsdptError
from ssdpt.monitor.store import Store, back_up, restore
from ssdpt.monitor.store.learned_models import MODELS

_KILLED_RESTORE = """
import os, signal, sys
from pathlib import Path
from ssdpt.monitor.store import backup, restored_files

kill = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
if sys.argv[1] == "extracted":
    backup.check_references = kill
else:
    move = restored_files.RestoredFiles.move
    restored_files.RestoredFiles.move = lambda *all: (move(*all), kill())
backup.restore(Path(sys.argv[2]), sys.argv[3], Path(sys.argv[4]))
"""
MOMENTS = ["extracted", "moved"]  # what the killed restore has just done; nothing is committed


@pytest.fixture
def backup(url, folder, tmp_path):
    """A backup with rows, recordings and a learned model."""
    with Store.open(url, folder) as store:
        fill(store)
        with atomic_folder(folder / MODELS / "fan-1") as place:
            for name in MODEL_FILES:
                (place / name).write_text("learned")
        back_up(store, tmp_path / "backup.tar")
    return tmp_path / "backup.tar"


def killed_restore(moment, backup, url, data):
    done = subprocess.run(
        [sys.executable, "-c", _KILLED_RESTORE, moment, str(backup), url, str(data)],
        capture_output=True,
        text=True,
    )
    assert done.returncode == -signal.SIGKILL, done.stderr


def names(folder):
    return sorted(path.name for path in folder.iterdir() if not path.name.startswith("ssdpt.db"))


@pytest.mark.parametrize("moment", MOMENTS)
def test_a_killed_restore_is_given_again(moment, backup, kind, new_url, tmp_path):
    data, url = tmp_path / "restored", new_url(kind)
    data.mkdir()
    killed_restore(moment, backup, url, data)
    assert names(data) != []
    restore(backup, url, data)
    assert [name.partition("-")[0] for name in names(data)] == ["models", "store"]
    with Store.open(url, data, writer=True) as store:
        assert store.attachment(event(0).id, "audio").read_bytes() == b"sound"
    assert names(data / MODELS) == ["fan-1"]


@pytest.mark.parametrize("moment", MOMENTS)
def test_a_service_that_starts_after_a_killed_restore_removes_it(
    moment, backup, kind, new_url, tmp_path
):
    data, url = tmp_path / "restored", new_url(kind)
    data.mkdir()
    killed_restore(moment, backup, url, data)
    with Store.open(url, data, writer=True) as store:
        assert store.events() == []
        assert names(data) == [store.files.folder.name]


def test_what_was_restored_stays(backup, kind, new_url, tmp_path):
    """Even moment the process was killed after the last step, before it has cleaned up."""
    data, url = tmp_path / "restored", new_url(kind)
    restore(backup, url, data)
    before = names(data)
    with Store.open(url, data) as store:
        id = store.files.folder.name.removeprefix("store-")
    place = data / ".restore._writing.tmp"
    place.mkdir()
    inode = (data / MODELS / "fan-1").stat().st_ino
    (place / "moves.json").write_text(f'{{"store": "{id}", "inodes": {{"models/fan-1": {inode}}}}}')
    with pytest.raises(SsdptError, match="has a store already"):
        restore(backup, url, data)
    assert names(data) == before


def test_what_is_not_of_a_killed_restore_stays(kind, new_url, tmp_path):
    """A model of the same name that the service has learned since."""
    data = tmp_path / "data"
    (data / MODELS / "fan-1").mkdir(parents=True)
    place = data / ".restore._writing.tmp"
    place.mkdir()
    (place / "moves.json").write_text('{"store": "0123", "inodes": {"models/fan-1": 1}}')
    with Store.open(new_url(kind), data, writer=True):
        assert names(data / MODELS) == ["fan-1"]
        assert not place.exists()


def test_files_without_a_row_are_gone_after_the_next_start(url, folder):
    with Store.open(url, folder, writer=True) as store:
        store.save_event(event())
        kept = store.files.path(store.attach(event().id, "audio", b"sound", ".flac"))
        orphan = store.files.path(store.files.write(b"killed before its row", ".flac"))
        half = kept.with_name(f".{kept.name}._writing.tmp.flac")
        half.write_bytes(b"half")
    (folder / ".last_run.json._writing.tmp.json").write_text("half")
    with Store.open(url, folder):
        assert orphan.exists()  # a command leaves alone what the service may be writing
    with Store.open(url, folder, writer=True):
        assert kept.exists()
        assert not orphan.exists()
        assert not half.exists()
        assert not list(folder.glob(".*"))


def test_the_next_backup_removes_what_a_killed_one_left(url, folder, tmp_path):
    program = """
import os, signal, sys
from pathlib import Path
from ssdpt.monitor.store import Store, back_up, backup
backup.add_bytes = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
back_up(Store.open(sys.argv[1], Path(sys.argv[2])), Path(sys.argv[3]))
"""
    place = tmp_path / "backups"
    with Store.open(url, folder, writer=True) as store:
        fill(store)
        killed = subprocess.run(
            [sys.executable, "-c", program, url, str(folder), str(place / "backup.tar")]
        )
        assert killed.returncode == -signal.SIGKILL
        assert len(list(place.iterdir())) == 2
        back_up(store, place / "backup.tar")
    assert [path.name for path in place.iterdir()] == ["backup.tar"]

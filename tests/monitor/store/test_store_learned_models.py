"""A backup holds learned models and added machines; none is written outside its folder."""

from __future__ import annotations

import io
import json
import os
import shutil
import tarfile
import threading

import pytest
from store_data import event, rewrite

from ssdpt.common.files import atomic_folder
from ssdpt.detection.storage import MODEL_FILES, read_model
from ssdpt.errors import SsdptError
from ssdpt.monitor.config import MachineSettings
from ssdpt.monitor.service.added_machines import AddedMachines
from ssdpt.monitor.store import Store, back_up, restore
from ssdpt.monitor.store.learned_models import MACHINES, MODELS

PUMP = MachineSettings.model_validate({"id": "pump_2", "source": {"kind": "pushed"}})


def write(folder, text):
    """A model whose files all contain the same text."""
    with atomic_folder(folder) as place:
        for name in MODEL_FILES:
            (place / name).write_text(f"{name} {text}")


def learn(store, data):
    """Two models and a machine that was added."""
    write(data / MODELS / "fan-1", "first")
    write(data / MODELS / PUMP.id, "second")
    AddedMachines(data / MACHINES).add(PUMP)
    store.save_event(event())


def tree(data):
    """Everything but the store itself."""
    return {
        path.relative_to(data).as_posix(): path.read_bytes()
        for path in data.rglob("*")
        if path.is_file() and not path.relative_to(data).parts[0].startswith("store-")
    }


def test_learned_models_are_restored(store, new_url, kind, folder, tmp_path, models):
    learn(store, folder)
    shutil.copytree(models["texture"], folder / MODELS / "third")
    back_up(store, tmp_path / "backup.tar")
    data, url = tmp_path / "restored", new_url(kind)
    restore(tmp_path / "backup.tar", url, data)
    assert tree(data) == tree(folder)
    assert [one.id for one in AddedMachines(data / MACHINES).machines] == ["pump_2"]
    with Store.open(url, data) as again:
        assert read_model(data / MODELS / "third").machine
        assert again.event(event().id) == event()
    assert [path.name for path in data.glob(".*")] == []


def test_other_files_of_the_data_folder_are_not_in_it(store, folder, tmp_path):
    learn(store, folder)
    (folder / "models" / ".fan-1.abc.tmp").mkdir()
    (folder / "models" / ".fan-1.abc.tmp" / "config.json").write_text("being written")
    (folder / "models" / "Notes").mkdir()
    (folder / "models" / "Notes" / "config.json").write_text("not ours")
    (folder / "models" / "half").mkdir()
    (folder / "models" / "half" / "model.safetensors").write_text("not a model without a config")
    (folder / "models" / "fan-1" / "notes.txt").write_text("not ours")
    (folder / "models" / "file").write_text("not a folder")
    back_up(store, tmp_path / "backup.tar")
    with tarfile.open(tmp_path / "backup.tar") as tar:
        names = {name for name in tar.getnames() if name.startswith("models/")}
    assert names == {f"models/{id}/{name}" for id in ("fan-1", "pump_2") for name in MODEL_FILES}


def test_a_model_that_is_replaced_meanwhile_is_complete(store, folder, tmp_path):
    learn(store, folder)
    place, stop, versions = folder / MODELS / "fan-1", threading.Event(), []

    def replace():
        while not stop.is_set():
            versions.append(f"version {len(versions)}")
            write(place, versions[-1])
            stop.wait(0.005)

    thread = threading.Thread(target=replace)
    thread.start()
    try:
        for _ in range(20):
            back_up(store, tmp_path / "backup.tar")
            with tarfile.open(tmp_path / "backup.tar") as tar:
                texts = {
                    name: tar.extractfile(f"models/fan-1/{name}").read().decode()
                    for name in MODEL_FILES
                }
            seen = {text.removeprefix(f"{name} ") for name, text in texts.items()}
            assert len(seen) == 1
    finally:
        stop.set()
        thread.join()
    assert len(versions) > 1


def test_the_backup_waits_for_a_model_that_is_being_replaced(store, folder, tmp_path, monkeypatch):
    """Between the two renames that replace it."""
    learn(store, folder)
    place = folder / MODELS / "fan-1"
    place.rename(place.with_name(".fan-1.abc.old"))
    monkeypatch.setattr("ssdpt.monitor.store.learned_models._PAUSE", 0)
    monkeypatch.setattr("time.sleep", lambda _: place.exists() or write(place, "new"))
    back_up(store, tmp_path / "backup.tar")
    with tarfile.open(tmp_path / "backup.tar") as tar:
        assert tar.extractfile("models/fan-1/config.json").read() == b"config.json new"


def test_a_model_that_keeps_changing_is_an_error(store, folder, tmp_path, monkeypatch):
    learn(store, folder)
    versions = iter(range(10**6))
    monkeypatch.setattr("ssdpt.monitor.store.learned_models._version", lambda _: next(versions))
    monkeypatch.setattr("ssdpt.monitor.store.learned_models._PAUSE", 0)
    with pytest.raises(SsdptError, match="keeps changing; try the backup again later"):
        back_up(store, tmp_path / "backup.tar")
    assert not (tmp_path / "backup.tar").exists()


def test_a_model_that_is_removed_meanwhile_is_omitted(store, folder, tmp_path, monkeypatch):
    learn(store, folder)

    def gone(path):
        shutil.rmtree(path, ignore_errors=True)
        raise FileNotFoundError(path)

    monkeypatch.setattr("ssdpt.monitor.store.learned_models._version", gone)
    monkeypatch.setattr("ssdpt.monitor.store.learned_models._PAUSE", 0)
    back_up(store, tmp_path / "backup.tar")
    with tarfile.open(tmp_path / "backup.tar") as tar:
        assert [name for name in tar.getnames() if name.startswith("models/")] == []
        assert MACHINES in tar.getnames()


@pytest.mark.parametrize("there", ["machines.json", "models/pump_2/config.json"])
def test_existing_files_are_never_overwritten(store, new_url, kind, folder, tmp_path, there):
    learn(store, folder)
    back_up(store, tmp_path / "backup.tar")
    data, url = tmp_path / "restored", new_url(kind)
    (data / there).parent.mkdir(parents=True)
    (data / there).write_text("mine")
    with pytest.raises(SsdptError, match="exists already; restore into an empty data folder"):
        restore(tmp_path / "backup.tar", url, data)
    assert tree(data) == {there: b"mine"}
    (data / there).unlink()
    if there.startswith("models/"):
        (data / there).parent.rmdir()
    restore(tmp_path / "backup.tar", url, data)  # the failed attempt has left no store
    assert tree(data) == tree(folder)


def test_models_of_other_machines_stay(store, new_url, kind, folder, tmp_path):
    learn(store, folder)
    back_up(store, tmp_path / "backup.tar")
    data = tmp_path / "restored"
    write(data / "models" / "press", "mine")
    restore(tmp_path / "backup.tar", new_url(kind), data)
    assert {path.name for path in (data / "models").iterdir()} == {"fan-1", "pump_2", "press"}


def test_a_database_that_fails_at_the_end_leaves_no_models(
    store, new_url, kind, folder, tmp_path, monkeypatch
):
    learn(store, folder)
    back_up(store, tmp_path / "backup.tar")
    data, url = tmp_path / "restored", new_url(kind)
    write(data / "models" / "press", "mine")
    before = tree(data)

    def fail(*_):
        raise SsdptError("power cut")

    # After the models were moved, before the rows are committed.
    monkeypatch.setattr("sqlalchemy.engine.RootTransaction.commit", fail)
    with pytest.raises(SsdptError, match="power cut"):
        restore(tmp_path / "backup.tar", url, data)
    monkeypatch.undo()
    assert tree(data) == before
    restore(tmp_path / "backup.tar", url, data)


def test_a_backup_of_format_1_has_no_models(store, new_url, kind, folder, tmp_path):
    learn(store, folder)
    path = tmp_path / "backup.tar"
    back_up(store, path)

    def old(name, data):
        if name == "about.json":
            content = json.loads(data) | {"format": 1}
            del content["learned_files"]
            data = json.dumps(content).encode()
        elif name.startswith("models/") or name == MACHINES:
            data = None
        return name, data

    rewrite(path, old)
    data, url = tmp_path / "restored", new_url(kind)
    restore(path, url, data)
    assert tree(data) == {}
    assert not (data / "models").exists()
    with Store.open(url, data) as again:
        assert again.event(event().id) == event()


@pytest.mark.parametrize(
    "name",
    [
        "models/../escaped/config.json",
        "models/../../escaped/config.json",
        "models/fan-1/../../escaped.json",
        "models/fan-1/..",
        "models//etc/config.json",
        "models/escaped.json",
        "models/Fan 1/config.json",
        "models/fan-1\n/config.json",
        "models/fan-1/deeper/config.json",
        "models/fan-1/run.sh",
        "models/" + "x" * 65 + "/config.json",
    ],
)
def test_names_that_no_backup_uses_are_refused(store, new_url, kind, folder, tmp_path, name):
    learn(store, folder)
    path = tmp_path / "backup.tar"
    back_up(store, path)
    rewrite(path, lambda old, data: (name if old == "models/fan-1/config.json" else old, data))
    with pytest.raises(SsdptError, match="not a file of a learned model"):
        restore(path, new_url(kind), tmp_path / "restored")
    assert list(tmp_path.rglob("*escaped*")) == []
    assert list((tmp_path / "restored").iterdir()) == []


@pytest.mark.parametrize("kind_of_link", [tarfile.SYMTYPE, tarfile.LNKTYPE])
def test_links_are_not_followed(store, new_url, folder, tmp_path, kind_of_link):
    """A link instead of the folder of a model, and one instead of the list of machines."""
    learn(store, folder)
    path, outside = tmp_path / "backup.tar", tmp_path / "outside"
    outside.mkdir()
    (outside / "secret").write_text("secret")
    back_up(store, path)
    with tarfile.open(path) as tar:
        members = [(one.name, tar.extractfile(one).read()) for one in tar]
    with tarfile.open(path, "w") as tar:
        for name, target in (("models/fan-1", outside), (MACHINES, outside / "secret")):
            link = tarfile.TarInfo(name)
            link.type, link.linkname = kind_of_link, os.fspath(target)
            tar.addfile(link)
        for name, data in members:
            if name != MACHINES:
                info = tarfile.TarInfo(name)
                info.size = len(data)
                tar.addfile(info, io.BytesIO(data))
    with pytest.raises(SsdptError, match="parts of the backup are missing"):
        restore(path, new_url("sqlite"), tmp_path / "restored")
    assert [one.name for one in outside.iterdir()] == ["secret"]
    assert list((tmp_path / "restored").iterdir()) == []


def test_a_missing_part_of_a_model_is_an_error(store, new_url, kind, folder, tmp_path):
    learn(store, folder)
    path, url = tmp_path / "backup.tar", new_url(kind)
    back_up(store, path)
    rewrite(path, lambda name, data: (name, None if name.endswith("calibration.json") else data))
    with pytest.raises(SsdptError, match="parts of the backup are missing"):
        restore(path, url, tmp_path / "restored")
    assert list((tmp_path / "restored").iterdir()) == []

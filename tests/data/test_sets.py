"""Data sets side by side."""

from __future__ import annotations

import pytest

from ssdpt.data.sets import machine_type, read_sets
from ssdpt.errors import SsdptError


def clip(folder, name="section_00_source_train_normal_0000.wav"):
    path = folder / "train" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"")
    return path


def test_a_machine_in_two_sets_is_named_by_the_folder_of_its_set(tmp_path):
    clip(tmp_path / "2022" / "bearing")
    clip(tmp_path / "2022" / "gearbox")
    clip(tmp_path / "2023" / "bearing")
    machines = ("2022/bearing", "2023/bearing", "gearbox")
    assert read_sets([tmp_path / "2022", tmp_path / "2023"]).machines == machines
    # The same names where the machines' own folders are given.
    folders = [tmp_path / name for name in ("2022/bearing", "2022/gearbox", "2023/bearing")]
    assert read_sets(folders).machines == machines
    assert [machine_type(name) for name in machines] == ["bearing", "bearing", "gearbox"]


def test_a_set_that_is_given_twice_is_read_once(tmp_path, monkeypatch):
    clip(tmp_path / "2022" / "bearing")
    monkeypatch.chdir(tmp_path)
    dataset = read_sets([tmp_path / "2022", (tmp_path / "2022").relative_to(tmp_path)])
    assert dataset.machines == ("bearing",)
    assert len(dataset.recordings) == 1


def test_sets_with_folders_of_one_name_are_refused(tmp_path):
    clip(tmp_path / "a" / "2022" / "bearing")
    clip(tmp_path / "b" / "2022" / "bearing")
    with pytest.raises(SsdptError, match=r"machine bearing is both in .* rename one"):
        read_sets([tmp_path / "a" / "2022", tmp_path / "b" / "2022"])

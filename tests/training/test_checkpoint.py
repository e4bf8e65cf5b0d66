"""Checkpoints: everything is restored, and a wrong or damaged one is rejected."""

from __future__ import annotations

import json

import pytest
import torch

from ssdpt.errors import SsdptError
from ssdpt.training.checkpoint import Checkpoint, load_checkpoint, save_checkpoint

FILE = "checkpoint.safetensors"
SAVED = Checkpoint(
    identity="settings-a",
    step=17,
    batch_size=8,
    tensors={"state": torch.tensor([1.5, -2.0]), "optimiser/step": torch.tensor(17.0)},
)


def test_everything_is_restored(tmp_path):
    save_checkpoint(tmp_path, SAVED)
    back = load_checkpoint(tmp_path, "settings-a")
    assert (back.step, back.batch_size) == (17, 8)
    assert {name: value.tolist() for name, value in back.tensors.items()} == {
        "state": [1.5, -2.0],
        "optimiser/step": 17.0,
    }


def test_an_older_format_is_rejected(tmp_path):
    from safetensors.torch import save_file

    about = json.dumps({"identity": "settings-a", "step": 3})
    save_file({"state": torch.zeros(1)}, tmp_path / FILE, {"about": about})
    with pytest.raises(SsdptError, match="another version"):
        load_checkpoint(tmp_path, "settings-a")


def test_a_missing_checkpoint_is_none(tmp_path):
    assert load_checkpoint(tmp_path, "settings-a") is None


def test_a_checkpoint_of_other_settings_is_rejected(tmp_path):
    save_checkpoint(tmp_path, SAVED)
    with pytest.raises(SsdptError, match="other settings"):
        load_checkpoint(tmp_path, "settings-b")


@pytest.mark.parametrize("damage", ["cut", "foreign", "empty"])
def test_a_damaged_checkpoint_is_an_error(tmp_path, damage):
    save_checkpoint(tmp_path, SAVED)
    path = tmp_path / FILE
    content = {"cut": path.read_bytes()[:-4], "foreign": b"hello" * 40, "empty": b""}[damage]
    path.write_bytes(content)
    with pytest.raises(SsdptError, match="damaged") as caught:
        load_checkpoint(tmp_path, "settings-a")
    assert str(path) in str(caught.value)


def test_a_foreign_safetensors_file_is_damaged(tmp_path):
    from safetensors.torch import save_file

    save_file({"a": torch.zeros(1)}, tmp_path / FILE)
    with pytest.raises(SsdptError, match="damaged"):
        load_checkpoint(tmp_path, "settings-a")


def test_a_checkpoint_is_replaced_atomically(tmp_path):
    save_checkpoint(tmp_path, SAVED)
    save_checkpoint(tmp_path, SAVED)
    assert [entry.name for entry in tmp_path.iterdir()] == [FILE]


def test_a_full_disk_is_an_error(tmp_path, monkeypatch):
    import errno
    from pathlib import Path

    def full(self, content):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(SsdptError, match="disk is full"):
        save_checkpoint(tmp_path, SAVED)
    assert list(tmp_path.iterdir()) == []

"""The key of an ablation's networks depends on what affects their training, and nothing else."""

from __future__ import annotations

import shutil
from dataclasses import replace

import pytest

from ssdpt.common.progress import SILENT
from ssdpt.config.tree import load_config, with_overrides
from ssdpt.experiments.ablation import networks
from ssdpt.experiments.ablation.networks import NetworkStore, networks_key
from ssdpt.experiments.paper.data import read_data

CONFIG = load_config("best", {"features.n_mels": 32})


@pytest.fixture(scope="module")
def recordings(simulated):
    return [item for m in read_data([simulated], []).by_machine.values() for item in m.train]


@pytest.mark.parametrize(
    "changes",
    [
        {"multiview.network.hop": 7},
        {"texture.density": False},
        {"device": "cpu"},
        {"multiview.network.training.checkpoint_seconds": 1.0},
    ],
)
def test_the_key_ignores_settings_that_only_scoring_uses(recordings, changes):
    other = with_overrides(CONFIG, changes)
    assert networks_key(other, recordings) == networks_key(CONFIG, recordings)


@pytest.mark.parametrize(
    "changes",
    [
        {"seed": 1},
        {"multiview.networks": 1},
        {"multiview.inputs": ["steady"]},
        {"multiview.network.alpha": 1.0},
        {"features.f_min": 20.0},
        {"audio.clip_seconds": 5.0},
    ],
)
def test_the_key_changes_with_settings_that_affect_training(recordings, changes):
    other = with_overrides(CONFIG, changes)
    assert networks_key(other, recordings) != networks_key(CONFIG, recordings)


def test_the_key_ignores_folder_and_order(simulated, recordings, tmp_path):
    copy = shutil.copytree(simulated, tmp_path / "elsewhere")
    copied = [m.train for m in read_data([copy], []).by_machine.values()]
    again = [item for train in reversed(copied) for item in train]
    assert networks_key(CONFIG, again) == networks_key(CONFIG, recordings)
    assert networks_key(CONFIG, again[1:]) != networks_key(CONFIG, recordings)


def test_the_key_depends_on_classes_if_recordings_have_attributes(recordings):
    sections = with_overrides(CONFIG, {"multiview.network.classes": "section"})
    plain = [replace(item, attributes=()) for item in recordings]
    assert networks_key(sections, plain) == networks_key(CONFIG, plain)
    fast = [replace(item, attributes=(("speed", "2"),)) for item in recordings]
    assert networks_key(sections, fast) != networks_key(CONFIG, fast)


def test_checkpoints_that_a_kill_left_beside_finished_networks_are_removed(tmp_path, monkeypatch):
    """The networks were written, and the process was killed before it removed its checkpoints."""

    class Finished:
        def to(self, device):
            assert device.type == "cpu"

    monkeypatch.setattr(networks, "_read", lambda path, config: Finished())
    (tmp_path / "key.safetensors").touch()
    (tmp_path / "key.partial").mkdir()
    config = with_overrides(CONFIG, {"device": "cpu"})
    NetworkStore(tmp_path).get(config, "key", lambda: [], SILENT)
    assert [path.name for path in tmp_path.iterdir()] == ["key.safetensors"]

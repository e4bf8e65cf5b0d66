"""Networks of an ablation are named by what decides them, and by nothing else."""

from __future__ import annotations

import shutil
from dataclasses import replace

import pytest

from ssdpt.config.tree import load_config, with_overrides
from ssdpt.experiments.ablation.networks import ears_key
from ssdpt.experiments.paper.data import read_data

CONFIG = load_config("best", {"features.n_mels": 32})


@pytest.fixture(scope="module")
def recordings(plant):
    return [item for m in read_data([plant], []).by_machine.values() for item in m.train]


@pytest.mark.parametrize(
    "changes",
    [
        {"multiview.network.hop": 7},
        {"texture.density": False},
        {"device": "cpu"},
        {"multiview.network.training.checkpoint_seconds": 1.0},
    ],
)
def test_stays_with_what_only_scoring_reads(recordings, changes):
    other = with_overrides(CONFIG, changes)
    assert ears_key(other, recordings) == ears_key(CONFIG, recordings)


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
def test_changes_with_what_decides_the_networks(recordings, changes):
    other = with_overrides(CONFIG, changes)
    assert ears_key(other, recordings) != ears_key(CONFIG, recordings)


def test_neither_folder_nor_order_counts(plant, recordings, tmp_path):
    copy = shutil.copytree(plant, tmp_path / "elsewhere")
    copied = [m.train for m in read_data([copy], []).by_machine.values()]
    again = [item for train in reversed(copied) for item in train]
    assert ears_key(CONFIG, again) == ears_key(CONFIG, recordings)
    assert ears_key(CONFIG, again[1:]) != ears_key(CONFIG, recordings)


def test_classes_count_where_the_recordings_have_attributes(recordings):
    sections = with_overrides(CONFIG, {"multiview.network.classes": "section"})
    plain = [replace(item, attributes=()) for item in recordings]
    assert ears_key(sections, plain) == ears_key(CONFIG, plain)
    fast = [replace(item, attributes=(("speed", "2"),)) for item in recordings]
    assert ears_key(sections, fast) != ears_key(CONFIG, fast)

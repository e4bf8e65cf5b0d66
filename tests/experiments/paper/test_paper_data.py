"""The recordings of an experiment: notes on missing data, and fingerprints."""

from __future__ import annotations

import shutil

import numpy as np
import pytest

from ssdpt.config.tree import load_config
from ssdpt.errors import SsdptError
from ssdpt.experiments.paper.data import read_data
from ssdpt.systems import system_class

CONFIG = load_config("tiny")


@pytest.fixture
def copy(simulated, tmp_path):
    return shutil.copytree(simulated, tmp_path / "simulated")


def test_a_complete_data_set(simulated):
    data = read_data([simulated], [])
    assert data.machines == ("fan", "valve")
    fan = data.by_machine["fan"]
    assert len(fan.train) == 3 * 8
    assert {item.label for item in fan.test} == {"normal", "anomaly"}
    assert len(fan.test) == 3 * 2 * 2 * 2
    assert any("ToyCar, ToyTrain, gearbox, pump, slider" in note for note in data.notes)


def test_only_some_machines(simulated):
    assert read_data([simulated], ["valve"]).machines == ("valve",)
    with pytest.raises(SsdptError, match="no machine is called pump in this data; there are fan"):
        read_data([simulated], ["pump"])


def test_a_missing_section_is_noted(copy):
    for path in (copy / "fan" / "train").glob("section_02*"):
        path.unlink()
    data = read_data([copy], [])
    assert any("fan: test clips of section 02 are left out" in note for note in data.notes)
    assert {item.section for item in data.by_machine["fan"].test} == {"00", "01"}


def test_a_section_without_test_clips_is_noted(copy):
    for folder in ("source_test", "target_test"):
        for path in (copy / "fan" / folder).glob("section_01*"):
            path.unlink()
    notes = read_data([copy], []).notes
    assert any("fan: section 01 has training clips but no test clips" in note for note in notes)


def test_uneven_counts_are_noted(copy):
    next((copy / "fan" / "source_test").glob("*anomaly*")).unlink()
    notes = read_data([copy], []).notes
    assert any(note.startswith("fan: 1 to 2 test clips per section") for note in notes)
    assert not any(note.startswith("valve: ") for note in notes)


def test_a_machine_without_faults_is_left_out(copy):
    for path in (copy / "fan").rglob("*anomaly*"):
        path.unlink()
    data = read_data([copy], [])
    assert data.machines == ("valve",)
    assert any(
        "fan: left out, there are no labelled test clips with faults" in n for n in data.notes
    )


def test_data_without_any_fault_is_an_error(copy):
    for path in copy.rglob("*anomaly*"):
        path.unlink()
    with pytest.raises(SsdptError, match="no machine has both"):
        read_data([copy], [])


def test_the_fingerprint_is_of_the_content(simulated, copy):
    one, other = read_data([simulated], []), read_data([copy], [])
    assert one.fingerprint(["fan"]) == other.fingerprint(["fan"])
    clip = next((copy / "fan" / "train").iterdir())
    clip.write_bytes(clip.read_bytes()[:-2] + b"xx")
    changed = read_data([copy], [])
    assert changed.fingerprint(["fan"]) != one.fingerprint(["fan"])
    assert changed.fingerprint(["valve"]) == one.fingerprint(["valve"])
    clip.unlink()
    assert read_data([copy], []).fingerprint(["fan"]) != changed.fingerprint(["fan"])


def test_one_section_alone_is_trained_beside_the_other_machines(copy):
    for path in (copy / "fan").rglob("section_0[12]*"):
        path.unlink()
    data = read_data([copy], [])
    assert data.trained_with("fan", CONFIG) == ("fan", "valve")
    assert data.trained_with("valve", CONFIG) == ("valve",)
    gaussian = load_config("tiny", {"system": "gmm"})
    assert data.trained_with("fan", gaussian) == ("fan",)
    front_end = system_class("ssdpt").front_end_of(CONFIG)
    clips = data.training_clips(("fan", "valve"), CONFIG, front_end)
    assert {item.section for item in clips.recordings} == {
        *("fan/00", "valve/00", "valve/01", "valve/02"),
    }
    alone = data.training_clips(("valve",), CONFIG, front_end)
    np.testing.assert_array_equal(
        clips.source.clip(len(clips) - 1), alone.source.clip(len(alone) - 1)
    )


def test_several_roots(simulated, tmp_path):
    for machine in ("fan", "valve"):
        shutil.copytree(simulated / machine, tmp_path / f"root-{machine}" / machine)
    data = read_data([tmp_path / "root-valve", tmp_path / "root-fan"], [])
    assert data.machines == ("fan", "valve")


def test_a_section_that_only_others_have_is_noted(copy):
    for path in (copy / "fan").rglob("section_02*"):
        path.unlink()
    notes = read_data([copy], []).notes
    assert "fan: no section 02, which other machine types have" in notes

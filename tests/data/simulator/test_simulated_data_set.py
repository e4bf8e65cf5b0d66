"""The simulated data set: the same seed gives the same bytes, in DCASE 2021 layout, and neither
loudness nor an unshifted domain makes it too easy."""

from __future__ import annotations

import csv
from collections import Counter

import numpy as np
import pytest
import soundfile
from sklearn.covariance import LedoitWolf

from ssdpt.config.settings import FeatureConfig
from ssdpt.data.layouts import read_layout
from ssdpt.data.simulator import PRESETS, ClipName, clip, coverage, simulate
from ssdpt.data.simulator.catalogue import MACHINES
from ssdpt.data.simulator.machine import Fault
from ssdpt.data.simulator.simulation import FAULT_COLUMNS
from ssdpt.errors import SsdptError
from ssdpt.evaluation.metrics import auc
from ssdpt.features.logmel import LogMel

PAPER_MACHINES = {"ToyCar", "ToyTrain", "fan", "gearbox", "pump", "slider", "valve"}


def bytes_of(folder):
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*.*") if p.is_file()}


def level_db(samples):
    return 10 * np.log10(np.mean(np.square(samples, dtype=np.float64)))


def test_all_machine_types_of_the_paper():
    assert set(MACHINES) == PAPER_MACHINES
    for preset in (PRESETS["demo"], PRESETS["dcase2021"]):
        assert set(preset.machines) == PAPER_MACHINES
    assert all(len(kind.faults) >= 3 for kind in MACHINES.values())


def test_the_dcase2021_preset_has_the_counts_of_the_real_set():
    preset = PRESETS["dcase2021"]
    counts = (preset.sections, preset.source_train, preset.target_train, preset.test)
    assert counts == (3, 1000, 3, 100)


def test_is_read_as_dcase2021_with_attributes_for_every_clip(simulated):
    dataset = read_layout(simulated)
    assert dataset.layout == "dcase2021"
    assert dataset.notes == ()
    preset = PRESETS["tiny"]
    counts = Counter((r.machine, r.section, r.domain, r.split, r.label) for r in dataset.recordings)
    for machine in preset.machines:
        for section in ("00", "01", "02"):
            assert counts[machine, section, "source", "train", "normal"] == preset.source_train
            assert counts[machine, section, "target", "train", "normal"] == preset.target_train
            for domain in ("source", "target"):
                for label in ("normal", "anomaly"):
                    assert counts[machine, section, domain, "test", label] == preset.test
    assert {name for r in dataset.recordings for name, _ in r.attributes} == {"speed", "load"}


def test_clips_are_ten_seconds_of_16_bit_mono_at_16_khz(simulated):
    for path in sorted(simulated.rglob("*.wav"))[::20]:
        info = soundfile.info(path)
        assert (info.samplerate, info.channels, info.frames) == (16000, 1, 160000)
        assert info.subtype == "PCM_16"


def test_same_seed_gives_same_bytes_for_any_number_of_workers_and_machines(simulated, tmp_path):
    again = simulate(tmp_path / "again", "tiny", machines=["valve"], workers=2)
    assert bytes_of(again / "valve") == bytes_of(simulated / "valve")


def test_another_seed_is_another_data_set():
    name = ClipName("pump", 0, "source", "train", "normal", 0)
    assert not np.array_equal(clip(name, seed=0).samples, clip(name, seed=1).samples)


def test_resumes_an_interrupted_simulation(simulated, tmp_path):
    out = simulate(tmp_path / "stopped", "tiny", machines=["fan"], workers=1)
    whole = bytes_of(out)
    (out / "fan" / "faults.csv").unlink()
    for path in sorted(out.rglob("*.wav"))[::3]:
        path.unlink()
    kept = {path: path.stat().st_mtime_ns for path in out.rglob("*.wav")}
    simulate(out, "tiny", machines=["fan"], workers=1)
    assert bytes_of(out) == whole
    assert all(path.stat().st_mtime_ns == before for path, before in kept.items())


def test_simulating_another_data_set_into_the_same_folder_replaces_all_clips(simulated, tmp_path):
    out = simulate(tmp_path / "twice", "tiny", machines=["valve"], workers=1)
    simulate(out, "tiny", seed=5, machines=["valve"], workers=1)
    fresh = simulate(tmp_path / "fresh", "tiny", seed=5, machines=["valve"], workers=1)
    assert bytes_of(out) == bytes_of(fresh)


def test_invalid_requests_are_rejected(tmp_path):
    with pytest.raises(SsdptError, match="no such plant preset"):
        simulate(tmp_path, "huge")
    with pytest.raises(SsdptError, match="no such machine type"):
        simulate(tmp_path, "tiny", machines=["lathe"])
    with pytest.raises(SsdptError, match="seed"):
        simulate(tmp_path, "tiny", seed=-1)
    foreign = tmp_path / "fan" / "train"
    foreign.mkdir(parents=True)
    soundfile.write(foreign / "mine.wav", np.zeros(100), 16000)
    with pytest.raises(SsdptError, match="were not simulated here"):
        simulate(tmp_path, "tiny", machines=["fan"])
    assert (foreign / "mine.wav").is_file()


def test_faults_csv_lists_the_regions_of_every_anomaly(simulated):
    with (simulated / "fan" / "faults.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert tuple(rows[0]) == FAULT_COLUMNS
    anomalies = {path.name for path in (simulated / "fan").rglob("*_anomaly_*.wav")}
    assert {row["file"] for row in rows} == anomalies
    for row in rows:
        assert row["fault"] in MACHINES["fan"].faults
        assert 0 <= float(row["start_s"]) < float(row["end_s"]) <= 10
        assert 0 <= float(row["low_hz"]) < float(row["high_hz"]) <= 8000


@pytest.mark.parametrize("machine", sorted(MACHINES))
def test_each_fault_covers_a_small_part_of_the_spectrogram(machine):
    kind = MACHINES[machine]
    covered = []
    for index, fault in enumerate(kind.faults):
        simulated = clip(ClipName(machine, index % 3, "source", "test", "anomaly", index))
        assert simulated.fault is not None
        assert simulated.fault.name == fault
        assert simulated.regions
        assert np.isfinite(simulated.samples).all()
        assert np.abs(simulated.samples).max() <= 1
        covered.append(coverage(simulated.regions))
    assert 0 < np.mean(covered) <= 0.2


@pytest.mark.parametrize("machine", ["ToyCar", "valve"])
def test_loudness_does_not_reveal_the_label(machine):
    labels, levels = [], []
    for label in ("normal", "anomaly"):
        for index in range(12):
            simulated = clip(ClipName(machine, 0, "source", "test", label, index))
            labels.append(label == "anomaly")
            levels.append(level_db(simulated.samples))
    assert 0.25 <= auc(np.array(labels), np.array(levels)) <= 0.75


def test_a_healthy_clip_has_no_fault():
    simulated = clip(ClipName("slider", 1, "target", "test", "normal", 0))
    assert simulated.fault is None
    assert simulated.regions == ()


def test_severity_sets_the_loudness_of_the_fault():
    gains = [Fault("bearing", severity).gain for severity in (0.0, 0.5, 1.0)]
    assert gains == sorted(gains)
    assert gains[0] < 0.15 < 2.0 < gains[-1]


def test_the_target_domain_is_really_shifted():
    """A Gaussian of the source's mean spectra scores healthy target clips as anomalous."""
    front_end = LogMel(FeatureConfig(), 16000)

    def spectra(domain, split, count):
        names = (ClipName("gearbox", 0, domain, split, "normal", index) for index in range(count))
        return [front_end(clip(name, preset="dcase2021").samples).mean(0) for name in names]

    baseline = LedoitWolf().fit(spectra("source", "train", 30))
    tests = spectra("source", "test", 10) + spectra("target", "test", 10)
    is_target = np.repeat([False, True], 10)
    assert auc(is_target, baseline.mahalanobis(tests)) > 0.7

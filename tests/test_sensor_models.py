"""Models of vibration sensors: own sample rate, units, axes, and what is learned from whom."""

from __future__ import annotations

import json

import numpy as np
import pytest
import soundfile

from sounds import hum, write_clip, write_folder
from ssdpt import Clip, Detector
from ssdpt.config.tree import load_config
from ssdpt.data.layouts import read_layout
from ssdpt.errors import SsdptError
from ssdpt.fleet.fleet import Fleet, fit_fleet

RATE = 25600
GRAVITY = 9.80665


def shaken(seconds=1.5, seed=0, rate=RATE, tone=0.0):
    """A bearing in g, (samples,)."""
    rng = np.random.default_rng(seed)
    time = np.arange(round(seconds * rate)) / rate
    noise = rng.standard_normal(len(time))
    return (
        0.5 * noise
        + np.sin(2 * np.pi * 0.11 * rate * time)
        + tone * np.sin(2 * np.pi * 0.4 * rate * time)
    )


def write_table(path, values, unit="g"):
    """Axes (axes, samples) or one (samples,) in the unit."""
    path.parent.mkdir(parents=True, exist_ok=True)
    axes = np.atleast_2d(values)
    header = ",".join(f"{name} [{unit}]" for name in "xyz"[: len(axes)])
    np.savetxt(path, axes.T, "%.6g", ",", header=header, comments="", encoding="utf-8")
    return path


def bearing(folder, clips=8, rate=RATE, yaml=None):
    """Normal tables of one axis."""
    for number in range(clips):
        write_table(folder / "train" / f"{number}.csv", shaken(seed=number, rate=rate))
    (folder / "sensor.yaml").write_text(yaml or f"sample_rate: {rate}\n")
    return folder


def fit(source, **settings):
    return Detector.fit(source, config=load_config("best", settings))


@pytest.fixture(scope="module")
def machine(tmp_path_factory):
    return bearing(tmp_path_factory.mktemp("data") / "bearing")


@pytest.fixture(scope="module")
def detector(machine):
    return fit(machine)


class TestSampleRate:
    @pytest.mark.parametrize("rate", [2000, 8000, 51200])
    def test_vibration_keeps_its_own(self, tmp_path, rate):
        detector = fit(bearing(tmp_path / "bearing", clips=4, rate=rate))
        assert detector.sample_rate == rate
        assert detector.frequencies.max() < rate / 2

    def test_a_fault_above_8_khz_is_heard(self, detector, tmp_path):
        assert detector.sample_rate == RATE
        assert f"works at the recordings' own rate, {RATE} Hz" in detector.stored.notes
        (tmp_path / "sensor.yaml").write_text(f"sample_rate: {RATE}\n")
        healthy = detector.score(write_table(tmp_path / "a.csv", shaken(seed=99)))
        faulty = detector.score(write_table(tmp_path / "b.csv", shaken(seed=99, tone=3.0)))
        assert faulty.value > healthy.value + 1
        assert faulty.is_anomalous

    def test_microphones_are_resampled_as_before(self, tmp_path):
        for number in range(4):
            write_clip(tmp_path / f"{number}.wav", hum(2, seed=number, rate=44100), 44100)
        assert fit(tmp_path).sample_rate == 16000
        assert fit(tmp_path, **{"audio.keep_rate": "always"}).sample_rate == 44100

    def test_slow_recordings_keep_their_own_unless_a_rate_is_set(self, tmp_path):
        for number in range(4):
            write_clip(tmp_path / f"{number}.wav", hum(2, seed=number, rate=8000), 8000)
        assert fit(tmp_path).sample_rate == 8000
        assert fit(tmp_path, **{"audio.sample_rate": 16000}).sample_rate == 16000
        assert fit(tmp_path, **{"audio.keep_rate": "never"}).sample_rate == 16000

    def test_rates_beyond_the_bounds_go_to_the_nearest(self, tmp_path):
        assert fit(bearing(tmp_path / "a", clips=4, rate=1000)).sample_rate == 2000
        assert fit(bearing(tmp_path / "b", clips=4, rate=97656)).sample_rate == 51200

    def test_other_systems_take_the_rate_too(self, tmp_path):
        machine = bearing(tmp_path / "bearing", clips=4)
        detector = Detector.fit(machine, config=load_config("tiny", {"system": "gmm"}))
        assert detector.sample_rate == RATE
        assert np.isfinite(detector.score(machine / "train" / "0.csv").value)


class TestUnits:
    def test_the_model_folder_says_what_was_measured(self, detector, tmp_path):
        detector.save(tmp_path / "model")
        stored = json.loads((tmp_path / "model" / "config.json").read_text())["config"]["audio"]
        assert (stored["unit"], stored["full_scale"], stored["sample_rate"]) == ("g", 50.0, RATE)
        assert f"{RATE} Hz, channel 0, g (full scale 50)" in detector.card()
        again = Detector.load(tmp_path / "model")
        assert again.config.audio == detector.config.audio

    def test_g_and_metres_per_second_squared_are_converted(self, detector, tmp_path):
        (tmp_path / "sensor.yaml").write_text(f"sample_rate: {RATE}\n")
        values = shaken(seed=50)
        in_g = detector.score(write_table(tmp_path / "a.csv", values))
        other = detector.score(write_table(tmp_path / "b.csv", values * GRAVITY, "m/s^2"))
        assert other.value == pytest.approx(in_g.value, abs=0.01)
        assert "converted from m/s² to g" in other.notes

    def test_another_full_scale_is_the_same_measurement(self, detector, tmp_path):
        values = shaken(seed=50)
        (tmp_path / "sensor.yaml").write_text(f"sample_rate: {RATE}\n")
        table = detector.score(write_table(tmp_path / "a.csv", values))
        (tmp_path / "wav").mkdir()
        (tmp_path / "wav" / "sensor.yaml").write_text("unit: g\nfull_scale: 16\n")
        soundfile.write(tmp_path / "wav" / "a.wav", values / 16, RATE, subtype="FLOAT")
        assert detector.score(tmp_path / "wav" / "a.wav").value == pytest.approx(
            table.value, abs=0.01
        )

    @pytest.mark.parametrize("unit", ["mm/s", "Pa"])
    def test_another_unit_is_refused(self, detector, tmp_path, unit):
        (tmp_path / "sensor.yaml").write_text(f"sample_rate: {RATE}\n")
        path = write_table(tmp_path / "a.csv", shaken(), unit)
        with pytest.raises(SsdptError, match=f"measured in {unit}; this model works with values"):
            detector.score(path)

    def test_an_unknown_unit_is_refused(self, detector, tmp_path):
        path = write_clip(tmp_path / "a.wav", hum(2, rate=RATE), RATE)
        with pytest.raises(SsdptError, match="its unit is not known; this model works with"):
            detector.score(path)

    def test_a_microphone_model_takes_no_vibration(self, tmp_path):
        write_folder(tmp_path / "fan")
        detector = fit(tmp_path / "fan")
        path = bearing(tmp_path / "bearing", clips=1) / "train" / "0.csv"
        with pytest.raises(SsdptError, match="measured in g; this model works with recordings w"):
            detector.score(path)

    def test_a_clip_in_memory_is_in_the_unit_of_the_model_unless_it_names_one(self, detector):
        values = shaken(seed=50)
        plain = detector.score(Clip((values / 50).astype(np.float32), RATE))
        named = detector.score(
            Clip((values / 20).astype(np.float32), RATE, unit="g", full_scale=20)
        )
        assert named.value == pytest.approx(plain.value, abs=0.01)

    def test_wrong_units_are_not_learned_from(self, tmp_path):
        machine = bearing(tmp_path / "bearing")
        wrong = write_table(machine / "train" / "9.csv", shaken(seed=9) * 1000)
        detector = fit(machine)
        assert any("far beyond the full scale of 50 g" in note for note in detector.stored.notes)
        assert len(detector.fingerprint) < 9
        assert wrong.name not in detector.stored.recordings_seen.values()


class TestAxes:
    @pytest.fixture
    def machine(self, tmp_path):
        for number in range(10):
            axes = np.stack([np.ones(38400), shaken(seed=number)])  # x is dead
            write_table(tmp_path / "bearing" / "train" / f"{number}.csv", axes)
        (tmp_path / "sensor.yaml").write_text(f"sample_rate: {RATE}\n")
        return tmp_path / "bearing"

    def test_a_model_uses_the_axis_it_is_asked_to(self, machine):
        by_name = fit(machine, **{"audio.channel": "y"})
        by_number = fit(machine, **{"audio.channel": "1"})
        clip = machine / "train" / "0.csv"
        score = by_name.score(clip)
        assert score.value == by_number.score(clip).value
        assert "axis y of 2" in score.notes
        assert f"{RATE} Hz, axis y, g" in by_name.card()

    def test_nothing_is_learned_from_a_dead_axis(self, machine):
        with pytest.raises(SsdptError, match=r"none of the .* recordings .* channel 0 hold one"):
            fit(machine)

    def test_an_axis_that_is_not_there(self, machine):
        with pytest.raises(SsdptError, match="there is no axis z; it has x, y"):
            fit(machine, **{"audio.channel": "z"})

    def test_the_command_takes_a_name(self, machine, tmp_path, cli):
        answer = cli("fit", machine, "--channel", "y", "--out", tmp_path / "model")
        assert answer.code == 0, answer.err
        stored = json.loads((tmp_path / "model" / "config.json").read_text())
        assert stored["config"]["audio"]["channel"] == "y"


class TestSharedReference:
    def test_a_lone_vibration_sensor_learns_from_itself(self, detector):
        assert any(
            "this machine's recordings alone: no reference is for a vibration sensor" in note
            for note in detector.stored.notes
        )
        assert not detector.system.shared_reference.spread

    def test_vibration_at_16_khz_does_not_take_the_simulated_plant(self, tmp_path):
        sensor = fit(bearing(tmp_path / "bearing", clips=4, rate=16000))
        assert not sensor.system.shared_reference.spread
        microphone = fit(write_folder(tmp_path / "fan"))
        assert microphone.system.shared_reference.origin == "the simulated plant"

    def test_machines_learn_only_from_those_of_their_rate_and_sensor(self, tmp_path):
        for name, rate in (("a", RATE), ("b", RATE), ("c", 12800)):
            bearing(tmp_path / "plant" / name, clips=4, rate=rate)
        write_folder(tmp_path / "plant" / "fan", clips=4)
        config = load_config(
            "tiny", {"system": "multiview", "multiview.network.training.epochs": 1}
        )
        fit_fleet(read_layout(tmp_path / "plant"), config, tmp_path / "models")
        fleet = Fleet.load(tmp_path / "models")
        networks = {name: fleet[name].system.shared_reference.networks for name in fleet}
        assert {name for name, trained in networks.items() if trained} == {"a", "b"}
        assert {name: fleet[name].sample_rate for name in fleet} == {
            "a": RATE,
            "b": RATE,
            "c": 12800,
            "fan": 16000,
        }

    def test_a_reference_of_another_kind_is_left(self, machine, tmp_path):
        microphone = fit(write_folder(tmp_path / "fan"))
        detector = Detector.fit(machine, shared_reference=microphone.system.shared_reference)
        assert (
            "other machines have another sample rate or sensor: nothing is taken from them"
            in detector.stored.notes
        )
        assert not detector.system.shared_reference.spread


def test_features_are_computed_again_when_the_sensor_changes(tmp_path):
    machine = bearing(tmp_path / "bearing", clips=4)
    first = fit(machine).config.audio.full_scale
    (machine / "sensor.yaml").write_text(f"sample_rate: {RATE}\nunit: g\nfull_scale: 10\n")
    detector = fit(machine)
    assert (first, detector.config.audio.full_scale) == (50.0, 10.0)
    mean = detector.frames(machine / "train" / "0.csv")[:, :128].mean()
    stored = detector.stored.description["mean_spectra"]["00"]
    assert np.mean(stored) == pytest.approx(mean, abs=1)  # not 14 dB lower

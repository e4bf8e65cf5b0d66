"""From recordings to a calibrated system: what is used, what is left out, what is held out."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import soundfile

from sounds import RATE, hum, write_clip, write_folder
from ssdpt import Detector
from ssdpt.config.tree import load_config
from ssdpt.data.split import divided
from ssdpt.detection import fitting
from ssdpt.errors import SsdptError
from ssdpt.features.cache import FeatureSet
from ssdpt.types import Recording


def config(**changes):
    return load_config("tiny", {"system": "gmm", **changes})


def fit(source, **changes):
    return Detector.fit(source, config=config(**changes))


def view_of(recordings, clips_each=1):
    repeated = tuple(r for r in recordings for _ in range(clips_each))
    frames = np.zeros((len(repeated) * 40, 32), np.float32)
    return FeatureSet(repeated, frames, np.arange(len(repeated) + 1) * 40).all()


def recordings(*sections):
    return [Recording(Path(f"{n}.wav"), "fan", s) for n, s in enumerate(sections)]


def training_folder(folder, clips):
    """A machine of one ID whose clips all train; gives the path of a clip by its number."""

    def path(number):
        return folder / "train" / f"normal_id_00_{number:08}.wav"

    for number in range(clips):
        write_clip(path(number), hum(2, seed=number))
    return path


class TestHoldingOut:
    def test_below_100_clips_every_clip_is_scored_by_a_model_that_has_not_learned_it(self, fan):
        detector = fit(fan)
        assert detector.calibration.cross_fitted
        assert detector.calibration.pooled.clips == 24

    def test_above_it_a_tenth_and_at_least_ten_are_held_out(self, fan, monkeypatch):
        seen = {}

        def watched(clips, groups, settings, fit_part, reporter):
            def remember(part, name):
                seen["fit"] = {r.path for r in part.recordings}
                return fit_part(part, name)

            return original(clips, groups, settings, remember, reporter)

        original = fitting.fit_and_hold_out
        monkeypatch.setattr(fitting, "fit_and_hold_out", watched)
        detector = fit(fan, **{"decision.cross_fit_below": 0})
        assert not detector.calibration.cross_fitted
        assert detector.calibration.pooled.clips == 10
        assert len(seen["fit"]) == 14
        assert len(detector.fingerprint) == 24  # what set the threshold must not test either

    def test_no_recording_is_on_both_sides(self):
        clips = view_of(recordings(*["00"] * 30, *["01"] * 30), clips_each=3)
        parts = divided(clips.recordings, 4, seed=0)
        assert sorted(place for part in parts for place in part) == list(range(180))
        owners = [{clips.recordings[place].path for place in part} for part in parts]
        assert sum(len(owner) for owner in owners) == 60

    @pytest.mark.parametrize("count", [2, 4])
    def test_few_recordings_are_divided_in_time_each(self, count):
        """Every part leaves some of every recording, so no machine ID goes missing."""
        clips = view_of(recordings("00", "01"), clips_each=8)
        for part in divided(clips.recordings, count, seed=0):
            assert {r.section for r in clips.only(part).recordings} == {"00", "01"}
            assert {r.section for r in clips.without(part).recordings} == {"00", "01"}

    def test_hardly_any_clips_still_fill_several_parts(self):
        for number in (2, 3, 4):
            clips = view_of(recordings(*["00"] * number))
            parts = [part for part in divided(clips.recordings, 4, seed=0) if part]
            assert len(parts) == number

    def test_a_large_share_held_out_leaves_something_to_learn_from(self, tmp_path):
        write_clip(tmp_path / "normal" / "long.wav", hum(200))
        detector = fit(tmp_path, **{"decision.held_out": 0.8, "decision.cross_fit_below": 0})
        assert 0 < detector.calibration.pooled.clips < 20

    def test_a_fold_without_two_ids_sets_no_threshold(self, tmp_path):
        """SSDPT cannot learn from the fold that leaves out an ID's only recording."""
        training_folder(tmp_path, clips=6)
        write_clip(tmp_path / "train" / "normal_id_01_00000000.wav", hum(2, seed=9))
        detector = fit(tmp_path, system="ssdpt")
        assert detector.system_name == "ssdpt"
        assert 0 < detector.calibration.pooled.clips < 7

    def test_too_few_of_every_id_is_reported(self, tmp_path):
        for number in range(2):
            write_clip(
                tmp_path / "train" / f"normal_id_0{number}_00000000.wav", hum(2, seed=number)
            )
        with pytest.raises(SsdptError, match="too few clips of each machine ID"):
            fit(tmp_path, system="ssdpt")


class TestIdentity:
    @staticmethod
    def identity(digests=("a", "b"), sections=("00", "01"), **changes):
        return fitting._identity(config(**changes), recordings(*sections), list(digests))

    def test_changes_with_what_changes_the_weights(self):
        base = self.identity()
        assert self.identity() == base
        assert self.identity(digests=("a", "c")) != base
        assert self.identity(sections=("01", "00")) != base
        for change in (
            {"seed": 1},
            {"ssdpt.training.epochs": 9},
            {"decision.held_out": 0.3},
            {"decision.cross_fit_below": 5},
        ):
            assert self.identity(**change) != base

    def test_not_with_what_does_not(self):
        for change in ({"device": "cpu"}, {"decision.false_alarm_rate": 0.01}):
            assert self.identity(**change) == self.identity()


class TestWhatIsUsed:
    def test_one_id_goes_on_with_the_gaussian_and_says_so(self, tmp_path):
        detector = fit(write_folder(tmp_path / "pump"), system="ssdpt")
        assert detector.system_name == "gmm"
        assert detector.config.system == "gmm"
        notes = detector.stored.notes
        assert any("at least two" in note and "system gmm" in note for note in notes)

    def test_faults_among_the_training_clips_are_left_out(self, tmp_path):
        training_folder(tmp_path, clips=6)
        write_clip(tmp_path / "train" / "anomaly_id_00_00000000.wav", hum(2, seed=99))
        detector = fit(tmp_path)
        assert len(detector.fingerprint) == 6
        assert any("anomaly_id_00_00000000.wav" in note for note in detector.stored.notes)

    def test_the_unusable_is_named_and_the_rest_goes_on(self, tmp_path):
        train = training_folder(tmp_path, clips=6)
        whole = train(0).read_bytes()
        train(6).write_bytes(b"not a sound")
        train(7).write_bytes(whole[: len(whole) // 2])
        soundfile.write(train(8), np.full(RATE, np.nan), RATE, subtype="FLOAT")
        soundfile.write(train(9), np.zeros(2 * RATE), RATE)
        write_clip(train(10), hum(0.3))
        detector = fit(tmp_path)
        assert len(detector.fingerprint) == 6
        notes = " | ".join(detector.stored.notes)
        assert f"{train(6)}: not a readable sound file" in notes
        assert f"{train(7)}: cut short" in notes
        assert "left out: 1 more that cannot be used" in notes
        assert f"shorter than 1 s: {train(10).name}" in notes

    def test_long_recordings_become_clips(self, tmp_path):
        write_clip(tmp_path / "normal" / "long.wav", hum(62))
        detector = fit(tmp_path)
        assert detector.stored.description["clips"] == 6
        assert len(detector.fingerprint) == 1

    def test_copies_are_reported(self, tmp_path):
        normal = write_folder(tmp_path) / "normal"
        (normal / "again.wav").write_bytes((normal / "take-0.wav").read_bytes())
        assert any("copies of others" in note for note in fit(tmp_path).stored.notes)

    @pytest.mark.parametrize(
        ("clips", "seconds", "message"),
        [(3, 0.3, "shorter than 1 s"), (1, 3.0, "is not enough")],
    )
    def test_too_little_sound_is_reported(self, tmp_path, clips, seconds, message):
        write_folder(tmp_path, clips, seconds)
        with pytest.raises(SsdptError, match=message):
            fit(tmp_path)

    def test_nothing_usable_is_reported(self, tmp_path):
        (tmp_path / "normal").mkdir()
        for name in ("a.wav", "b.wav"):
            (tmp_path / "normal" / name).write_bytes(b"no sound")
        with pytest.raises(SsdptError, match="none of the 2 recordings can be used"):
            fit(tmp_path)

    def test_no_normal_recordings_is_reported(self, tmp_path):
        write_clip(tmp_path / "train" / "anomaly_id_00_00000000.wav", hum(2))
        with pytest.raises(SsdptError, match="no normal recordings"):
            fit(tmp_path)
        with pytest.raises(SsdptError, match="no recordings"):
            fit([])

    def test_strict_refuses_another_rate(self, tmp_path):
        train = training_folder(tmp_path, clips=6)
        write_clip(train(6), hum(2, rate=44100), 44100)
        assert len(fit(tmp_path).fingerprint) == 7
        with pytest.raises(SsdptError, match=r"44\.1 kHz.*--strict"):
            Detector.fit(tmp_path, config=config(), strict=True)

    def test_several_machines_need_a_name(self, simulated):
        with pytest.raises(SsdptError, match="fan, valve"):
            fit(simulated)
        assert Detector.fit(simulated, config=config(), machine="valve").machine == "valve"
        with pytest.raises(SsdptError, match="machine lathe"):
            Detector.fit(simulated, config=config(), machine="lathe")

"""Adding new normal clips to a fitted model."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import soundfile

from ssdpt import Detector
from ssdpt.config.tree import load_config
from ssdpt.data.layouts import read_layout, without_domain
from ssdpt.detection.adaptation import possible_faults
from ssdpt.errors import SsdptError
from ssdpt.fleet.fleet import Fleet, fit_fleet
from ssdpt.fleet.fleet import fitted as fitted_model
from ssdpt.types import Recording

# Six clips a section know too little for a low rate: with this one all new sound alarms.
LOOSE = {"decision.false_alarm_rate": 0.95, "decision.alarm_ratio": 1.0}
SETTINGS = load_config("tiny", {"system": "texture", **LOOSE})


@pytest.fixture(scope="module")
def fitted(simulated, tmp_path_factory):
    """Models of both machines that have learned no clip of the target domain."""
    out = tmp_path_factory.mktemp("adapting") / "models"
    fit_fleet(without_domain(read_layout(simulated), "target"), SETTINGS, out)
    return out


@pytest.fixture
def models(fitted, tmp_path):
    return Path(shutil.copytree(fitted, tmp_path / "models"))


@pytest.fixture
def detector(fitted):
    return Detector.load(fitted / "fan")


def _clips(machine, kind, section="00"):
    return sorted(machine.rglob(f"section_{section}_{kind}_*.wav"))


def _content(folder):
    return {path.name: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_clips_are_taken_as_normal_and_kept(detector, fan, tmp_path):
    clips = _clips(fan, "target_train")
    before = [detector.score(clip) for clip in clips]
    thresholds = detector.calibration
    adaptation = detector.adapt(clips)
    after = [detector.score(clip) for clip in clips]
    assert [item.path for item in adaptation.taken] == clips
    assert all(score.is_anomalous for score in before)
    assert not any(score.is_anomalous for score in after)
    assert detector.calibration == thresholds
    detector.save(tmp_path / "adapted")
    again = Detector.load(tmp_path / "adapted")
    assert [again.score(clip).value for clip in clips] == pytest.approx(
        [score.value for score in after], abs=1e-4
    )
    assert len(again.fingerprint) == 18 + len(clips)
    assert f"section 00, target domain): {clips[0].name}" in again.card()
    assert again.facts()["system"]["clips"] == 18 + len(clips)


def test_the_other_sections_stay(detector, fan):
    others = _clips(fan, "target_test_normal", "01")
    before = [detector.score(clip).value for clip in others]
    detector.adapt(_clips(fan, "target_train"))
    assert [detector.score(clip).value for clip in others] == before


def test_a_clip_that_was_learned_is_left_out_and_named(detector, fan):
    learned, new = _clips(fan, "source_train")[0], _clips(fan, "target_train")
    adaptation = detector.adapt([learned, *new, new[0]])
    assert [item.path for item in adaptation.taken] == new
    assert adaptation.warnings[0] == (
        f"left out, learned by this model already: {learned.name}, {new[0].name}"
    )
    with pytest.raises(SsdptError, match="nothing to take as normal: left out, learned"):
        detector.adapt(new)


def test_a_clip_called_anomalous_is_left_out(detector, fan):
    faulty = _clips(fan, "target_test_anomaly")[0]
    assert faulty.name in detector.adapt([*_clips(fan, "target_train"), faulty]).warnings[0]
    with pytest.raises(SsdptError, match="anomalous by name"):
        detector.adapt([faulty])


def _unnamed(clip, folder):
    return Path(shutil.copy(clip, folder / f"{clip.stem[-8:]}.wav"))


def test_the_machine_id_must_be_known(detector, fan, tmp_path):
    clip = _unnamed(_clips(fan, "target_train")[0], tmp_path)
    with pytest.raises(SsdptError, match="its ID is not known; the model knows 00, 01, 02"):
        detector.adapt([clip])
    with pytest.raises(SsdptError, match="ID 07 is not in the model"):
        detector.adapt([clip], section="07")
    recording = Recording(clip, "fan", section="01")
    assert detector.adapt([recording]).taken == (recording,)


@pytest.mark.parametrize(
    ("samples", "sentence"),
    [
        (np.zeros(160_000), "silent"),
        (np.random.default_rng(0).normal(size=8_000) / 9, r"0\.50 s are too short"),
        (np.full(160_000, np.nan), "not numbers"),
    ],
)
def test_a_clip_that_cannot_be_used_leaves_the_model_as_it_was(
    detector, fan, tmp_path, samples, sentence
):
    clips = _clips(fan, "target_train")
    before = [detector.score(clip).value for clip in clips]
    bad = tmp_path / "bad.wav"
    soundfile.write(bad, samples, 16000, subtype="FLOAT")
    with pytest.raises(SsdptError, match=sentence):
        detector.adapt([*clips, bad], section="00")
    assert [detector.score(clip).value for clip in clips] == before
    assert len(detector.fingerprint) == 18


def _warnings(scores, thresholds=(1.0, 2.0)):
    names = [Recording(Path(f"{number}.wav"), "fan") for number in range(len(scores))]
    return possible_faults(names, scores, thresholds)


def test_the_clip_that_stands_out_is_suspicious():
    assert _warnings([10.0, 11.0, 9.5, 10.4]) == []  # a new condition: all of them are anomalous
    assert _warnings([0.1, 0.2, 1.9]) == []  # below the alarm threshold
    (warning,) = _warnings([0.1, 0.2, 30.0, 0.3])
    assert warning.startswith("2.wav: scores 30, above the alarm threshold (2) and far above the")
    (warning,) = _warnings([10.0, 30.0])
    assert warning.startswith("1.wav")
    (warning,) = _warnings([2.5])
    assert "no other clip to compare it with" in warning


def test_a_suspicious_clip_is_warned_of_and_taken(detector, fan, tmp_path):
    normal = _clips(fan, "source_test_normal")
    faulty = _unnamed(_clips(fan, "source_test_anomaly")[0], tmp_path)
    adaptation = detector.adapt([*normal, faulty], section="00", domain="source")
    assert [warning for warning in adaptation.warnings if str(faulty) in warning] == list(
        adaptation.warnings
    )
    assert len(adaptation.warnings) == 1
    assert len(adaptation.taken) == len(normal) + 1


def test_adapt_in_place_and_elsewhere(cli, models, simulated, tmp_path):
    clips = [
        *_clips(simulated / "fan", "target_train"),
        *_clips(simulated / "valve", "target_train", "02"),
    ]
    before = _content(models)
    answer = cli("adapt", models, *clips, "--out", tmp_path / "new")
    assert answer.code == 0, answer.err
    assert answer.out.splitlines() == [
        f"fan: 2 recordings added as normal -> {tmp_path / 'new' / 'fan'}",
        f"valve: 2 recordings added as normal -> {tmp_path / 'new' / 'valve'}",
    ]
    assert _content(models) == before
    assert cli("score", tmp_path / "new", *clips).code == 0
    assert cli("score", models, *clips).code == 1
    untouched = (models / "valve" / "model.safetensors").read_bytes()
    assert cli("adapt", models, *clips[:2]).code == 0
    assert (models / "valve" / "model.safetensors").read_bytes() == untouched
    assert cli("score", models, *clips[:2]).code == 0


def test_nothing_is_written_where_one_machine_refuses(cli, models, simulated, tmp_path):
    unknown = _unnamed(_clips(simulated / "valve", "target_train")[0], tmp_path)
    manifest = tmp_path / "clips.csv"
    rows = [f"{_clips(simulated / 'fan', 'target_train')[0]},fan,00", f"{unknown},valve,"]
    manifest.write_text("\n".join(["path,machine,section", *rows]))
    before = _content(models)
    answer = cli("adapt", models, manifest)
    assert answer.code == 2
    assert "its ID is not known" in answer.err
    assert _content(models) == before


def test_a_model_that_cannot_be_written_stays_as_it_was(cli, models, fan, monkeypatch):
    before = _content(models)

    def fail(path, content):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("ssdpt.detection.storage.write_json", fail)
    answer = cli("adapt", models, *_clips(fan, "target_train"))
    assert answer.code == 2
    assert "the disk is full" in answer.err
    assert _content(models) == before
    assert sorted(path.name for path in models.iterdir()) == ["fan", "index.json", "valve"]


def test_an_exported_model_is_refused():
    class Exported:
        """A judge that is no fitted model."""

    with pytest.raises(SsdptError, match="there: is exported already; give the model it was made"):
        fitted_model(Fleet({"fan": Exported()}, {"fan": Path("there")}), "fan")


def test_adapt_refuses_what_is_no_domain_or_no_machine_of_the_model(cli, models, fan):
    clip = _clips(fan, "target_train")[0]
    answer = cli("adapt", models, clip, "--domain", "here")
    assert answer.code == 2
    assert "'here' is not" in answer.err
    assert "no model for machine pump" in cli("adapt", models, clip, "--machine", "pump").error


def test_feedback_takes_a_false_alarm_back(cli, models, fan):
    clip = _clips(fan, "target_test_normal")[0]
    assert cli("score", models, clip).code == 1
    answer = cli("feedback", models, clip, "--normal")
    assert answer.code == 0, answer.err
    assert "(alarm) -> " in answer.out
    assert "(normal), alert above" in answer.out
    assert answer.err == ""
    assert cli("score", models, clip).code == 0
    faulty = _clips(fan, "source_test_anomaly")
    assert cli("score", models, *faulty).out.count("normal ") == 0
    assert "learned by this model already" in cli("feedback", models, clip, "--normal").error


def test_feedback_requires_that_the_machine_is_called_healthy(cli, models, fan):
    answer = cli("feedback", models, _clips(fan, "target_test_normal")[0])
    assert answer.code == 2
    assert "--normal" in answer.error


def test_a_system_that_cannot_absorb_says_so(fan, tmp_path):
    config = load_config("tiny", {"system": "gmm"})
    detector = Detector.fit(fan, config=config)
    before = detector.stored
    with pytest.raises(SsdptError, match="gmm cannot take up new normal clips without being"):
        detector.adapt(_clips(fan, "target_test_normal"))
    assert detector.stored is before


def test_a_one_machine_one_id_model_needs_no_section(fan, tmp_path):
    recordings = [
        replace(item, section="00")
        for item in read_layout(fan).recordings
        if item.section == "00" and item.domain == "source"
    ]
    detector = Detector.fit(recordings, config=SETTINGS)
    clip = _unnamed(_clips(fan, "target_train")[0], tmp_path)
    (taken,) = detector.adapt([clip]).taken
    assert taken.section == "00"

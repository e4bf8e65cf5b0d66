"""Commissioning a fitted model: clips of another day set its thresholds."""

from __future__ import annotations

import sys
from dataclasses import replace

import numpy as np
import pytest
import soundfile

from ssdpt import Detector
from ssdpt.config.tree import load_config
from ssdpt.data.layouts import read_layout
from ssdpt.errors import SsdptError
from ssdpt.types import Clip

RATE = 16000
SETTINGS = load_config("tiny", {"system": "texture"})


def sound(seed, *, day=0.0, fault=0.0, seconds=2):
    """Hum and noise; `day` colours the noise as another microphone position does."""
    random = np.random.default_rng(seed)
    time = np.arange(seconds * RATE) / RATE
    noise = random.standard_normal(time.size)
    noise = noise + day * np.roll(noise, 1)
    hum = sum(np.sin(2 * np.pi * 120 * k * time + random.uniform(0, 6)) / k for k in range(1, 6))
    whistle = fault * np.sin(2 * np.pi * 3100 * time)
    samples = 0.02 * hum * random.uniform(0.9, 1.1) + 0.01 * noise + 0.05 * whistle
    return samples.astype(np.float32)


def clips(seeds, **changes):
    return [Clip(sound(seed, **changes), RATE, name=f"clip-{seed}") for seed in seeds]


def write(folder, seeds, **changes):
    folder.mkdir(parents=True, exist_ok=True)
    for seed in seeds:
        soundfile.write(folder / f"{seed:04d}.wav", sound(seed, **changes), RATE)
    return folder


@pytest.fixture(scope="module")
def fitted():
    return Detector.fit(clips(range(40)), config=SETTINGS, machine="fan")


@pytest.fixture
def detector(fitted, tmp_path):
    fitted.save(tmp_path / "fitted")
    return Detector.load(tmp_path / "fitted")


def yes(question):
    return True


def test_a_model_of_one_recording_says_so(fitted):
    tail = fitted.calibration.pooled
    assert (tail.recordings, tail.provisional) == (1, True)
    assert fitted.provisional == "a single recording"
    assert "made of a single recording" in fitted.card()


def test_thresholds_are_those_of_the_other_day(detector, tmp_path):
    other_day = clips(range(100, 140), day=0.6)
    commissioning = detector.commission(other_day[:10], confirm=yes)
    (section,) = commissioning.sections
    assert section.clips == 10
    scores = [detector.score(clip) for clip in other_day[10:]]
    assert np.mean([score.is_anomalous for score in scores]) < 0.35
    faulty = [detector.score(clip) for clip in clips(range(200, 210), day=0.6, fault=1.0)]
    assert all(score.is_anomalous for score in faulty)
    assert detector.provisional == ""
    detector.save(tmp_path / "commissioned")
    again = Detector.load(tmp_path / "commissioned")
    assert again.calibration == detector.calibration
    assert again.score(other_day[20]).value == pytest.approx(scores[10].value, abs=1e-4)
    assert "commissioned on" in again.card()
    assert f"alert above {section.before[0]:.4f}" in again.card()
    assert len(again.fingerprint) == 50


def test_without_an_answer_nothing_is_learned(detector):
    asked = []

    def no(question):
        asked.append(question)
        return False

    before = detector.stored
    strange = clips(range(100, 110), fault=1.0)
    values = [detector.score(clip).value for clip in strange]
    commissioning = detector.commission(strange, confirm=no)
    assert detector.stored is before
    assert [detector.score(clip).value for clip in strange] == values
    assert commissioning.sections == ()
    assert commissioning.declined == tuple(asked)
    (question,) = asked
    assert "fan, ID 00: sounds different from the recordings it learned from, steadily" in question


def test_a_minority_of_faults_is_not_learned(detector):
    given = [*clips(range(100, 108)), *clips(range(200, 202), fault=1.0)]
    commissioning = detector.commission(given, confirm=yes)
    assert commissioning.sections[0].clips == 8
    (warning,) = commissioning.warnings
    assert "clip-200, clip-201" in warning
    assert detector.score(clips([203], fault=1.0)[0]).level == "alarm"


def test_too_few_clips_are_refused_and_nothing_changes(detector):
    before = detector.stored
    with pytest.raises(SsdptError, match="at least 5 normal clips"):
        detector.commission(clips(range(100, 104)), confirm=yes)
    assert detector.stored is before


def test_one_long_recording_will_do(detector):
    long = Clip(sound(100, seconds=90), RATE, name="long")
    (section,) = detector.commission([long], confirm=yes).sections
    assert detector.calibration.pooled.commissioned.clips == 9
    assert section.clips == 1


def test_a_system_that_cannot_take_up_clips_says_so(fan):
    detector = Detector.fit(fan, config=load_config("tiny", {"system": "gmm"}))
    clip = next(item for item in read_layout(fan).recordings if item.split == "test")
    with pytest.raises(SsdptError, match="gmm cannot take up new normal clips"):
        detector.commission([clip], confirm=yes)


def test_only_the_sections_given_are_commissioned(fan):
    dataset = read_layout(fan)
    detector = Detector.fit(dataset.recordings, config=SETTINGS)
    normal = [
        replace(item, section="01")
        for item in dataset.recordings
        if item.split == "test" and item.label == "normal"
    ]
    before = detector.calibration
    detector.commission(normal, section="01", confirm=yes)
    assert detector.calibration.tail("01").commissioned is not None
    assert detector.calibration.tail("00") == before.tail("00")
    assert detector.provisional != ""  # the other sections are


class TestCommand:
    @pytest.fixture
    def model(self, fitted, tmp_path):
        fitted.save(tmp_path / "model")
        return tmp_path / "model"

    def test_score_says_that_the_threshold_is_provisional(self, cli, model, tmp_path):
        answer = cli("score", model, write(tmp_path / "clips", range(100, 102)))
        assert answer.err.count("provisional threshold, made of a single recording") == 1
        assert "provisional" not in answer.out

    def test_score_commissions_the_model_in_place(self, cli, model, tmp_path):
        folder = write(tmp_path / "clips", range(100, 110), day=0.2)
        answer = cli("score", model, folder, "--commission", "--yes")
        assert answer.code == 0, answer.err
        assert "fan, ID 00: commissioned with 10 clips: alert above" in answer.out
        later = cli("score", model, write(tmp_path / "later", range(300, 303), day=0.2))
        assert "provisional" not in later.err

    def test_nobody_there_to_answer_means_no(self, cli, model, tmp_path):
        before = {path.name: path.read_bytes() for path in model.iterdir()}
        folder = write(tmp_path / "clips", range(100, 110), fault=1.0)
        answer = cli("score", model, folder, "--commission")
        assert answer.code == 1
        assert "is it healthy? Nothing was learned" in answer.err
        assert "--yes" in answer.err
        assert {path.name: path.read_bytes() for path in model.iterdir()} == before

    def test_a_person_at_the_terminal_is_asked_once(self, cli, model, tmp_path, monkeypatch):
        asked = []
        monkeypatch.setattr(sys.stdin, "isatty", lambda: True, raising=False)

        def confirm(question, **options):
            asked.append(question)
            return True

        monkeypatch.setattr("typer.confirm", confirm)
        folder = write(tmp_path / "clips", range(100, 110), fault=1.0)
        assert cli("score", model, folder, "--commission").code == 0
        assert len(asked) == 1

    def test_it_does_not_go_with_shards_or_another_hop(self, cli, model, tmp_path):
        folder = write(tmp_path / "clips", range(100, 110))
        for option in (("--out", tmp_path / "out"), ("--hop", "2")):
            answer = cli("score", model, folder, "--commission", *option)
            assert answer.code == 2
            assert "--commission" in answer.error

    def test_fit_commissions_at_once(self, cli, tmp_path):
        data = write(tmp_path / "data" / "fan" / "normal", range(30))
        other = write(tmp_path / "other", range(100, 110))
        arguments = ("fit", data.parent, "--preset", "tiny", "--system", "texture")
        plain = cli(*arguments, "--out", tmp_path / "plain")
        assert plain.code == 0, plain.err
        assert "provisional threshold, made of a single recording" in plain.err
        answer = cli(*arguments, "--out", tmp_path / "model", "--commission", other)
        assert answer.code == 0, answer.err
        assert "commissioned with 10 clips" in answer.out
        assert "provisional" not in answer.err
        assert Detector.load(tmp_path / "model").provisional == ""

    def test_fit_refuses_a_system_that_cannot_before_it_trains(self, cli, tmp_path):
        data = write(tmp_path / "data" / "fan" / "normal", range(3))
        arguments = ("fit", data.parent, "--preset", "tiny", "--system", "gmm")
        answer = cli(*arguments, "--out", tmp_path / "model", "--commission", data)
        assert answer.code == 2
        assert "gmm cannot be commissioned" in answer.error
        assert not (tmp_path / "model").exists()

"""The public Python interface: fit, load, score, any sound file, changed thresholds."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

import numpy as np
import pytest
import soundfile

from sounds import RATE, hum, write_clip, write_folder
from ssdpt import Clip, Detector
from ssdpt.config.tree import load_config
from ssdpt.errors import SsdptError
from ssdpt.types import Recording

FLOAT_WAV = {"format": "WAV", "subtype": "FLOAT"}


@pytest.fixture(scope="module")
def clip(fan):
    return sorted((fan / "source_test").glob("section_01*normal*.wav"))[0]


@pytest.fixture(params=["ssdpt", "gmm"])
def detector(request, models):
    return Detector.load(models[request.param])


def test_a_score_has_all_that_was_promised(detector, clip):
    score = detector.score(clip)
    assert (score.path, score.machine, score.section) == (str(clip), "fan", "01")
    assert score.level in {"normal", "alert", "alarm"}
    assert 0 < score.p_value <= 1
    assert score.parts
    assert len(score.timeline.value) > 1
    assert score.is_anomalous == (score.value > score.threshold) == (score.level != "normal")
    assert score.notes == ()


def test_at_the_threshold_a_clip_is_normal(detector, clip):
    from dataclasses import replace

    score = detector.score(clip)
    assert not replace(score, value=score.threshold).is_anomalous
    assert replace(score, value=np.nextafter(score.threshold, np.inf)).is_anomalous


def test_the_scores_of_training_and_of_files_agree(fan, detectors):
    """From the cache and from the file: the same number."""
    from ssdpt.config.settings import AudioConfig
    from ssdpt.data.layouts import recording_of
    from ssdpt.features.cache import features_of

    detector = detectors["ssdpt"]
    path = sorted((fan / "train").iterdir())[0]
    cached = features_of([recording_of(path)], AudioConfig(), detector.system.front_end)
    value = detector._system.score([cached.clip(0)], "00").value
    assert detector.score(path, section="00").value == value


@pytest.mark.parametrize(
    ("name", "rate", "channels", "seconds", "notes"),
    [
        ("cd.wav", 44100, 2, 3.0, ["resampled from 44100 Hz to 16000 Hz", "channel 0 of 2"]),
        ("array.wav", 16000, 8, 3.0, ["channel 0 of 8"]),
        ("blip.wav", 16000, 1, 0.3, ["0.30 s, shorter than a segment (0.51 s): repeated"]),
        ("phone.mp3", 44100, 1, 3.0, ["resampled from 44100 Hz to 16000 Hz"]),
        ("small.flac", 16000, 1, 3.0, []),
        ("small.ogg", 16000, 1, 3.0, []),
    ],
)
def test_any_sound_file(detector, tmp_path, name, rate, channels, seconds, notes):
    samples = np.repeat(hum(seconds, rate=rate)[:, None], channels, axis=1)
    samples[:, 1:] = 0
    path = write_clip(tmp_path / name, samples, rate)
    score = detector.score(path, section="00")
    assert np.isfinite(score.value)
    assert list(score.notes) == notes
    plain = detector.score(write_clip(tmp_path / "plain.wav", hum(seconds)), section="00")
    if rate == RATE and name != "small.ogg":
        assert score.value == pytest.approx(plain.value, rel=1e-3, abs=1e-3)


def test_strict_refuses_another_rate(detector, tmp_path):
    path = write_clip(tmp_path / "cd.wav", hum(2, rate=44100), 44100)
    with pytest.raises(SsdptError, match=r"44\.1 kHz, 1 channel; this model expects 16 kHz"):
        detector.score(path, strict=True)


def test_minutes_pass_in_blocks(detector, tmp_path, monkeypatch):
    """The whole recording is never in memory: no block is longer than half a minute."""
    path = write_clip(tmp_path / "long.wav", hum(100))
    longest = []
    stream = detector.system.front_end.stream

    def watched(blocks):
        for frames in stream(blocks):
            longest.append(len(frames))
            yield frames

    monkeypatch.setattr(detector.system.front_end, "stream", watched)
    blocks = detector.score(path, section="00").value
    assert len(longest) > 3
    assert max(longest) < 1000
    monkeypatch.undo()
    whole = detector._system.score([detector.frames(path)], "00").value
    assert blocks == pytest.approx(whole, rel=1e-5)


def test_a_clip_without_id_is_scored_by_rule(detector, tmp_path):
    path = write_clip(tmp_path / "today.wav", hum(2))
    assert any("no machine ID was given" in note for note in detector.score(path).notes)


def test_a_machine_of_one_id_needs_no_telling(tmp_path):
    detector = Detector.fit(write_folder(tmp_path / "pump"), config="tiny")
    assert detector.machine == "pump"
    score = detector.score(write_clip(tmp_path / "today.wav", hum(2, seed=77)))
    assert score.notes == ()
    assert score.section == detector.sections[0]
    assert score.level == "normal"


def test_a_strange_sound_scores_higher(tmp_path):
    detector = Detector.fit(write_folder(tmp_path / "pump"), config="tiny")
    noise = np.random.default_rng(0).normal(0, 0.2, 2 * RATE).astype(np.float32)
    score = detector.score(write_clip(tmp_path / "noise.wav", noise))
    assert score.level == "alarm"
    assert score.p_value < 0.01


def test_thresholds_move_without_retraining(model, clip):
    detector = Detector.load(model)
    before = detector.score(clip)
    arrays = {name: value.copy() for name, value in detector.stored.arrays.items()}
    detector.calibrate(0.01)
    after = detector.score(clip)
    assert (after.value, after.p_value) == (before.value, before.p_value)
    assert after.threshold > before.threshold
    assert detector.false_alarm_rate == 0.01
    detector.save_calibration(model)
    again = Detector.load(model)
    assert again.score(clip).threshold == after.threshold
    for name, value in again.stored.arrays.items():
        np.testing.assert_array_equal(value, arrays[name])
    assert "rate of 0.01 (alert)" in (model / "README.md").read_text()
    for rate in (0, 1, -0.1, 2):
        with pytest.raises(SsdptError, match="between 0 and 1"):
            detector.calibrate(rate)


def test_what_it_knows_of_itself(detector, fan, clip):
    assert detector.machine == "fan"
    assert detector.sections == ("00", "01", "02")
    assert detector.sample_rate == RATE
    assert detector.frame_seconds == 512 / RATE
    assert len(detector.frequencies) == 32
    assert len(detector.fingerprint) == 24
    assert len(detector.audio(clip)) == 10 * RATE
    assert detector.frames(clip).shape == (313, 32)


def test_the_map_of_a_file(detector, clip, tmp_path):
    for section in (None, "01", "77"):
        anomaly_map = detector.anomaly_map(clip, section=section)
        assert anomaly_map.shape == (313, 32)
        assert (anomaly_map >= 0).all()


def test_a_model_can_be_moved_and_needs_no_training_data(models, tmp_path, clip):
    moved = shutil.copytree(models["ssdpt"], tmp_path / "elsewhere")
    alone = shutil.copy(clip, tmp_path)
    value = Detector.load(moved).score(alone, section="01").value
    assert value == Detector.load(models["ssdpt"]).score(clip).value


@pytest.mark.parametrize("content", [b"", b"not a sound", None])
def test_a_file_that_is_no_sound(detector, tmp_path, content):
    path = tmp_path / "x.wav"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(SsdptError, match=r"x\.wav"):
        detector.score(path)


def test_another_hop_is_that_of_a_model_fitted_with_it(models, clip, tmp_path):
    import json

    own = shutil.copytree(models["ssdpt"], tmp_path / "own")
    content = json.loads((own / "config.json").read_text())
    content["config"]["ssdpt"]["hop"] = 4
    (own / "config.json").write_text(json.dumps(content))
    fitted = Detector.load(own).score(clip)
    chosen = Detector.load(models["ssdpt"], hop=4).score(clip)
    assert (chosen.value, chosen.threshold) == (fitted.value, fitted.threshold)
    np.testing.assert_array_equal(chosen.timeline.start, fitted.timeline.start)
    assert fitted.notes == ()
    assert chosen.notes == ("hop 4; its thresholds were set at hop 16",)
    plain = Detector.load(models["ssdpt"]).score(clip)
    same = Detector.load(models["ssdpt"], hop="16").score(clip)
    assert plain.value != chosen.value
    assert (same.value, same.notes) == (plain.value, ())


def test_another_hop_is_not_saved(models, tmp_path):
    detector = Detector.load(models["ssdpt"], hop=2)
    assert detector.config.ssdpt.hop == 2
    detector.save(tmp_path / "again")
    assert Detector.load(tmp_path / "again").config.ssdpt.hop == 16


def test_the_hop_of_a_gaussian_hardly_changes_its_score(models, clip):
    detectors = [Detector.load(models["gmm"], hop=hop) for hop in (None, 1)]
    plain, fine = (detector.score(clip) for detector in detectors)
    assert fine.value == pytest.approx(plain.value, rel=0.01)
    assert detectors[1].remarks == ("hop 1; its thresholds were set at hop 16",)
    assert len(fine.timeline.value) > 10 * len(plain.timeline.value)


def normal_clips(count=6, rate=RATE, sections=("00",)):
    return [
        Clip(hum(2, seed=number, rate=rate), rate, section=sections[number % len(sections)])
        for number in range(count)
    ]


@pytest.mark.parametrize(
    ("samples", "rate", "sentence"),
    [
        (np.zeros((100, 2), np.float32), RATE, r"samples are 100×2; give one channel"),
        (np.float32(0.1), RATE, "a single number; give one channel"),
        (np.zeros(0, np.float32), RATE, "holds no samples"),
        (np.zeros(100, np.int16), RATE, r"type int16; give floats .* / 32768"),
        (np.array([0.1, np.nan]), RATE, "not numbers"),
        (np.array([0.1, np.inf]), RATE, "not numbers"),
        (np.array([0.1, -32768.0]), RATE, "the largest sample is 3.277e"),
        (np.full(100, 0.1), 0, "0 Hz is not a sample rate"),
        (np.full(100, 0.1), 10**9, "is not a sample rate"),
    ],
)
def test_a_clip_that_is_no_sound_is_refused_in_a_sentence(samples, rate, sentence):
    with pytest.raises(SsdptError, match=f"pump: .*{sentence}") as caught:
        Clip(samples, rate, name="pump")
    assert "\n" not in str(caught.value)


def test_a_clip_is_known_by_its_content():
    samples = hum(1)
    clip = Clip(samples.astype(np.float64), RATE, section="01")
    assert clip.samples.dtype == np.float32
    assert clip.seconds == 1.0
    assert clip.digest == Clip(samples, RATE, name="other").digest
    assert clip.digest != Clip(samples, 8000).digest
    assert clip.digest != Clip(hum(1, seed=1), RATE).digest


@pytest.mark.parametrize("rate", [RATE, 44100])
def test_a_clip_scores_as_its_file(detector, tmp_path, rate):
    samples = hum(3, rate=rate)
    path = write_clip(tmp_path / "now.wav", samples, rate, subtype="FLOAT")
    clip = Clip(samples, rate, section="01", name="now")
    score, of_file = detector.score(clip), detector.score(path, section="01")
    assert (score.value, score.level, score.notes) == (of_file.value, of_file.level, of_file.notes)
    assert (score.path, score.section, score.machine) == ("now", "01", "fan")
    assert detector.score(clip, section="02").section == "02"
    np.testing.assert_array_equal(detector.audio(clip), detector.audio(path))
    np.testing.assert_array_equal(detector.frames(clip), detector.frames(path))
    np.testing.assert_array_equal(
        detector.anomaly_map(clip), detector.anomaly_map(path, section="01")
    )
    if rate != RATE:
        with pytest.raises(SsdptError, match=r"now: 44\.1 kHz, 1 channel; this model expects"):
            detector.score(clip, strict=True)


def test_a_silent_clip_is_refused(detector):
    with pytest.raises(SsdptError, match=r"clip: silent: all 1 s"):
        detector.score(Clip(np.zeros(RATE), RATE))


@pytest.mark.parametrize("rate", [RATE, 44100])
@pytest.mark.parametrize("changes", [{"system": "texture"}, {"system": "ssdpt"}, {"system": "gmm"}])
def test_a_fit_of_clips_is_that_of_their_files(tmp_path, changes, rate):
    clips = normal_clips(8, rate, sections=("00", "01"))
    recordings = [
        Recording(
            write_clip(tmp_path / f"clip-{number:04d}", clip.samples, rate, **FLOAT_WAV),
            *("pump", clip.section),
            split="train",
            label="normal",
        )
        for number, clip in enumerate(clips)
    ]
    config = load_config("tiny", changes)
    of_clips = Detector.fit(clips, config=config, machine="pump")
    of_files = Detector.fit(recordings, config=config)
    assert of_clips.machine == of_files.machine == "pump"
    assert of_clips.sections == of_files.sections == ("00", "01")
    assert of_clips.calibration == of_files.calibration
    new = Clip(hum(3, seed=99), RATE, section="01")
    assert of_clips.score(new).value == of_files.score(new).value
    assert of_clips.fingerprint == {clip.digest for clip in clips}


def test_a_fit_of_clips_writes_no_sound_and_leaves_nothing(tmp_path, monkeypatch):
    for name in ("tmp", "cache", "work"):
        (tmp_path / name).mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "tmp"))
    monkeypatch.setenv("SSDPT_CACHE", str(tmp_path / "cache"))
    shared_memory = Path("/dev/shm")
    before = set(shared_memory.iterdir()) if shared_memory.is_dir() else set()

    def written(*arguments, **options):
        raise AssertionError("a sound file was written")

    monkeypatch.setattr(soundfile, "write", written)
    monkeypatch.setattr(soundfile, "SoundFile", written)
    clips = normal_clips(8, sections=("00", "01"))
    config = load_config("tiny")
    detector = Detector.fit(clips, config=config, machine="pump")
    assert np.isfinite(detector.score(clips[0]).value)
    assert list((tmp_path / "tmp").iterdir()) == []
    # While it runs, the working folder holds the training's state, and neither sound nor frames.
    Detector.fit(clips, config=config, machine="pump", work=tmp_path / "work")
    names = {path.name for path in (tmp_path / "work").rglob("*") if path.is_file()}
    assert names <= {"training.jsonl", "checkpoint.safetensors"}
    assert list((tmp_path / "cache").iterdir()) == []
    if shared_memory.is_dir():
        assert not [path for path in set(shared_memory.iterdir()) - before if "ssdpt" in path.name]


def test_clips_to_learn_from_are_distinguished():
    same = [Clip(hum(2), RATE) for _ in range(3)]
    with pytest.raises(SsdptError, match="clips in memory: all recordings are copies of one clip"):
        Detector.fit(same, config="tiny")
    with pytest.raises(SsdptError, match="clips in memory: one normal clip"):
        Detector.fit(normal_clips(1), config="tiny")
    with pytest.raises(SsdptError, match="no recordings were given"):
        Detector.fit([], config="tiny")
    with pytest.raises(SsdptError, match="sound files and clips in memory were given together"):
        Detector.fit([*same, Recording(Path("a.wav"), "pump")], config="tiny")
    named = [Clip(clip.samples, RATE, name=f"at {at}") for at, clip in enumerate(normal_clips(6))]
    seen = Detector.fit(named, config="tiny").stored.recordings_seen
    assert sorted(seen.values()) == [f"at {number}" for number in range(6)]


def test_a_model_adapts_to_clips():
    config = load_config("tiny", {"system": "texture"})
    detector = Detector.fit(normal_clips(), config=config, machine="pump")
    loud = [Clip(3 * hum(2, seed=20 + number), RATE) for number in range(3)]
    before = detector.score(loud[0]).value
    adaptation = detector.adapt([*loud, loud[0]])
    assert len(adaptation.taken) == 3
    assert "learned by this model already: clip" in adaptation.warnings[0]
    assert detector.score(loud[0]).value < before
    assert {clip.digest for clip in loud} < detector.fingerprint
    with pytest.raises(SsdptError, match=r"clip: 0\.50 s are too short to learn from"):
        detector.adapt([Clip(hum(0.5), RATE)])

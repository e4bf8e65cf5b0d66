"""Models with an encoder: whole in their folder, and used like any other model."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import soundfile

from sounds import hum
from ssdpt import Detector
from ssdpt.config.encoder import EncoderConfig
from ssdpt.config.tree import load_config, with_overrides
from ssdpt.data.layouts import read_layout
from ssdpt.errors import SsdptError
from ssdpt.features import encoder as encoders
from ssdpt.features.cache import features_of
from ssdpt.fleet.fleet import Fleet, add_to_fleet, export_fleet, fit_fleet, only_machines
from ssdpt.monitor.capture.frame_window import FrameWindow
from ssdpt.monitor.scoring.live_model import LiveModel, ScoringCursor
from ssdpt.runtime.export import ExportSettings
from ssdpt.types import Clip
from tiny_encoders import FILTERS, RATE, SIDECAR, write_encoder


@pytest.fixture(scope="module")
def encoder(tmp_path_factory):
    return write_encoder(tmp_path_factory.mktemp("encoder") / "tiny.onnx", sidecar=SIDECAR)


@pytest.fixture(scope="module")
def config(encoder):
    return load_config("tiny", {"system": "texture", "encoder.file": str(encoder)})


@pytest.fixture(scope="module")
def detector(fan, config):
    return Detector.fit(fan, config=config)


@pytest.fixture(scope="module")
def saved(detector, tmp_path_factory):
    folder = tmp_path_factory.mktemp("saved") / "model"
    detector.save(folder)
    return folder


@pytest.fixture
def model(saved, tmp_path):
    """A model folder of one's own."""
    return Path(shutil.copytree(saved, tmp_path / "model"))


@pytest.fixture
def clips(fan):
    return sorted((fan / "source_test").glob("*.wav"))[:6]


def values(detector, clips):
    return [detector.score(clip).value for clip in clips]


def test_its_view_counts_beside_the_others(detector, fan, clips):
    for section in detector.system.section_models.values():
        assert list(section.views)[-1] == "encoder"
        assert section.views["encoder"].matrix.shape == (FILTERS, FILTERS)
        assert 0 < section.views["encoder"].weight < 1
    score = detector.score(clips[0])
    assert score.parts["encoder"] != 0
    plain = Detector.fit(fan, config=load_config("tiny", {"system": "texture"})).score(clips[0])
    for name, value in plain.parts.items():
        assert score.parts[name] == pytest.approx(value, rel=1e-5)


def test_its_weight_can_be_set(fan, config):
    changes = {"encoder.weight": 4.5}  # as much as the five others
    models = Detector.fit(fan, config=with_overrides(config, changes)).system.section_models
    assert models["00"].views["encoder"].weight == pytest.approx(0.5)


def test_it_can_be_the_only_view(fan, config, clips):
    detector = Detector.fit(fan, config=with_overrides(config, {"texture.views": []}))
    assert set(detector.score(clips[0]).parts) == {"encoder"}


def test_a_model_needs_nothing_outside_its_folder(fan, tmp_path, clips):
    """Moved to another place, with the encoder's own file gone, it scores the same."""
    encoder = write_encoder(tmp_path / "away.onnx", sidecar=SIDECAR)
    config = load_config("tiny", {"system": "texture", "encoder.file": str(encoder)})
    detector = Detector.fit(fan, config=config)
    detector.save(tmp_path / "made")
    expected, digest = values(detector, clips), detector.digest
    moved = tmp_path / "moved"
    (tmp_path / "made").rename(moved)
    encoder.unlink()
    encoders._open.cache_clear()
    loaded = Detector.load(moved)
    assert values(loaded, clips) == expected
    assert loaded.digest == digest
    assert str(tmp_path) not in (moved / "config.json").read_text("utf-8")
    loaded.save(moved)  # in its own place
    loaded.save(tmp_path / "copy")
    assert values(Detector.load(tmp_path / "copy"), clips) == expected


def test_the_card_names_hash_and_licence(detector, saved):
    card = (saved / "README.md").read_text("utf-8")
    assert f"digest {detector.config.part(EncoderConfig).digest}" in card
    assert "Licence: none: random numbers" in card
    assert "Source: not named" in card
    assert "| section | spectrum | roughness | modulation | envelope | rhythm | encoder |" in card


def test_another_encoder_in_the_folder_is_refused(model):
    write_encoder(model / "encoder.onnx", seed=1)
    with pytest.raises(SsdptError, match=r"encoder\.onnx: damaged or of another model"):
        Detector.load(model)
    (model / "encoder.onnx").unlink()
    with pytest.raises(SsdptError, match=r"encoder\.onnx: this file of the model is missing"):
        Detector.load(model)


def test_the_folder_cannot_name_a_file_elsewhere(model, tmp_path, clips):
    expected = values(Detector.load(model), clips)
    head = json.loads((model / "config.json").read_text("utf-8"))
    head["config"]["encoder"]["file"] = str(write_encoder(tmp_path / "other.onnx", seed=1))
    (model / "config.json").write_text(json.dumps(head), "utf-8")
    encoders._open.cache_clear()
    assert values(Detector.load(model), clips) == expected


def test_a_folder_that_says_too_little_of_its_encoder(model):
    head = json.loads((model / "config.json").read_text("utf-8"))
    del head["config"]["encoder"]["sidecar"]
    (model / "config.json").write_text(json.dumps(head), "utf-8")
    with pytest.raises(SsdptError, match="damaged model: what its encoder takes"):
        Detector.load(model)


@pytest.mark.parametrize("change", ["changed", "gone"])
def test_an_encoder_that_changes_before_saving(fan, tmp_path, change):
    encoder = write_encoder(tmp_path / "a.onnx", sidecar=SIDECAR)
    config = load_config("tiny", {"system": "texture", "encoder.file": str(encoder)})
    detector = Detector.fit(fan, config=config)
    encoder.unlink()
    if change == "changed":
        write_encoder(encoder, seed=1)
    with pytest.raises(SsdptError, match=f"{change} since the fit"):
        detector.save(tmp_path / "model")
    assert not (tmp_path / "model").exists()


def test_cached_streamed_and_whole_frames_agree(detector, clips):
    recording = read_layout(clips[0]).recordings[0]
    audio = detector.config.audio
    cached = features_of([recording], audio, detector.front_end).clip(0)
    samples, _ = soundfile.read(clips[0], dtype="float32")
    blocks = np.split(samples, range(1111, len(samples), 1111))
    streamed = np.concatenate(list(detector.front_end.stream(blocks)))
    np.testing.assert_array_equal(cached, streamed)
    assert np.isfinite(cached[:, -1]).any()


def test_it_scores_live(detector):
    sound = 0.1 * np.random.default_rng(0).standard_normal(12 * 16000).astype(np.float32)
    model, section = LiveModel(detector), detector.sections[0]
    frames = detector.front_end(sound)
    window, cursor = FrameWindow(2000, frames.shape[1]), ScoringCursor(section)
    window.add(frames)
    (score,) = model.score([(window, cursor)])
    expected = detector.system.score([frames[-model.clip_frames :]], section)
    assert score.value == pytest.approx(expected.value)
    assert score.parts["encoder"] == pytest.approx(expected.parts["encoder"])


def test_frames_too_few_for_a_window_count_as_normal_in_its_view(detector, clips):
    frames = detector.frames(clips[0])[:12]
    score = detector.system.score([frames], detector.sections[0])
    assert score.parts["encoder"] == 0
    assert np.isfinite(score.value)


def test_it_takes_new_normal_clips(model, fan):
    detector = Detector.load(model)
    new = sorted((fan / "source_test").glob("section_00*normal*.wav"))[:3]
    before = [detector.score(clip).parts["encoder"] for clip in new]
    detector.adapt(new)
    detector.save(model)
    after = [Detector.load(model).score(clip).parts["encoder"] for clip in new]
    assert sum(after) < sum(before)


def test_it_is_commissioned_with_clips_in_memory(config, tmp_path):
    def clips(seeds, level):
        return [Clip(level * hum(2.0, seed), 16000, name=f"clip-{seed}") for seed in seeds]

    detector = Detector.fit(clips(range(20), 1.0), config=config, machine="pump")
    other_day = clips(range(100, 120), 0.8)
    before = [detector.score(clip).value for clip in other_day[10:]]
    commissioning = detector.commission(other_day[:10], confirm=lambda question: True)
    assert commissioning.sections[0].clips == 10
    assert sum(detector.score(clip).value for clip in other_day[10:]) < sum(before)
    detector.save(tmp_path / "model")
    assert Detector.load(tmp_path / "model").calibration == detector.calibration


def test_machines_are_added_with_the_same_encoder(simulated, config, tmp_path):
    dataset = read_layout(simulated)
    first, second = dataset.machines
    out = tmp_path / "models"
    fit_fleet(dataset, config, out)
    # The second machine is not there any more, but there is still a folder of several.
    (out / second).rename(out / "other")
    index = {"format": 1, "machines": {first: first, "other": "other"}}
    (out / "index.json").write_text(json.dumps(index), "utf-8")
    added = add_to_fleet(only_machines(dataset, [second]), out, {})
    assert "encoder" in added[second].system.section_models["00"].views
    copies = [(out / machine / "encoder.onnx").read_bytes() for machine in (first, second)]
    assert copies[0] == copies[1]


def test_it_cannot_be_exported_and_the_sentence_says_what_to_do(saved, tmp_path):
    with pytest.raises(SsdptError, match="a model with an encoder cannot be exported") as refused:
        export_fleet(Fleet.load(saved), tmp_path / "out", lambda _: ExportSettings())
    assert not (tmp_path / "out").exists()
    says = "copy the model folder itself, which scores wherever ssdpt[edge] is installed, without"
    assert f"{saved}: " in str(refused.value)
    assert says in str(refused.value)


def test_the_folder_scores_without_torch(saved, detector, clips):
    code = """
import sys
for name in ("torch", "scipy", "sklearn", "onnx"):
    sys.modules[name] = None
import ssdpt
print(ssdpt.load(sys.argv[1]).score(sys.argv[2]).value)
"""
    command = [sys.executable, "-c", code, str(saved), str(clips[0])]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert float(done.stdout) == pytest.approx(detector.score(clips[0]).value)


def test_networks_and_an_encoder_go_together(fan, encoder, clips):
    config = load_config(
        "tiny", {"system": "multiview", "encoder.file": str(encoder), "device": "cpu"}
    )
    assert {"encoder", "spectrum"} < set(Detector.fit(fan, config=config).score(clips[0]).parts)


class TestCommands:
    def test_fit_score_and_info(self, cli, fan, encoder, tmp_path):
        folder = tmp_path / "model"
        normal = sorted((fan / "source_test").glob("section_00*normal*.wav"))
        answer = cli(
            *("fit", fan, "--preset", "tiny", "--system", "texture"),
            *("--encoder", encoder, "--out", folder),
        )
        assert answer.code == 0, answer.err
        # 8 kHz, of recordings at 16 kHz
        assert "its view covers the part below 4000 Hz" in answer.err
        answer = cli("score", folder, *normal, "--format", "jsonl")
        assert answer.code in {0, 1}
        assert "encoder" in json.loads(answer.out.splitlines()[0])["parts"]
        assert "encoder tiny.onnx" in cli("info", folder).out

    def test_mistakes_are_one_sentence(self, cli, fan, tmp_path):
        arguments = ("fit", fan, "--preset", "tiny", "--out", tmp_path / "model", "--encoder")
        file = tmp_path / "a.onnx"
        unreadable = cli(*arguments, file, "--system", "texture")
        assert "this encoder cannot be read" in unreadable.err
        assert "takes no encoder" in cli(*arguments, file, "--system", "gmm").error
        write_encoder(file)
        answer = cli(*arguments, file, "--system", "texture")
        assert (answer.code, "sample_rate: 32000" in answer.err) == (2, True)

    def test_a_machine_that_is_added_has_the_encoder_of_the_model(self, cli, fan, encoder, saved):
        answer = cli("fit", fan, "--add-to", saved, "--encoder", encoder)
        assert "--encoder cannot be used with --add-to" in answer.error


def test_a_rate_as_high_as_the_recordings_needs_no_note(fan, tmp_path):
    encoder = write_encoder(tmp_path / "a.onnx", sidecar={**SIDECAR, "sample_rate": 2 * RATE})
    config = load_config("tiny", {"system": "texture", "encoder.file": str(encoder)})
    notes = Detector.fit(fan, config=config).stored.notes
    assert not any("covers the part below" in note for note in notes)

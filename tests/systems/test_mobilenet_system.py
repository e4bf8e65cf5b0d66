"""The baseline classifier: its three scores, what it learns, and its exported form."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from ssdpt.config.tree import load_config
from ssdpt.features.cache import FeatureSet
from ssdpt.nn.mobilenet import MobileNetV2
from ssdpt.systems.base import FitContext
from ssdpt.systems.mobilenet.classifier import MobileNetSystem
from ssdpt.types import Recording

CLIPS, FRAMES, BINS = 12, 48, 32


@pytest.fixture(scope="module")
def clips():
    """Section 00 is louder at low frequencies, section 01 at high ones."""
    rng = np.random.default_rng(0)
    recordings = tuple(Recording(Path(f"{n}.wav"), "fan", f"0{n % 2}") for n in range(CLIPS))
    frames = rng.normal(-40, 4, (CLIPS, FRAMES, BINS))
    frames[::2, :, : BINS // 2] += 10
    frames[1::2, :, BINS // 2 :] += 10
    array = frames.reshape(-1, BINS).astype(np.float32)
    return FeatureSet(recordings, array, np.arange(CLIPS + 1) * FRAMES).all()


def settings(**changes):
    return load_config("tiny", {"system": "mnv2", "mnv2.training.batch_size": 12, **changes})


def untrained(**changes):
    config = settings(**changes)
    network = MobileNetSystem.build(config, 3).eval()
    return MobileNetSystem(config, ("00", "01", "02"), network)


@pytest.fixture(scope="module")
def trained(clips, tmp_path_factory):
    config = settings(**{"mnv2.training.epochs": 12, "mnv2.training.hop": 4})
    return MobileNetSystem.fit(clips, config, FitContext(tmp_path_factory.mktemp("work"), "x"))


def test_the_defaults_are_the_baselines():
    config = load_config("paper").mnv2
    assert (config.width, config.frames, config.hop) == (0.5, 64, 1)
    training = config.training
    assert (training.epochs, training.batch_size, training.hop) == (20, 32, 8)
    assert (training.optimiser, training.learning_rate) == ("adam", 1e-5)
    assert (training.schedule, training.clip_norm) == ("constant", None)
    assert MobileNetSystem.parameter_count(load_config("paper"), 3) == 691_523


def test_the_three_forms_of_the_score():
    logits = torch.randn(7, 3, dtype=torch.float64)
    p = logits.softmax(1)
    expected = {
        "negative-log": -p.log(),
        "log-odds": ((1 - p) / p).log(),
        "dcase": ((1 - p) - p.log()).log(),
    }
    for form, value in expected.items():
        system = untrained(**{"mnv2.score": form})
        torch.testing.assert_close(system.forms(logits)[form], value)
        assert system.weights == {name: float(name == form) for name in expected}


@pytest.mark.parametrize("form", ["negative-log", "log-odds", "dcase"])
def test_scores_are_finite_and_ordered_where_the_network_is_certain(form):
    system = untrained()
    certain = torch.tensor([[1e4, 0.0, 0.0], [60.0, 0.0, 0.0], [0.0, 1e4, 0.0]])
    scores = system.forms(certain)[form]
    assert scores.isfinite().all()
    assert scores[0, 0] <= scores[1, 0] < scores[2, 0]


def test_a_clip_is_the_mean_over_its_segments(trained, clips):
    score = trained.score([clips.source.clip(0)], "00")
    assert set(score.parts) == {"negative-log", "log-odds", "dcase"}
    assert len(score.timeline.value) == (FRAMES - 16) // 16 + 1
    assert score.value == pytest.approx(score.timeline.value.mean(), rel=1e-5)
    whole = clips.source.clip(0)[:16]
    p = trained.network(torch.from_numpy(whole[None])).softmax(1)[0, 0].item()
    assert score.timeline.value[0] == pytest.approx(-np.log(p), rel=1e-3, abs=1e-5)


def test_it_learns_to_tell_the_sections_apart(trained, clips):
    for place, section in [(0, "00"), (1, "01")]:
        clip = [clips.source.clip(place)]
        other = "01" if section == "00" else "00"
        assert trained.score(clip, section).value + 1 < trained.score(clip, other).value


def test_one_pass_of_the_network_gives_all_sections(trained, clips, monkeypatch):
    passes = []
    outputs = trained._outputs

    def counted(segments):
        passes.append(len(segments))
        return outputs(segments)

    monkeypatch.setattr(trained, "_outputs", counted)
    score_as = trained.score_sections(lambda: [clips.source.clip(0)])
    assert [score_as(section).value for section in trained.sections]
    assert passes == [3]


def test_several_clips_together_score_as_each_alone(trained, clips, monkeypatch):
    together = [clips.source.clip(0), clips.source.clip(1)[:5], clips.source.clip(2)[:40]]
    alone = [trained.score([frames], "01") for frames in together]
    monkeypatch.setattr(type(trained), "on_gpu", True)  # a GPU is given all at once
    for score_as, expected in zip(trained.score_many(together), alone, strict=True):
        score = score_as("01")
        np.testing.assert_allclose(score.timeline.value, expected.timeline.value, rtol=1e-4)


def test_the_copy_for_scoring_follows_the_network(trained, clips):
    system = MobileNetSystem(trained.config, trained.sections, trained.network)
    before = system.score([clips.source.clip(0)], "00").value
    other = MobileNetSystem.build(settings(seed=7), 2)
    system.network = other.eval()
    system.to(torch.device("cpu"))
    assert system.score([clips.source.clip(0)], "00").value != before


def test_weights_for_another_number_of_bins_are_refused(trained):
    other = settings(**{"features.n_mels": 64})
    state = trained.sections, trained.arrays(), trained.description()
    with pytest.raises(ValueError, match="another front end"):
        MobileNetSystem.restore(other, *state)


def test_half_an_hour_passes_in_bounded_batches(trained, monkeypatch):
    sizes = []
    monkeypatch.setattr(
        trained,
        "_outputs",
        lambda segments: (sizes.append(len(segments)), torch.zeros(len(segments), 2))[1],
    )
    rng = np.random.default_rng(0)
    blocks = (rng.normal(size=(938, BINS)).astype(np.float32) for _ in range(60))
    score = trained.score(blocks, "00")
    assert max(sizes) <= trained._at_once
    assert len(score.timeline.value) == (60 * 938 - 16) // 16 + 1


def test_the_exported_graph_scores_the_same(fan, tmp_path, monkeypatch):
    from ssdpt import Detector
    from ssdpt.fleet.fleet import Fleet, export_fleet
    from ssdpt.runtime import export
    from ssdpt.runtime.export import ExportSettings
    from ssdpt.runtime.manifest import read_manifest
    from ssdpt.runtime.verify import BOUND

    monkeypatch.setattr(export, "CLIPS", 6)
    config = settings(**{"decision.cross_fit_below": 0, "mnv2.training.batch_size": 64})
    Detector.fit(fan, config=config).save(tmp_path / "model")
    fleet = Fleet.load(tmp_path / "model", device="cpu")
    export_fleet(fleet, tmp_path / "export", lambda _: ExportSettings())
    checked = read_manifest(tmp_path / "export").verification
    assert checked.largest_relative < BOUND
    assert checked.decisions_differ == 0


def test_the_graph_has_a_score_for_every_section_and_the_pooled_embedding(trained, clips):
    frames = clips.source.clip(0)
    graph = trained.graph().eval()
    with torch.no_grad():
        output = graph(torch.from_numpy(frames.copy()))
    scores = torch.from_numpy(
        np.stack([trained.score([frames], s).timeline.value for s in trained.sections], axis=1)
    )
    torch.testing.assert_close(output.parts[0], scores, rtol=1e-4, atol=1e-5)
    assert output.embedding.shape == (3, MobileNetV2(2, width=0.1).trunk.outputs)
    assert output.clip is None

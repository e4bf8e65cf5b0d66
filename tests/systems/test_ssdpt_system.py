"""What is special about SSDPT: the options where the paper is silent or contradicts itself."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from ssdpt.config.tree import load_config
from ssdpt.errors import SsdptError, SsdptWarning
from ssdpt.features.cache import FeatureSet
from ssdpt.systems.base import FitContext
from ssdpt.systems.ssdpt.system import Ssdpt, class_name
from ssdpt.types import Recording

CLIPS, FRAMES, BINS = 6, 48, 32


@pytest.fixture
def clips():
    rng = np.random.default_rng(0)
    recordings = tuple(
        Recording(Path(f"{n}.wav"), "fan", f"0{n % 2}", attributes=(("speed", str(n % 3)),))
        for n in range(CLIPS)
    )
    frames = rng.normal(-40, 8, (CLIPS * FRAMES, BINS)).astype(np.float32)
    return FeatureSet(recordings, frames, np.arange(CLIPS + 1) * FRAMES).all()


def settings(**changes):
    return load_config("tiny", {"ssdpt.training.epochs": 1, **changes})


@pytest.fixture
def fitted(clips, tmp_path):
    def fit(**changes):
        return Ssdpt.fit(clips, settings(**changes), FitContext(tmp_path / "work", "x"))

    return fit


def test_the_score_is_identity_plus_beta_times_reconstruction(fitted, clips):
    system = fitted(**{"ssdpt.beta": 0.5})
    score = system.score([clips.source.clip(0)], "00")
    assert set(score.parts) == {"identity", "reconstruction"}
    expected = score.parts["identity"] + 0.5 * score.parts["reconstruction"]
    assert score.value == pytest.approx(expected)


def test_the_two_forms_of_the_identity_score(fitted, clips):
    frames = [clips.source.clip(0)]
    odds = fitted(**{"ssdpt.score": "log-odds"}).score(frames, "00").timeline.parts["identity"]
    dcase = fitted(**{"ssdpt.score": "dcase"}).score(frames, "00").timeline.parts["identity"]
    p = 1 / (1 + np.exp(odds.astype(float)))
    np.testing.assert_allclose(dcase, np.log((1 - p) - np.log(p)), rtol=1e-4, atol=1e-5)


def test_the_score_is_finite_where_the_network_is_certain(fitted, clips):
    system = fitted()
    with torch.no_grad():
        system.network.classifier.bias += torch.tensor([1e4, 0.0])
    score = system.score([clips.source.clip(0)], "00")
    assert np.isfinite(score.value)
    assert score.value < -9000


def test_hop_one_and_hop_eight(fitted):
    frames = np.random.default_rng(1).normal(-40, 8, (313, BINS)).astype(np.float32)
    for hop, count in [(1, 250), (8, 32)]:
        changes = {"ssdpt.hop": hop, "ssdpt.frames": 64}
        assert len(fitted(**changes).score([frames], "00").timeline.value) == count


def test_classes_are_sections_or_sections_with_attributes(fitted, clips):
    recording = clips.recordings[4]
    plain, rich = settings(), settings(**{"ssdpt.classes": "section+attributes"})
    assert class_name(recording, plain.ssdpt) == ("00", "")
    assert class_name(recording, rich.ssdpt) == ("00", "speed=1")
    assert len(fitted().classes) == 2
    system = fitted(**{"ssdpt.classes": "section+attributes"})
    assert len(system.classes) == 6
    assert system.sections == ("00", "01")
    assert np.isfinite(system.score([clips.source.clip(0)], "00").value)


def test_one_section_is_refused_whatever_its_attributes():
    config = settings(**{"ssdpt.classes": "section+attributes"})
    one = [Recording(Path("a"), "fan", "00", attributes=(("speed", str(n)),)) for n in range(4)]
    assert "at least two" in Ssdpt.refusal(one, config)


def test_the_description_counts_both_ways(fitted):
    described = fitted().description()
    assert described["parameters_paper_count"] < described["parameters"]
    assert described["classes"] == [["00", ""], ["01", ""]]


def test_too_little_memory_means_fewer_segments_at_once(fitted, clips, monkeypatch):
    system = fitted(**{"ssdpt.hop": 1})
    frames = [clips.source.frames[:40]]
    whole = system.score(frames, "00")
    at_once = system._at_once

    def hungry(run):
        if len(run) > 16 + 2:  # more than three segments
            raise torch.OutOfMemoryError
        return at_once(run)

    monkeypatch.setattr(system, "_at_once", hungry)
    with pytest.warns(SsdptWarning, match="fewer segments at once"):
        halved = system.score(frames, "00")
    np.testing.assert_allclose(halved.timeline.value, whole.timeline.value, rtol=1e-5, atol=1e-6)

    def starving(run):
        raise torch.OutOfMemoryError

    monkeypatch.setattr(system, "_at_once", starving)
    with pytest.warns(SsdptWarning), pytest.raises(SsdptError, match="even one segment"):
        system.score(frames, "00")

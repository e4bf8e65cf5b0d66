"""SSDPT without its auxiliary task: the machine ID alone, whatever the settings say."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from ssdpt import Detector
from ssdpt.config.tree import load_config
from ssdpt.features.cache import FeatureSet
from ssdpt.systems.base import FitContext
from ssdpt.systems.ssdpt.system import Ssdpt
from ssdpt.systems.ssdpt.without_auxiliary import SsdptWithoutAuxiliary
from ssdpt.types import Recording

CLIPS, FRAMES, BINS = 8, 80, 32


@pytest.fixture(scope="module")
def clips():
    rng = np.random.default_rng(0)
    recordings = tuple(Recording(Path(f"{n}.wav"), "fan", f"0{n % 2}") for n in range(CLIPS))
    frames = rng.normal(-40, 8, (CLIPS * FRAMES, BINS)).astype(np.float32)
    return FeatureSet(recordings, frames, np.arange(CLIPS + 1) * FRAMES).all()


@pytest.fixture
def sound():
    return np.random.default_rng(9).normal(-40, 8, (FRAMES, BINS)).astype(np.float32)


def settings(**changes):
    return load_config("tiny", {"system": "ssdpt-noaux", "ssdpt.training.batch_size": 8, **changes})


def without(clips, place, **changes):
    return SsdptWithoutAuxiliary.fit(clips, settings(**changes), FitContext(place, "x"))


def test_without_the_auxiliary_task_the_score_is_the_identity(clips, sound, tmp_path):
    system = without(clips, tmp_path, **{"ssdpt.beta": 0.5})
    score = system.score([sound], "00")
    assert set(score.parts) == {"identity", "reconstruction"}
    assert score.parts["reconstruction"] > 0
    assert score.value == score.parts["identity"]


def test_without_it_no_setting_of_it_matters(clips, sound, tmp_path):
    plain = without(clips, tmp_path / "a").score([sound], "00").value
    changes = {"ssdpt.alpha": 10.0, "ssdpt.mask.kind": "specaugment", "ssdpt.target": "raw"}
    assert without(clips, tmp_path / "b", **changes).score([sound], "00").value == plain
    bare = {"ssdpt.alpha": 0.0, "ssdpt.beta": 0.0, "ssdpt.mask.kind": "none"}
    config = settings(**{"system": "ssdpt", **bare})
    same = Ssdpt.fit(clips, config, FitContext(tmp_path / "c", "x"))
    assert same.score([sound], "00").value == plain
    masked = settings(**{"system": "ssdpt", "ssdpt.alpha": 0.0, "ssdpt.beta": 0.0})
    other = Ssdpt.fit(clips, masked, FitContext(tmp_path / "d", "x"))
    assert other.score([sound], "00").value != plain
    unmixed = without(clips, tmp_path / "e", **{"ssdpt.mixup": 0.0})
    assert unmixed.score([sound], "00").value != plain  # mixup stays


def test_without_it_restored_and_exported_alike(clips, sound, tmp_path):
    config = settings(**{"ssdpt.beta": 0.5})
    system = SsdptWithoutAuxiliary.fit(clips, config, FitContext(tmp_path, "x"))
    back = SsdptWithoutAuxiliary.restore(
        config, system.sections, system.arrays(), system.description()
    )
    score = system.score([sound], "01").value
    assert back.score([sound], "01").value == score
    graph = back.graph()
    with torch.no_grad():
        identity, reconstruction = graph(torch.from_numpy(sound)).parts
    means = identity[:, 1].mean(), reconstruction[:, 1].mean()
    whole = sum(w * m for w, m in zip(graph.weights.values(), means, strict=True))
    assert float(whole) == pytest.approx(score, rel=1e-4, abs=1e-5)


def test_without_it_the_stored_settings_stay_as_given(fan):
    given = load_config("tiny", {"system": "ssdpt-noaux", "decision.cross_fit_below": 0})
    detector = Detector.fit(fan, config=given)
    assert detector.stored.config == given
    assert given.ssdpt.mask.kind == "patch"
    assert detector.config.ssdpt.mask.kind == "none"

"""What is special about SSDPT: the options where the paper is silent or contradicts itself."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from ssdpt.config import load_config
from ssdpt.features.cache import FeatureSet
from ssdpt.nn.losses import mixed_cross_entropy
from ssdpt.systems import ssdpt as module
from ssdpt.systems.base import FitContext
from ssdpt.systems.ssdpt import Ssdpt, class_name
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


def objective(clips, **changes):
    config = settings(**changes)
    network = module._build(config, 2)
    return module._Objective(network, clips, [n % 2 for n in range(CLIPS)], config)


def dice(seed=0):
    return torch.Generator().manual_seed(seed)


@pytest.fixture
def fitted(clips, tmp_path):
    def fit(**changes):
        return Ssdpt.fit(clips, settings(**changes), FitContext(tmp_path / "work", "x"))

    return fit


def test_the_loss_is_cross_entropy_plus_alpha_times_the_mean_squared_error(clips):
    plain = {"ssdpt.mixup": 0, "ssdpt.mask.kind": "none", "ssdpt.alpha": 0.25}
    task = objective(clips, **plain)
    index = torch.arange(4)
    loss, parts = task.loss(index, dice())
    segments = task.segments.gather(task.features, index)
    output = task.network(segments)
    expected_c = mixed_cross_entropy(output.logits, task.labels[index], None)
    expected_r = (segments - output.reconstruction).square().mean()
    torch.testing.assert_close(parts["classification"], expected_c)
    torch.testing.assert_close(parts["reconstruction"], expected_r)
    torch.testing.assert_close(loss, expected_c + 0.25 * expected_r)


def test_the_target_is_the_raw_feature_or_the_standardised_one(clips):
    index = torch.arange(8)
    raw, _ = objective(clips, **{"ssdpt.target": "raw", "ssdpt.alpha": 1.0}).loss(index, dice())
    standard = objective(clips, **{"ssdpt.target": "standardised", "ssdpt.alpha": 1.0})
    standardised, _ = standard.loss(index, dice())
    # A LayerNorm output cannot reach −40 dB: against the raw target the error is about 40².
    assert raw > 1000
    assert standardised < 10


def test_the_error_is_a_mean_or_the_formulas_sum(clips):
    index = torch.arange(4)
    _, mean = objective(clips, **{"ssdpt.error": "mean"}).loss(index, dice())
    _, total = objective(clips, **{"ssdpt.error": "sum"}).loss(index, dice())
    size = 16 * BINS
    torch.testing.assert_close(total["reconstruction"], size * mean["reconstruction"])


@pytest.mark.parametrize(("kind", "masked"), [("none", False), ("patch", True), ("time", True)])
def test_masks_are_on_in_training_where_asked(clips, kind, masked):
    task = objective(clips, **{"ssdpt.mask.kind": kind})
    seen = []
    task.network.register_forward_pre_hook(lambda _, arguments: seen.append(arguments[1]))
    task.loss(torch.arange(4), dice())
    assert (seen[0] is not None) == masked


def test_mixup_is_in_decibels_before_the_normalisation(clips):
    task = objective(clips)
    seen = []
    task.network.register_forward_pre_hook(lambda _, arguments: seen.append(arguments[0]))
    index = torch.arange(6)
    task.loss(index, dice(3))
    share, partner = module.draw_mixup(1.0, 6, dice(3))
    segments = task.segments.gather(task.features, index)
    torch.testing.assert_close(seen[0], share * segments + (1 - share) * segments[partner])


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

"""Directions with a margin, then outlier factors among the clips of the own section."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from sklearn.neighbors import LocalOutlierFactor

from ssdpt.config.tree import load_config
from ssdpt.errors import SsdptError
from ssdpt.features.cache import FeatureSet
from ssdpt.systems.base import FitContext
from ssdpt.systems.mobilenet.outlier import MobileNetLof
from ssdpt.types import Recording

FRAMES, BINS = 48, 64


def clips_of(places, *, copies=1, seed=0):
    """(section, domain) of every clip; section 00 is louder at low frequencies, others at high."""
    rng = np.random.default_rng(seed)
    recordings, array = [], []
    for number, (section, domain) in enumerate(places):
        frames = rng.normal(-60, 4, (FRAMES, BINS))
        half = slice(BINS // 2) if section == "00" else slice(BINS // 2, None)
        frames[:, half] += 20
        for copy in range(copies):
            path = Path(f"{number}-{copy}.wav")
            recordings.append(Recording(path, "fan", section, domain=domain))
            array.append(frames)
    stored = np.concatenate(array).astype(np.float16)  # as the cache holds them
    offsets = np.arange(len(recordings) + 1) * FRAMES
    return FeatureSet(tuple(recordings), stored, offsets).all()


def settings(**changes):
    small = {"mnv2_lof.training.batch_size": 12, "mnv2_lof.training.hop": 4}
    return load_config("tiny", {"system": "mnv2-lof", **small, **changes})


def fitted(view, folder, **changes):
    return MobileNetLof.fit(view, settings(**changes), FitContext(folder / "work", "x"))


PLACES = [(f"0{n % 2}", "target" if n > 9 else "source") for n in range(14)]


@pytest.fixture(scope="module")
def view():
    return clips_of(PLACES)


@pytest.fixture(scope="module")
def trained(view, tmp_path_factory):
    steep = {"mnv2_lof.training.learning_rate": 0.003, "mnv2_lof.width": 0.25}
    return fitted(view, tmp_path_factory.mktemp("lof"), **steep, **{"mnv2_lof.training.epochs": 6})


def embedding(system, frames):
    """The mean direction of a clip's segments."""
    (outputs,) = system.outputs_of([frames])
    return outputs.double().mean(0).numpy()


def test_the_score_is_the_factor_of_the_mean_direction_among_the_sections_clips(trained, view):
    new = clips_of([("00", "source")], seed=9).source.clip(0)
    own = [frames for recording, frames in view.clips() if recording.section == "00"]
    references = np.array([embedding(trained, frames) for frames in own])
    theirs = LocalOutlierFactor(n_neighbors=4, novelty=True).fit(references)
    expected = -theirs.score_samples(embedding(trained, new)[None])[0]
    score = trained.score([new], "00")
    assert score.value == pytest.approx(expected, rel=1e-3)
    assert score.parts == {"outlier": score.value}


def test_the_timeline_holds_the_factor_of_every_segment(trained, view):
    frames = view.source.clip(0)
    line = trained.score([frames], "00").timeline
    assert len(line.value) == (FRAMES - 16) // 16 + 1
    (outputs,) = trained.outputs_of([frames])
    assert (outputs.norm(dim=1) - 1).abs().max() < 1e-5
    expected = trained.outliers["00"].factors(outputs.numpy())
    np.testing.assert_allclose(line.value, expected, rtol=1e-4)


def test_a_clip_of_another_section_is_an_outlier(trained, view):
    for place, (section, other) in enumerate([("00", "01"), ("01", "00")]):
        clip = [view.source.clip(place)]
        assert trained.score(clip, other).value > 3 * trained.score(clip, section).value


def test_source_and_target_are_references_together(trained):
    assert trained.description()["references"] == [7, 7]


def test_references_are_bounded_for_each_section_and_domain(view, tmp_path):
    system = fitted(view, tmp_path, **{"mnv2_lof.references": 2, "mnv2_lof.training.epochs": 1})
    assert system.description()["references"] == [4, 4]


def test_copies_of_a_clip_are_one_reference(tmp_path):
    places = [("00", "source")] * 3 + [("01", "source")]
    system = fitted(clips_of(places, copies=4), tmp_path, **{"mnv2_lof.training.epochs": 1})
    assert system.description()["references"] == [3, 1]
    for section in ("00", "01"):
        score = system.score([clips_of(places, seed=1).source.clip(0)], section)
        assert np.isfinite(score.value)
        assert np.isfinite(score.timeline.value).all()


@pytest.mark.parametrize("count", [1, 2])
def test_a_section_of_hardly_any_clips_is_scored(tmp_path, count):
    places = [("00", "source")] * 6 + [("01", "target")] * count
    view = clips_of(places)
    system = fitted(view, tmp_path, **{"mnv2_lof.training.epochs": 2})
    learned, strange = view.source.clip(6), np.full((FRAMES, BINS), -5, np.float32)
    assert np.isfinite(system.score([learned], "01").value)
    assert system.score([strange], "01").value >= system.score([learned], "01").value


def test_several_clips_together_score_as_each_alone(trained, view, monkeypatch):
    together = [view.source.clip(0), view.source.clip(1)[:5], view.source.clip(2)[:40]]
    alone = [trained.score([frames], "01") for frames in together]
    monkeypatch.setattr(type(trained), "on_gpu", True)  # a GPU is given all at once
    for score_as, expected in zip(trained.score_many(together), alone, strict=True):
        assert score_as("01").value == pytest.approx(expected.value, rel=1e-3)
        np.testing.assert_allclose(
            score_as("01").timeline.value, expected.timeline.value, rtol=1e-3
        )


def test_the_references_are_those_of_the_epoch(view, tmp_path):
    """Whoever is shown the system after an epoch sees references of the network of that epoch."""
    seen = []

    def after_epoch(system, epoch):
        own = embedding(system, view.source.clip(0))
        gap = np.abs(system.outliers["00"].references - own).sum(1).min()
        seen.append((epoch, float(gap)))

    context = FitContext(tmp_path / "work", "x", after_epoch=after_epoch)
    MobileNetLof.fit(view, settings(), context)
    assert [epoch for epoch, _ in seen] == [1, 2]
    assert max(gap for _, gap in seen) < 1e-5


def test_foreign_arrays_are_refused(trained):
    arrays, description = trained.arrays(), trained.description()
    state = trained.config, trained.sections
    back = MobileNetLof.restore(*state, arrays, description)
    assert back.description() == description
    for changed in (
        {**arrays, "references": arrays["references"][:, :4]},
        {**arrays, "references": arrays["references"][:-1]},
        {name: value for name, value in arrays.items() if name != "references"},
    ):
        with pytest.raises((KeyError, ValueError)):
            MobileNetLof.restore(*state, changed, description)
    for counts in ([14], [0, 14], [7, 8]):
        with pytest.raises(ValueError, match="another model"):
            MobileNetLof.restore(*state, arrays, {**description, "references": counts})
    with pytest.raises(ValueError, match="another network"):
        MobileNetLof.restore(
            settings(**{"mnv2_lof.n_fft": 256}), trained.sections, arrays, description
        )


def test_the_front_end_is_the_linear_spectrogram_of_its_own_settings():
    config = load_config("paper", {"system": "mnv2-lof"})
    front_end = MobileNetLof.front_end_of(config)
    assert (front_end.name, front_end.bins, front_end.frame_seconds) == ("spectrogram", 1024, 0.032)
    assert MobileNetLof.parameter_count(config, 3) == 853_792


def test_no_sample_goes_unheard():
    with pytest.raises(SsdptError, match="mnv2_lof: hop_length must not exceed n_fft"):
        settings(**{"mnv2_lof.hop_length": 129})


def test_it_is_not_exported(trained):
    with pytest.raises(SsdptError, match="mnv2-lof cannot be exported"):
        trained.graph()


def test_the_loss_has_the_margin_and_the_accuracy_has_not(view):
    config = settings()
    network = MobileNetLof.build(config, 2)
    task = MobileNetLof.objective(network, view, config)
    batch = {"index": torch.arange(0, task.examples, 5)}
    loss, figures = task.loss(batch)
    segments = task.segments.gather(task.features, batch["index"]).float()
    labels = task.labels[batch["index"]]
    embeddings = network(segments)
    expected = torch.nn.functional.cross_entropy(network.head(embeddings, labels), labels)
    torch.testing.assert_close(loss, expected)
    right = network.head.cosines(embeddings).argmax(1) == labels
    torch.testing.assert_close(figures["accuracy"], right.float().mean())

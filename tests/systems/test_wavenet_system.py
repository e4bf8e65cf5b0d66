"""WaveNets on raw samples: what one network learns, and how it scores."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from ssdpt.config.tree import load_config
from ssdpt.features.cache import FeatureSet
from ssdpt.features.waveform import Waveform
from ssdpt.systems.base import FitContext
from ssdpt.systems.wavenet.system import WaveNetEnsemble, WaveNetSystem
from ssdpt.types import Recording

CLIPS, SAMPLES, RATE = 12, 8000, 16000
TONES = {"00": 400.0, "01": 1100.0}  # Hz


def tone(section, seed, level=0.01):
    """A quiet machine: its tone in noise, (samples, 1)."""
    rng = np.random.default_rng(seed)
    time = np.arange(SAMPLES) / RATE
    clean = np.sin(2 * np.pi * (TONES[section] * time + rng.uniform()))
    return (level * (clean + rng.standard_normal(SAMPLES))).astype(np.float32)[:, None]


def clips(level=0.01):
    recordings = [Recording(Path(f"{n}.wav"), "fan", f"0{n % 2}") for n in range(CLIPS)]
    sounds = [tone(item.section, n, level) for n, item in enumerate(recordings)]
    ends = np.arange(CLIPS + 1) * SAMPLES
    return FeatureSet(tuple(recordings), np.concatenate(sounds), ends).all()


def settings(**changes):
    return load_config(
        "tiny",
        {
            "wavenet.samples": 2000,
            "wavenet.hop": 1000,
            "wavenet.members": [{"channels": 8, "stacks": 1, "layers": 4}],
            "wavenet.training.epochs": 8,
            "wavenet.training.learning_rate": 0.01,
            "wavenet.training.batch_size": 8,
            "wavenet.training.hop": 2000,
            **changes,
        },
    )


def fit(work, view=None, **changes):
    context = FitContext(work, "x")
    return WaveNetSystem.fit(view or clips(), settings(**changes), context)


@pytest.fixture(scope="module")
def work(tmp_path_factory):
    return tmp_path_factory.mktemp("work")


@pytest.fixture(scope="module")
def fitted(work):
    return fit(work)


def identity(system, section, scored_as, seed=100):
    return system.score([tone(section, seed)], scored_as).value


def test_it_reads_samples():
    front_end = WaveNetEnsemble.front_end_of(settings())
    assert isinstance(front_end, Waveform)
    assert front_end.frame_seconds == 1 / RATE


def test_it_learns_to_tell_the_sections_apart(fitted, work):
    log = [json.loads(line) for line in (work / "training.jsonl").read_text().splitlines()]
    assert log[-1]["loss"] < log[0]["loss"] / 2
    assert log[-1]["accuracy"] > 0.95
    for own, other in [("00", "01"), ("01", "00")]:
        for seed in range(100, 104):  # clips not in training
            assert identity(fitted, own, own, seed) < 0 < identity(fitted, other, own, seed)


def test_the_clip_is_the_mean_of_its_segments(fitted):
    score = fitted.score([tone("00", 7)], "00")
    assert len(score.timeline.value) == (SAMPLES - 2000) // 1000 + 1
    assert score.timeline.duration == 2000 / RATE
    assert set(score.parts) == {"identity"}
    assert score.value == pytest.approx(score.timeline.value.mean(), rel=1e-6)


def test_the_score_is_the_log_odds_of_the_section(fitted):
    """With two sections the odds of one are those of the other, turned over."""
    sound = tone("00", 7)
    score_as = fitted.score_sections([sound].copy)
    assert score_as("00").value == pytest.approx(-score_as("01").value, rel=1e-5)


def test_quiet_recordings_are_learnt_like_loud_ones(fitted, tmp_path):
    loud = fit(tmp_path, clips(level=0.3))
    assert float(loud.network.level) == pytest.approx(30 * float(fitted.network.level), rel=1e-4)
    for section in TONES:
        value = loud.score([30 * tone(section, 7)], section).value
        assert value == pytest.approx(fitted.score([tone(section, 7)], section).value, rel=0.05)


@pytest.mark.parametrize("preprocessing", ["raw", "pre-emphasis", "levelled"])
def test_silence_is_scored_and_learnt_from(preprocessing, tmp_path):
    member = [{"channels": 4, "stacks": 1, "layers": 2, "preprocessing": preprocessing}]
    changes = {"wavenet.members": member, "wavenet.training.epochs": 1}
    silent = clips(level=0.0)
    system = fit(tmp_path, silent, **changes)
    assert np.isfinite(system.score([silent.source.clip(0)], "00").value)
    assert np.isfinite(system.score([tone("00", 1)], "00").value)


def test_segments_that_lie_apart(tmp_path):
    system = fit(tmp_path, **{"wavenet.hop": 3000, "wavenet.training.epochs": 1})
    sound = tone("00", 7)
    whole = system.score([sound], "00")
    assert len(whole.timeline.value) == 3
    pieces = system.score([sound[first : first + 700] for first in range(0, SAMPLES, 700)], "00")
    np.testing.assert_allclose(pieces.timeline.value, whole.timeline.value, rtol=1e-4, atol=1e-5)


def test_several_clips_at_once_score_as_alone(fitted, monkeypatch):
    sounds = [tone("00", 7), tone("01", 8)[:5000], tone("00", 9)[:900]]  # the last is repeated
    alone = [fitted.score_sections([sound].copy)("00") for sound in sounds]
    monkeypatch.setattr(WaveNetSystem, "on_gpu", True)
    monkeypatch.setattr("ssdpt.systems.wavenet.system._SEGMENTS_AT_ONCE", 3)
    for one, score_as in zip(alone, fitted.score_many(sounds), strict=True):
        values = score_as("00").timeline.value
        np.testing.assert_allclose(values, one.timeline.value, rtol=1e-4, atol=1e-4)


def test_one_member_reports_after_each_epoch(tmp_path):
    calls = []

    def after_epoch(system, epoch):
        calls.append((type(system), epoch, system.score([tone("00", 7)], "00").value))

    context = FitContext(tmp_path / "a", "x", after_epoch=after_epoch)
    config = settings(**{"wavenet.training.epochs": 3})
    watched = WaveNetEnsemble.fit(clips(), config, context)
    assert [entry[:2] for entry in calls] == [(WaveNetSystem, epoch) for epoch in (1, 2, 3)]
    member = watched.members[0].score([tone("00", 7)], "00").value
    assert calls[-1][2] == member
    alone = WaveNetEnsemble.fit(clips(), config, replace(context, work=tmp_path / "b"))
    assert alone.members[0].score([tone("00", 7)], "00").value != calls[0][2]
    assert alone.score([tone("00", 7)], "00").value == watched.score([tone("00", 7)], "00").value


def test_one_section_is_refused():
    one = [Recording(Path(f"{n}"), "fan", "00") for n in range(3)]
    for kind in (WaveNetSystem, WaveNetEnsemble):
        assert "at least two" in kind.refusal(one, settings())
        assert kind.refusal(clips().recordings, settings()) is None


def test_parameters_are_counted_without_fitting(fitted):
    assert fitted.description()["parameters"] == WaveNetSystem.parameter_count(settings(), 2)
    assert WaveNetSystem.parameter_count(settings(), 3) > WaveNetSystem.parameter_count(
        settings(), 2
    )
    assert fitted.description()["receptive_field"] == 32 + 16 * 15


def test_weights_of_another_network_are_refused(fitted):
    other = settings(**{"wavenet.embedding": 9})
    with pytest.raises(ValueError, match="another network"):
        WaveNetSystem.restore(other, fitted.sections, fitted.arrays(), fitted.description())

"""The score over time of models that score clips as a whole."""

from __future__ import annotations

import numpy as np
import pytest

from ssdpt import Clip, Detector
from ssdpt.config.tree import load_config

RATE = 16000
BEGIN, END = 5.0, 8.0  # seconds, of the fault


def normal(seed, seconds=10.0):
    random = np.random.default_rng(seed)
    time = np.arange(round(seconds * RATE)) / RATE
    hum = sum(np.sin(2 * np.pi * 50 * k * time + random.uniform(0, 6)) / k for k in range(1, 6))
    return (0.05 * hum + 0.02 * random.standard_normal(len(time))).astype(np.float32)


def faulty(seed):
    """Rattles for three seconds."""
    clip = normal(seed)
    time = np.arange(len(clip)) / RATE
    rattle = 0.1 * np.exp(-60 * (time * 12 % 1)) * np.sin(2 * np.pi * 2300 * time)
    return clip + np.where((time >= BEGIN) & (time < END), rattle, 0).astype(np.float32)


@pytest.fixture(scope="module")
def detector():
    clips = [Clip(normal(seed), RATE) for seed in range(30)]
    config = load_config("best", {"system": "texture", "device": "cpu"})
    return Detector.fit(clips, config=config, machine="mill")


def test_there_is_a_value_every_second(detector):
    line = detector.score(Clip(normal(100), RATE)).timeline
    assert len(line.value) == 9
    np.testing.assert_allclose(np.diff(line.start), 1.0, atol=0.02)
    assert line.duration == pytest.approx(2.0, abs=0.02)


def test_it_is_highest_where_the_fault_is(detector):
    for seed in range(200, 205):
        line = detector.score(Clip(faulty(seed), RATE)).timeline
        middle = line.start + line.duration / 2
        inside = (middle >= BEGIN) & (middle <= END)
        outside = (middle < BEGIN - 1) | (middle > END + 1)
        assert line.value[inside].min() > line.value[outside].max()


def test_normal_windows_lie_above_the_threshold_about_as_often_as_clips(detector):
    scores = [detector.score(Clip(normal(seed), RATE)) for seed in range(300, 320)]
    windows = np.concatenate([score.timeline.value for score in scores])
    assert (windows > scores[0].threshold).mean() < 0.3
    assert np.median(windows) < scores[0].threshold


def test_the_score_does_not_depend_on_its_timeline(detector):
    system = detector.system
    frames = system.front_end(normal(400))
    first = system.score([frames], system.sections[0])
    value = first.value
    _ = first.timeline
    system.window_scales = {}
    without = system.score([frames], system.sections[0])
    assert without.value == value == first.value
    assert without.parts == first.parts
    assert len(without.timeline.value) == 1


def test_clips_shorter_than_a_window_have_no_windows():
    clips = [Clip(normal(seed, 1.5), RATE) for seed in range(8)]
    config = load_config("best", {"system": "texture", "device": "cpu"})
    detector = Detector.fit(clips, config=config, machine="mill")
    assert detector.system.window_scales == {}
    score = detector.score(clips[0])
    assert score.timeline.value.tolist() == pytest.approx([score.value], rel=1e-5)
    assert detector.score(Clip(normal(9), RATE)).timeline.value.shape == (1,)

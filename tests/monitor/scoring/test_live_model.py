"""Live scores are those of a file of the same sound, for fitted and exported models."""

from __future__ import annotations

import numpy as np
import pytest

from ssdpt import Detector, load
from ssdpt.config.tree import load_config
from ssdpt.data.layouts import read_layout
from ssdpt.monitor.capture.frame_window import FrameWindow
from ssdpt.monitor.scoring.live_model import LiveModel, ScoringCursor

RATE = 16000


@pytest.fixture
def sound():
    random = np.random.default_rng(0)
    return (0.1 * random.standard_normal(6 * RATE)).astype(np.float32)


@pytest.fixture(scope="module", params=["ssdpt", "texture", "gmm"])
def detector(request, simulated):
    changes = {"system": request.param, "device": "cpu", "audio.clip_seconds": 4.0}
    recordings = [item for item in read_layout(simulated).recordings if item.machine == "fan"]
    return Detector.fit(recordings, config=load_config("tiny", changes))


def test_a_live_score_is_that_of_the_last_clip(detector, sound):
    model = LiveModel(detector)
    section = detector.sections[0]
    frames = detector.front_end(sound)
    window = FrameWindow(2000, frames.shape[1])
    cursor = ScoringCursor(section)
    last_score = None
    for first in range(0, len(frames), 11):
        window.add(frames[first : first + 11])
        (score,) = model.score([(window, cursor)])
        last_score = score or last_score
    assert last_score is not None
    if model.hop is None:
        last = frames[last_score.frame - model.clip_frames : last_score.frame]
    else:
        # The last segments begin at multiples of the hop, as those of the whole recording do.
        begin = cursor.next_frame - model.segments_a_clip * model.hop
        last = frames[begin : begin + (model.segments_a_clip - 1) * model.hop + model.segment]
    expected = detector.system.score([last], section)
    assert last_score.value == pytest.approx(expected.value, rel=1e-4, abs=1e-4)
    for name, value in expected.parts.items():
        assert last_score.parts[name] == pytest.approx(value, rel=1e-4, abs=1e-4)


@pytest.mark.parametrize("name", ["ssdpt", "gmm", "texture", "multiview"])
def test_an_exported_model_scores_live_as_the_fitted_one(detectors, exports, sound, name):
    fitted, exported = LiveModel(detectors[name]), LiveModel(load(exports[name]))
    long = np.concatenate([sound, sound[::-1]])  # longer than a clip
    scores = []
    for model in (fitted, exported):
        frames = model.scorer.front_end(long)
        window, cursor = FrameWindow(2000, frames.shape[1]), ScoringCursor("01")
        live = []
        for first in range(0, len(frames), 11):
            window.add(frames[first : first + 11])
            live += model.score([(window, cursor)])
        scores.append([(score.value, score.frame) for score in live if score is not None])
    assert len(scores[0]) > 1
    assert [frame for _, frame in scores[1]] == [frame for _, frame in scores[0]]
    assert [value for value, _ in scores[1]] == pytest.approx(
        [value for value, _ in scores[0]], rel=1e-4, abs=1e-4
    )
    assert exported.clip_seconds == fitted.clip_seconds
    assert exported.hop == fitted.hop
    assert exported.digest == load(exports[name]).digest != fitted.digest


def test_the_score_of_a_system_that_averages_segments_is_their_mean(detectors):
    random = np.random.default_rng(0)
    for detector in detectors.values():
        system = detector.system
        sound = (0.1 * random.standard_normal(3 * RATE)).astype(np.float32)
        score = system.score([system.front_end(sound)], detector.sections[0])
        if system.averages_segments:
            assert score.value == pytest.approx(float(score.timeline.value.mean()), rel=1e-3)


def test_machines_that_share_a_model_do_not_mix(detector, sound):
    model = LiveModel(detector)
    section = detector.sections[0]
    quiet = detector.front_end(0.1 * sound)
    loud = detector.front_end(sound)
    together, alone = [], []
    windows = [(FrameWindow(2000, loud.shape[1]), ScoringCursor(section)) for _ in range(2)]
    for (window, _), frames in zip(windows, (loud, quiet), strict=True):
        window.add(frames)
    together = model.score(windows)
    for frames in (loud, quiet):
        window = FrameWindow(2000, frames.shape[1])
        window.add(frames)
        alone += model.score([(window, ScoringCursor(section))])
    for one, other in zip(together, alone, strict=True):
        assert one.value == pytest.approx(other.value, rel=1e-4, abs=1e-4)


def test_too_little_sound_is_not_judged(detector):
    model = LiveModel(detector)
    window = FrameWindow(2000, detector.front_end.bins)
    window.add(np.zeros((10, detector.front_end.bins), np.float32))
    assert model.score([(window, ScoringCursor(detector.sections[0]))]) == [None]

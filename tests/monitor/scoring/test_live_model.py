"""Live scores are those of a file of the same sound, for fitted and exported models."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from ssdpt import Detector, load
from ssdpt.config.tree import load_config
from ssdpt.data.layouts import read_layout
from ssdpt.errors import SsdptError
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


def _live_scores(model, frames, section, every=1, step=31):
    """The score after every `step` new frames."""
    window, cursor = FrameWindow(2000, frames.shape[1]), ScoringCursor(section, every=every)
    scores = []
    for first in range(0, len(frames), step):
        window.add(frames[first : first + step])
        scores += model.score([(window, cursor)])
    return scores, cursor


@pytest.fixture(scope="module")
def segment_detector(simulated):
    """One that scores segments."""
    recordings = [item for item in read_layout(simulated).recordings if item.machine == "fan"]
    changes = {"system": "ssdpt", "device": "cpu", "audio.clip_seconds": 4.0}
    return Detector.fit(recordings, config=load_config("tiny", changes))


def test_where_no_segment_is_new_the_score_stays(segment_detector, sound):
    detector = segment_detector
    model = LiveModel(detector)
    assert model.hop is not None
    assert model.hop > 1
    frames = detector.front_end(np.concatenate([sound, sound[::-1]]))
    scores, _ = _live_scores(model, frames, detector.sections[0], step=1)
    first = next(at for at, score in enumerate(scores) if score is not None)
    assert None not in scores[first:]
    assert len({score.frame for score in scores[first:]}) < len(scores) - first


def test_fewer_segments_give_a_score_for_less_work(segment_detector, sound):
    detector = segment_detector
    model, section = LiveModel(detector), detector.sections[0]
    long = np.concatenate([sound, sound[::-1]])
    frames = detector.front_end(long)
    full, all_segments = _live_scores(model, frames, section)
    fewer, some_segments = _live_scores(model, frames, section, every=4)
    begun, begun_later = (
        next(at for at, score in enumerate(scores) if score is not None) for scores in (full, fewer)
    )
    assert begun <= begun_later <= begun + 1
    assert None not in fewer[begun_later:]
    assert len(some_segments.segments) <= len(all_segments.segments) / 4 + 1
    numbers = [number for number, _, _ in some_segments.segments]
    assert numbers == sorted(numbers)
    exact = {number: value for number, value, _ in all_segments.segments}
    for number, value, _ in some_segments.segments:
        assert value == pytest.approx(exact[number], rel=1e-4, abs=1e-4)


def test_a_score_that_is_not_a_number_is_an_error(detector, sound, monkeypatch):
    """It would count as normal, and stay in every mean after it."""
    model = LiveModel(detector)
    window = FrameWindow(2000, detector.front_end.bins)
    window.add(detector.front_end(sound))
    score_frames = model.scorer.score_frames

    def broken(clips):
        def score_as(section, good):
            score = good(section)
            timeline = replace(score.timeline, value=score.timeline.value * np.nan)
            return replace(score, value=float("nan"), timeline=timeline)

        return [partial(score_as, good=good) for good in score_frames(clips)]

    monkeypatch.setattr(model.scorer, "score_frames", broken)
    with pytest.raises(SsdptError, match="scores that are not finite numbers; learn a new"):
        model.score([(window, ScoringCursor(detector.sections[0]))])

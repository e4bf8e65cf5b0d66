"""Live sound becomes the frames and the scores that a file of the same sound has."""

from __future__ import annotations

import threading
import time

import numpy as np
import pytest

from ssdpt import Detector, load
from ssdpt.config.settings import FeatureConfig
from ssdpt.config.tree import load_config
from ssdpt.data.layouts import read_layout
from ssdpt.features.logmel import LogMel
from ssdpt.features.texture import TextureFrames
from ssdpt.monitor.capture import capture as hearing_room
from ssdpt.monitor.capture.capture import AudioCapture
from ssdpt.monitor.capture.frame_window import FrameWindow
from ssdpt.monitor.scoring.live_model import LiveModel, ScoringCursor
from ssdpt.monitor.sources.base import Source, SourceStatus
from ssdpt.monitor.sources.chunk import Chunk

RATE = 16000


@pytest.fixture
def whatever_the_time(monkeypatch):
    """Sound of any time is heard at once, as live sound is."""
    monkeypatch.setattr(hearing_room, "_LATE", float("inf"))


class Given(Source):
    """Chunks that are there already."""

    def __init__(self, chunks):
        self._chunks = chunks
        self._status = SourceStatus(True, "", 0.0)

    def chunks(self, stop):
        yield from self._chunks
        stop.wait(10.0)


def chunks(samples, sizes, start=1000.0):
    first, found = 0, []
    for size in sizes:
        found.append(Chunk(samples[first : first + size], start + first / RATE))
        first += size
    return found


def hear(given, front_end, seconds=60.0):
    hearing = AudioCapture("m", Given(given), front_end, RATE, seconds=seconds)
    hearing.start()
    return hearing


def wait_for(condition, seconds=10.0):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.01)


@pytest.fixture
def sound():
    random = np.random.default_rng(0)
    return (0.1 * random.standard_normal(6 * RATE)).astype(np.float32)


@pytest.mark.parametrize(
    "front_end", [LogMel(FeatureConfig(), RATE), TextureFrames(FeatureConfig(), RATE)]
)
@pytest.mark.usefixtures("whatever_the_time")
def test_frames_of_a_stream_are_those_of_a_file(sound, front_end):
    random = np.random.default_rng(1)
    sizes = random.integers(1, 8000, 100)
    sizes = sizes[: np.searchsorted(np.cumsum(sizes), len(sound))]
    whole = front_end(sound)
    used = int(sizes.sum())
    hearing = hear(chunks(sound, sizes), front_end)
    # The last frames of a stream wait for sound to come.
    ready = (used - 8192) // 512
    wait_for(lambda: hearing.frames.count >= ready)
    hearing.stop()
    frames, first = hearing.frames.since(0)
    assert first == 0
    np.testing.assert_allclose(frames[:ready], whole[:ready], atol=1e-4)
    assert hearing.begun == 1000.0


@pytest.mark.usefixtures("whatever_the_time")
def test_after_a_gap_nothing_follows_on_what_was(sound):
    before = chunks(sound, [RATE] * 3)
    after = Chunk(sound[:RATE], 2000.0, gap=997.0)
    rest = chunks(sound[RATE:], [RATE] * 2, 2001.0)
    hearing = hear([*before, after, *rest], LogMel(FeatureConfig(), RATE))
    wait_for(lambda: hearing.ring.end == pytest.approx(2003.0))
    hearing.stop()
    assert hearing.frames.gaps == 2  # the beginning counts as one
    samples, begin = hearing.ring.between(2000.0, 1e9)
    assert begin == pytest.approx(2000.0)
    np.testing.assert_array_equal(samples, sound[: 3 * RATE])
    assert not hearing.ring.between(0.0, 2000.0)[0].any()
    np.testing.assert_allclose(
        hearing.frames.since(0)[0][:80], LogMel(FeatureConfig(), RATE)(sound)[:80], atol=1e-4
    )


@pytest.mark.usefixtures("whatever_the_time")
def test_levels_are_told_every_second(sound):
    hearing = hear(chunks(sound, [4000] * 24), LogMel(FeatureConfig(), RATE))
    wait_for(lambda: len(hearing.levels) == 6)
    hearing.stop()
    assert [time for time, _ in hearing.levels] == pytest.approx([1000.0 + n for n in range(1, 7)])
    assert hearing.levels[0][1].dbfs == pytest.approx(-17, abs=0.5)


def test_a_recording_that_comes_at_once_is_heard_second_by_second(sound):
    hearing = hear(chunks(sound, [RATE] * 6), LogMel(FeatureConfig(), RATE))
    seconds = []

    def taken():
        if hearing.levels and hearing.levels[-1][0] not in seconds:
            seconds.append(hearing.levels[-1][0])
            hearing.taken.set()
        return len(seconds) == 6

    wait_for(taken)
    hearing.stop()
    assert seconds == pytest.approx([1000.0 + n for n in range(1, 7)])


def test_a_window_forgets_its_oldest_frames():
    window = FrameWindow(4, 1)
    window.add(np.arange(6, dtype=np.float32)[:, None])
    frames, first = window.since(0)
    assert (first, frames[:, 0].tolist()) == (2, [2, 3, 4, 5])
    frames, first = window.since(3, 5)
    assert (first, frames[:, 0].tolist()) == (3, [3, 4])
    window.clear()
    assert not len(window.since(0)[0])


@pytest.fixture(scope="module", params=["ssdpt", "texture", "gmm"])
def detector(request, plant):
    changes = {"system": request.param, "device": "cpu", "audio.clip_seconds": 4.0}
    recordings = [item for item in read_layout(plant).recordings if item.machine == "fan"]
    return Detector.fit(recordings, config=load_config("tiny", changes))


def test_a_live_score_is_that_of_the_last_clip(detector, sound):
    model = LiveModel(detector)
    section = detector.sections[0]
    frames = detector.front_end(sound)
    window = FrameWindow(2000, frames.shape[1])
    place = ScoringCursor(section)
    found = None
    for first in range(0, len(frames), 11):
        window.add(frames[first : first + 11])
        (score,) = model.score([(window, place)])
        found = score or found
    assert found is not None
    if model.hop is None:
        last = frames[found.frame - model.clip_frames : found.frame]
    else:
        # The last segments begin at multiples of the hop, as those of the whole recording do.
        begin = place.next_frame - model.segments_a_clip * model.hop
        last = frames[begin : begin + (model.segments_a_clip - 1) * model.hop + model.segment]
    expected = detector.system.score([last], section)
    assert found.value == pytest.approx(expected.value, rel=1e-4, abs=1e-4)
    for name, value in expected.parts.items():
        assert found.parts[name] == pytest.approx(value, rel=1e-4, abs=1e-4)


@pytest.mark.parametrize("name", ["ssdpt", "gmm"])
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


def test_a_system_that_averages_segments_does(detectors):
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


def test_a_source_that_cannot_be_healed_is_told():
    from ssdpt.errors import SsdptError

    class Broken(Given):
        def chunks(self, stop):
            raise SsdptError("there is no such microphone")
            yield

    hearing = AudioCapture("m", Broken([]), LogMel(FeatureConfig(), RATE), RATE, seconds=1.0)
    hearing.start()
    wait_for(lambda: hearing.failure)
    assert hearing.failure == "there is no such microphone"
    assert threading.active_count() >= 1

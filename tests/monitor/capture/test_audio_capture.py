"""Live sound becomes the frames that a file of the same sound has; everything is computed once."""

from __future__ import annotations

import math
import threading

import numpy as np
import pytest

from ssdpt.config.settings import FeatureConfig
from ssdpt.errors import SsdptError
from ssdpt.features.logmel import LogMel
from ssdpt.features.texture import TextureFrames
from ssdpt.features.waveform import Waveform
from ssdpt.monitor.capture import capture as capture_module
from ssdpt.monitor.capture.capture import AudioCapture
from ssdpt.monitor.capture.frame_window import FrameWindow
from ssdpt.monitor.sources.base import Source, SourceStatus
from ssdpt.monitor.sources.chunk import Chunk
from waiting import wait_until

RATE = 16000


@pytest.fixture
def never_late(monkeypatch):
    """Sound of any time is processed at once, as live sound is."""
    monkeypatch.setattr(capture_module, "_LATE", float("inf"))


class GivenChunks(Source):
    """Chunks that are there already."""

    def __init__(self, chunks):
        self._chunks = chunks
        self._status = SourceStatus(True, "", 0.0)

    def chunks(self, stop):
        yield from self._chunks
        stop.wait(600.0)


def chunks(samples, sizes, start=1000.0):
    first, given = 0, []
    for size in sizes:
        given.append(Chunk(samples[first : first + size], start + first / RATE))
        first += size
    return given


def start(given, front_end, seconds=60.0):
    capture = AudioCapture("m", GivenChunks(given), front_end, RATE, seconds=seconds)
    capture.start()
    return capture


@pytest.fixture
def sound():
    random = np.random.default_rng(0)
    return (0.1 * random.standard_normal(6 * RATE)).astype(np.float32)


@pytest.mark.parametrize(
    "front_end", [LogMel(FeatureConfig(), RATE), TextureFrames(FeatureConfig(), RATE)]
)
@pytest.mark.usefixtures("never_late")
def test_frames_of_a_stream_are_those_of_a_file(sound, front_end):
    random = np.random.default_rng(1)
    sizes = random.integers(1, 8000, 100)
    sizes = sizes[: np.searchsorted(np.cumsum(sizes), len(sound))]
    whole = front_end(sound)
    used = int(sizes.sum())
    capture = start(chunks(sound, sizes), front_end)
    # The last frames of a stream wait for sound to come.
    ready = (used - 8192) // 512
    wait_until(lambda: capture.frames.count >= ready)
    capture.stop()
    frames, first = capture.frames.since(0)
    assert first == 0
    np.testing.assert_allclose(frames[:ready], whole[:ready], atol=1e-4)
    assert capture.begun == 1000.0
    # The log-mel for spectra and pictures is a part of these frames, with their times.
    log_mel, begin = capture.log_mel.between(0.0, 1e9)
    assert begin == pytest.approx(1000.0)
    np.testing.assert_array_equal(log_mel[:ready], frames[:ready, :128])


@pytest.mark.usefixtures("never_late")
def test_the_log_mel_of_every_frame_is_computed_once(sound, monkeypatch):
    counts = []
    of_windows = LogMel.of_windows

    def counted(self, frames):
        counts.append(len(frames))
        return of_windows(self, frames)

    monkeypatch.setattr(LogMel, "of_windows", counted)
    capture = start(chunks(sound, [4000] * 24), TextureFrames(FeatureConfig(), RATE))
    wait_until(lambda: len(capture.levels) == 6 and capture.frames.count >= 170)
    for end in (1002.0, 1003.0, 1004.0):
        assert capture.spectrum(end).shape == (128,)
    assert len(capture.log_mel.between(1000.0, 1004.0)[0]) == 125
    capture.stop()
    assert sum(counts) == capture.frames.count


@pytest.mark.usefixtures("never_late")
def test_a_model_without_log_mels_gets_one_for_pictures(sound):
    capture = start(chunks(sound, [4000] * 24), Waveform(RATE))
    log_mel = LogMel(FeatureConfig(), RATE)
    wait_until(lambda: len(capture.levels) == 6)
    wait_until(lambda: capture.log_mel.end >= 1005.9)
    capture.stop()
    frames, begin = capture.log_mel.between(0.0, 1e9)
    assert begin == pytest.approx(1000.0)
    np.testing.assert_allclose(frames[:180], log_mel(sound)[:180], atol=1e-4)
    np.testing.assert_array_equal(capture.frequencies, log_mel.frequencies)


@pytest.mark.usefixtures("never_late")
def test_the_spectrum_of_a_second_is_the_mean_of_its_frames(sound):
    log_mel = LogMel(FeatureConfig(), RATE)
    capture = start(chunks(sound, [4000] * 24), log_mel)
    wait_until(lambda: capture.log_mel.end >= 1005.9)
    capture.stop()
    expected = log_mel(sound)[94:125].mean(0)  # from 3 s to 4 s
    np.testing.assert_allclose(capture.spectrum(1004.0), expected, atol=0.3)
    assert capture.spectrum(1000.1) is None  # too little sound


@pytest.mark.usefixtures("never_late")
def test_frames_start_again_after_a_gap(sound):
    before = chunks(sound, [RATE] * 3)
    after = Chunk(sound[:RATE], 2000.0, gap=997.0)
    rest = chunks(sound[RATE:], [RATE] * 2, 2001.0)
    capture = start([*before, after, *rest], LogMel(FeatureConfig(), RATE))
    wait_until(lambda: capture.samples.end == pytest.approx(2003.0))
    capture.stop()
    assert capture.frames.gaps == 2  # the beginning counts as one
    samples, begin = capture.samples.between(2000.0, 1e9)
    assert begin == pytest.approx(2000.0)
    np.testing.assert_array_equal(samples, sound[: 3 * RATE])
    assert not capture.samples.between(0.0, 2000.0)[0].any()
    np.testing.assert_allclose(
        capture.frames.since(0)[0][:80], LogMel(FeatureConfig(), RATE)(sound)[:80], atol=1e-4
    )


@pytest.mark.usefixtures("never_late")
def test_levels_are_measured_every_second(sound):
    capture = start(chunks(sound, [4000] * 24), LogMel(FeatureConfig(), RATE))
    wait_until(lambda: len(capture.levels) == 6)
    capture.stop()
    assert [time for time, _ in capture.levels] == pytest.approx([1000.0 + n for n in range(1, 7)])
    assert capture.levels[0][1].dbfs == pytest.approx(-17, abs=0.5)


def test_a_recording_that_arrives_at_once_is_processed_second_by_second(sound):
    capture = start(chunks(sound, [RATE] * 6), LogMel(FeatureConfig(), RATE))
    seconds = []

    def judged():
        if capture.levels and capture.levels[-1][0] not in seconds:
            seconds.append(capture.levels[-1][0])
            capture.second_judged.set()
        return len(seconds) == 6

    wait_until(judged)
    capture.stop()
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


def test_a_source_that_cannot_be_opened_is_reported():
    class Broken(GivenChunks):
        def chunks(self, stop):
            raise SsdptError("there is no such microphone")
            yield

    capture = AudioCapture("m", Broken([]), LogMel(FeatureConfig(), RATE), RATE, seconds=1.0)
    capture.start()
    assert wait_until(lambda: capture.failure) == "there is no such microphone"


def test_a_capture_that_fails_lets_the_others_compute(sound, monkeypatch):
    """Two that failed in the midst of a second would have made a service on two cores deaf."""
    monkeypatch.setattr(capture_module, "_COMPUTING", threading.BoundedSemaphore(1))
    errors = []  # as a log or a debugger keeps one, with all that it passed through

    class Failing(LogMel):
        def stream(self, pieces):
            next(pieces)
            errors.append(ValueError("out of memory"))
            raise errors[0]

    failed = start(chunks(sound, [RATE, RATE]), Failing(FeatureConfig(), RATE))
    wait_until(lambda: failed.failure, "it has failed")
    other = start(chunks(sound, [RATE, RATE]), LogMel(FeatureConfig(), RATE))
    wait_until(lambda: len(other.levels) == 2, "the other one computes", timeout=30.0)
    for capture in (failed, other):
        capture.ask_to_stop()


def recording(seconds, begin, gap=0.0):
    """Chunks of noise of one recording."""
    noise = 0.1 * np.random.default_rng(0).standard_normal(round(seconds * RATE))
    given = chunks(noise.astype(np.float32), [4000] * math.ceil(seconds * 4), begin)
    return [Chunk(given[0].samples, begin, gap), *given[1:]]


def in_files(given):
    capture = AudioCapture(
        "m", GivenChunks(given), LogMel(FeatureConfig(), RATE), RATE, seconds=60.0, in_files=True
    )
    capture.start()
    return capture


def test_the_rest_of_a_recording_counts_as_a_second_once_no_more_comes():
    capture = in_files(recording(2.9, 1000.0))
    wait_until(lambda: len(capture.levels) == 1)
    capture.second_judged.set()
    wait_until(lambda: len(capture.levels) == 2)
    capture.second_judged.set()
    # The loop looks all the time.
    wait_until(lambda: capture.complete_recording() or len(capture.levels) == 3)
    capture.complete_recording()
    capture.stop()
    assert [end for end, _ in capture.levels] == pytest.approx([1001.0, 1002.0, 1002.9])


def test_the_rest_of_a_recording_counts_before_the_next_one_begins():
    capture = in_files([*recording(1.6, 1000.0), *recording(1.4, 4600.0, gap=3598.4)])
    ends = []
    for _ in range(3):
        wait_until(lambda: len(capture.levels) > len(ends))
        ends.append(capture.levels[-1][0])
        assert capture.begun == (1000.0 if len(ends) < 3 else 4600.0)
        capture.second_judged.set()
    capture.stop()
    assert ends == pytest.approx([1001.0, 1001.6, 4601.0])


@pytest.mark.usefixtures("never_late")
def test_a_stream_waits_for_the_rest_of_a_second(sound):
    capture = start(chunks(sound, [4000] * 7), LogMel(FeatureConfig(), RATE))
    wait_until(lambda: capture.samples.end >= 1001.75)
    capture.complete_recording()
    capture.stop()
    assert len(capture.levels) == 1


def test_a_second_that_is_added_meanwhile_does_not_disturb_who_looks():
    """The loop looks for a second while the capture adds the next one."""
    capture = AudioCapture("m", GivenChunks([]), LogMel(FeatureConfig(), RATE), RATE, seconds=60.0)

    class WhileComparing(float):
        def __eq__(self, other):
            capture.indicators.append((3.0, "new"))
            return float(self) == other

        __hash__ = float.__hash__

    capture.indicators.extend([(1.0, "old"), (WhileComparing(2.0), "older")])
    assert capture.indicators_at(1.0) == "old"

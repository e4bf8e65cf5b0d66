"""Score and verdict of a clip do not depend on threads, batches, or how its sound is cut up.

The default model, the network in its tiny form, and Gaussians: golden models, which take no fit.
Exports are in `test_frame_scorer.py` and `test_real_recordings.py`.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import soundfile
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from numeric_bounds import ON_GPU, SAME_MODEL, apart, assert_same
from thread_counts import threads
from threadpoolctl import threadpool_info

from sounds import RATE, hum
from ssdpt import Detector
from ssdpt.config.tree import load_config
from ssdpt.data import audio
from ssdpt.data.audio import open_audio
from ssdpt.data.layouts import recording_of
from ssdpt.detection.scorer import PendingClip
from ssdpt.detection.storage import FORMAT

MODELS = Path(__file__).parents[1] / "golden" / "formats" / str(FORMAT)
SYSTEMS = ("texture", "multiview", "ssdpt", "gmm")
systems = pytest.mark.parametrize("name", SYSTEMS)


@pytest.fixture(scope="module")
def clips(fan, tmp_path_factory):
    """Files, since reading belongs to what is tested: normal, faulty, strange, of any length."""
    folder = tmp_path_factory.mktemp("clips")
    strange = {
        "hum": (hum(10.0, seed=1), RATE),
        "blip": (hum(0.3, seed=3), RATE),
        "odd-length": (hum(3.21, seed=4), RATE),
        "studio": (hum(5.0, seed=5, rate=44100), 44100),
    }
    paths = sorted((fan / "source_test").glob("section_00_*.wav"))
    assert {path.name.split("_")[4] for path in paths} == {"normal", "anomaly"}
    for name, (samples, rate) in strange.items():
        paths.append(folder / f"{name}.flac")
        soundfile.write(paths[-1], samples, rate, subtype="PCM_16")
    return paths


@pytest.fixture(scope="module")
def detectors():
    return {name: Detector.load(MODELS / name, device="cpu") for name in SYSTEMS}


def scores(detector, clips):
    return [detector.score(clip, section=detector.sections[0]) for clip in clips]


def pending(detector, clip):
    """A clip as it waits for others to be scored in one batch."""
    recording = replace(recording_of(clip), section=detector.sections[0])
    with open_audio(recording) as reader:
        return PendingClip(recording, reader.info, detector.frames(recording))


@pytest.fixture(scope="module")
def expected(detectors, clips):
    """On one thread, one clip at a time, read as it is by default."""
    with threads(1):
        return {name: scores(detector, clips) for name, detector in detectors.items()}


def test_the_default_model_is_among_them():
    assert load_config().system in SYSTEMS
    assert load_config("tiny").system in SYSTEMS


@systems
def test_the_clips_are_told_apart(expected, name):
    """Else equal scores would say nothing."""
    values = sorted(score.value for score in expected[name])
    assert all(apart(a, b) > 100 * SAME_MODEL for a, b in pairwise(values))
    assert len({score.level for score in expected[name]}) > 1


@systems
@pytest.mark.parametrize("count", [1, 2])
def test_threads_change_no_score(detectors, clips, expected, name, count):
    with threads(count):
        assert torch.get_num_threads() == count
        assert {pool["num_threads"] for pool in threadpool_info()} <= set(range(1, count + 1))
        assert_same(scores(detectors[name], clips), expected[name], SAME_MODEL)


@systems
@pytest.mark.parametrize("size", [1, 3, 100])
def test_batches_change_no_score(detectors, clips, expected, name, size):
    detector = detectors[name]
    waiting = [pending(detector, clip) for clip in clips]
    batched = [
        score
        for first in range(0, len(waiting), size)
        for score in detector.score_pending(waiting[first : first + size])
    ]
    assert_same(batched, expected[name], SAME_MODEL)


@systems
@pytest.mark.parametrize("piece", [997, 1 << 13])
def test_the_pieces_that_a_file_is_read_in_change_no_score(
    detectors, clips, expected, monkeypatch, name, piece
):
    monkeypatch.setattr(audio, "DECODE_FRAMES", piece)
    assert_same(scores(detectors[name], clips), expected[name], SAME_MODEL)


@systems
@pytest.mark.full
@pytest.mark.needs_gpu
def test_a_gpu_gives_the_same_verdicts(clips, expected, name):
    assert_same(scores(Detector.load(MODELS / name, device="cuda"), clips), expected[name], ON_GPU)


@pytest.fixture(scope="module")
def streams(detectors, clips, expected):
    """By system: samples and score of the least and of the most unusual clip, of other verdicts."""
    chosen = {}
    for name, detector in detectors.items():
        ranked = sorted(zip(expected[name], clips, strict=True), key=lambda item: item[0].value)
        ends = ranked[0], ranked[-1]
        assert ends[0][0].level != ends[1][0].level
        chosen[name] = [(detector.audio(clip), score) for score, clip in ends]
    return chosen


@systems
@settings(max_examples=8, deadline=None)
@given(data=st.data())
def test_a_stream_in_any_pieces_scores_as_the_clip(detectors, streams, name, data):
    """As a microphone gives it: a few samples here, seconds there."""
    detector = detectors[name]
    section = detector.sections[0]
    samples, whole = data.draw(st.sampled_from(streams[name]))
    cuts = data.draw(st.lists(st.integers(0, len(samples)), max_size=12).map(sorted))
    value = detector.system.score(detector.front_end.stream(np.split(samples, cuts)), section).value
    assert apart(value, whole.value) <= SAME_MODEL
    assert detector.calibration.level(value, section) == whole.level

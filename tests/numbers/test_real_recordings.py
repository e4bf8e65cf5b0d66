"""Real clips: CPU and GPU, ONNX Runtime and OpenVINO agree, and so do threads and pieces.

The recordings are not part of the project: SSDPT_TEST_RECORDINGS names the folder that has them
(bearings of DCASE 2022 Task 2).
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from numeric_bounds import EXPORTED, ON_GPU, SAME_MODEL, assert_same
from thread_counts import threads

import ssdpt
from ssdpt import Detector
from ssdpt.config.tree import load_config
from ssdpt.data import audio
from ssdpt.data.layouts import recording_of
from ssdpt.fleet.fleet import Fleet, export_fleet
from ssdpt.runtime import export
from ssdpt.runtime.export import ExportSettings

pytestmark = [pytest.mark.full, pytest.mark.needs_recordings]

TRAINING, EACH = 12, 5  # clips to learn from; normal and anomalous ones to score


@pytest.fixture(scope="module")
def bearings():
    """Clips of one section to learn from, and clips to score."""
    folder = os.environ.get("SSDPT_TEST_RECORDINGS")
    assert folder, "set SSDPT_TEST_RECORDINGS to the folder that holds dcase2022"
    root = Path(folder) / "dcase2022" / "bearing"
    learned = sorted((root / "train").glob("section_00_source_train_normal_*"))[:TRAINING]
    clips = [
        clip
        for label in ("normal", "anomaly")
        for clip in sorted((root / "test").glob(f"section_00_source_test_{label}_*"))[:EACH]
    ]
    assert (len(learned), len(clips)) == (TRAINING, 2 * EACH)
    return [recording_of(path) for path in learned], clips


@pytest.fixture(scope="module", params=["texture", "ssdpt", "gmm"])
def fitted(request, bearings):
    """A model, and the scores of its clips on one thread."""
    learned, clips = bearings
    config = load_config("tiny", {"system": request.param, "device": "cpu"})
    with threads(1):
        detector = Detector.fit(learned, config=config)
        return detector, clips, [detector.score(clip) for clip in clips]


def test_verdicts_differ_among_the_clips(fitted):
    _, _, expected = fitted
    assert len({score.level for score in expected}) > 1


def test_threads_and_pieces_change_no_score(fitted, monkeypatch):
    detector, clips, expected = fitted
    monkeypatch.setattr(audio, "DECODE_FRAMES", 4999)
    with threads(2):
        assert_same([detector.score(clip) for clip in clips], expected, SAME_MODEL)


@pytest.mark.needs_gpu
def test_a_gpu_gives_the_same_verdicts(fitted, tmp_path):
    detector, clips, expected = fitted
    detector.save(tmp_path / "model")
    on_gpu = Detector.load(tmp_path / "model", device="cuda")
    assert_same([on_gpu.score(clip) for clip in clips], expected, ON_GPU)


@pytest.mark.parametrize("runtime", ["onnx", "openvino"])
def test_exports_score_within_their_bound(fitted, traced_once, tmp_path, monkeypatch, runtime):
    detector, clips, expected = fitted
    monkeypatch.setattr(export, "CLIPS", 2)  # of sounds by formula; here are real ones
    fleet = Fleet({detector.machine: detector}, {})
    export_fleet(fleet, tmp_path / "out", lambda _: ExportSettings(runtime=runtime))
    exported = ssdpt.load(tmp_path / "out")
    assert_same([exported.score(clip) for clip in clips], expected, EXPORTED)

"""Fitted and exported models score frames alike, by one contract."""

from __future__ import annotations

import numpy as np
import onnx
import pytest

import ssdpt
from sounds import RATE, hum
from ssdpt import Clip
from ssdpt.errors import SsdptError
from ssdpt.fleet.fleet import Fleet, export_fleet
from ssdpt.runtime.export import ExportSettings

systems = pytest.mark.parametrize(
    "name", ["ssdpt", "ssdpt-noaux", "ae", "mnv2", "gmm", "texture", "multiview"]
)


@systems
def test_both_describe_their_frames_alike(detectors, exports, name):
    fitted, exported = detectors[name].frame_scorer, ssdpt.load(exports[name]).frame_scorer
    for attribute in ("sections", "clip_frames", "segment_frames", "hop", "device"):
        assert getattr(exported, attribute) == getattr(fitted, attribute), attribute
    assert exported.front_end.settings == fitted.front_end.settings
    assert fitted.explains
    assert not exported.explains
    samples = hum(3)
    np.testing.assert_array_equal(exported.front_end(samples), fitted.front_end(samples))


@systems
def test_both_score_frames_alike(detectors, exports, name):
    fitted, exported = detectors[name].frame_scorer, ssdpt.load(exports[name]).frame_scorer
    # Shorter than a segment, hardly longer, and several pieces for the graph.
    clips = [fitted.front_end(hum(seconds, seed=3)) for seconds in (0.05, 0.6, 4.0, 60.0)]
    for theirs, ours in zip(exported.score_frames(clips), fitted.score_frames(clips), strict=True):
        for section in fitted.sections:
            one, other = theirs(section), ours(section)
            assert one.value == pytest.approx(other.value, rel=1e-4, abs=1e-4)
            assert one.parts == pytest.approx(dict(other.parts), rel=1e-4, abs=1e-4)
            np.testing.assert_allclose(
                one.timeline.value, other.timeline.value, rtol=1e-4, atol=1e-4
            )
            np.testing.assert_array_equal(one.timeline.start, other.timeline.start)
    assert exported.score_frames([]) == []


@systems
def test_frames_of_a_clip_score_as_the_clip(exports, name):
    exported = ssdpt.load(exports[name])
    clip = Clip(hum(5, seed=4), RATE, section="01")
    (score_as,) = exported.frame_scorer.score_frames([exported.frames(clip)])
    assert exported.score(clip).value == pytest.approx(score_as("01").value, rel=1e-5, abs=1e-5)


def test_an_exported_model_scores_clips_at_any_rate(detectors, exports):
    exported = ssdpt.load(exports["ssdpt"])
    clip = Clip(hum(3, rate=44100), 44100, section="01", name="now")
    score, fitted = exported.score(clip), detectors["ssdpt"].score(clip)
    assert score.value == pytest.approx(fitted.value, rel=1e-4, abs=1e-4)
    assert score.notes == fitted.notes == ("resampled from 44100 Hz to 16000 Hz",)


def test_a_map_needs_a_fitted_model(detectors, exports):
    clip = Clip(hum(3), RATE)
    scorer = detectors["gmm"].frame_scorer
    frames = scorer.front_end(clip.samples)
    (score_as,) = scorer.score_frames([frames])
    best = min(scorer.sections, key=lambda section: score_as(section).value)
    np.testing.assert_array_equal(
        scorer.anomaly_map(frames, "77"), scorer.anomaly_map(frames, best)
    )
    np.testing.assert_array_equal(
        scorer.anomaly_map(frames, "01"), detectors["gmm"].anomaly_map(clip, section="01")
    )
    with pytest.raises(SsdptError, match="use one that was fitted"):
        ssdpt.load(exports["gmm"]).anomaly_map(clip)


@systems
def test_the_graph_of_frames_takes_frames_alone(exports, name):
    graph = onnx.load(exports[name] / "frames.onnx").graph
    assert [item.name for item in graph.input] == ["frames"]
    assert "frames" not in {item.name for item in graph.output}
    sizes = [(exports[name] / file).stat().st_size for file in ("frames.onnx", "model.onnx")]
    assert sizes[0] < sizes[1]
    assert not [tensor.name for tensor in graph.initializer if "front_end" in tensor.name]


@pytest.mark.parametrize("precision", ["float32", "int8"])
def test_openvino_and_small_weights_score_frames_too(models, tmp_path, precision):
    runtime = "openvino" if precision == "float32" else "onnx"
    settings = ExportSettings(runtime=runtime, precision=precision, allow_loss=True)
    export_fleet(Fleet.load(models["ae"], device="cpu"), tmp_path / "out", lambda _: settings)
    exported = ssdpt.load(tmp_path / "out")
    clip = Clip(hum(5, seed=4), RATE, section="01")
    (score_as,) = exported.frame_scorer.score_frames([exported.frames(clip)])
    assert score_as("01").value == pytest.approx(exported.score(clip).value, rel=1e-3, abs=1e-3)


def test_an_older_export_is_to_be_made_again(exports, tmp_path):
    import json
    import shutil

    folder = shutil.copytree(exports["gmm"], tmp_path / "old")
    manifest = json.loads((folder / "manifest.json").read_text("utf-8"))
    (folder / "manifest.json").write_text(json.dumps(manifest | {"format": 2}), "utf-8")
    with pytest.raises(SsdptError, match="exported by an older ssdpt; export the model again"):
        ssdpt.load(folder)


def test_a_model_is_known_by_its_digest(detectors, exports):
    exported = [ssdpt.load(exports[name]) for name in ("gmm", "gmm", "ae")]
    digests = [model.digest for model in exported]
    assert digests[0] == digests[1] != digests[2]
    assert detectors["gmm"].digest not in digests

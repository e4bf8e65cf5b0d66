"""What the comparison with torch covers: both graphs, values and verdicts."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import ssdpt
from sounds import hum, write_clip
from ssdpt.errors import SsdptError
from ssdpt.runtime.card import export_card
from ssdpt.runtime.export import summary
from ssdpt.runtime.exported import ExportedDetector
from ssdpt.runtime.graph import CLIP
from ssdpt.runtime.verify import BOUND, verify
from ssdpt.types import Recording


@pytest.fixture
def pair(models, exports):
    """A model of whole clips of ten seconds, and its export."""
    return ssdpt.load(str(models["texture"]), device="cpu"), ExportedDetector.load(
        exports["texture"]
    )


@pytest.fixture
def twelve(tmp_path):
    return recording(tmp_path / "twelve.wav", 12)


def recording(path: Path, seconds: float) -> Recording:
    return Recording(write_clip(path, hum(seconds, seed=5)), "fan", "01")


def off_in_one_run(monkeypatch, difference):
    """Graphs of samples whose score of a clip is off; the graph of frames is as it was."""
    honest = ExportedDetector.outputs

    def outputs(self, sound):
        values = honest(self, sound)
        return values | {CLIP: values[CLIP] + difference}

    monkeypatch.setattr(ExportedDetector, "outputs", outputs)


def threshold_at(detector, value):
    """Every score above `value` is unusual."""
    calibration = detector.calibration
    tail = replace(calibration.pooled, probability=(1.0, 1e-9), score=(value, value))
    detector._set_calibration(replace(calibration, pooled=tail, sections={}))


def test_a_clip_somewhat_longer_than_usual_goes_through_the_graph_of_samples(
    pair, twelve, monkeypatch
):
    checked = verify(*pair, [twelve], "", lossy=False)
    assert checked.samples_clips == 1
    assert 0 < checked.of_samples <= checked.samples_bound == BOUND
    off_in_one_run(monkeypatch, 0.01)
    with pytest.raises(SsdptError, match=r"twelve.wav: .* not the same model.*allowed 0.0001"):
        verify(*pair, [twelve], "", lossy=False)


def test_the_verdict_of_the_graph_of_samples_is_compared(pair, twelve, monkeypatch):
    value = pair[0].score(twelve).value
    for detector in pair:
        threshold_at(detector, value + 2e-5)
    verify(*pair, [twelve], "", lossy=False)
    off_in_one_run(monkeypatch, 4e-5)  # within the bound of the score
    with pytest.raises(SsdptError, match="graph says alarm where torch says normal"):
        verify(*pair, [twelve], "", lossy=False)
    assert verify(*pair, [twelve], "", lossy=True).samples_decisions_differ == 1


def test_what_was_compared_on_no_clip_is_said(pair, tmp_path):
    detector, exported = pair
    checked = verify(detector, exported, [recording(tmp_path / "long.wav", 21)], "", lossy=False)
    assert checked.of_samples is None
    assert checked.samples_clips == 0
    manifest = exported.manifest.model_copy(update={"verification": checked})
    card = export_card(manifest, exported.calibration)
    assert "`model.onnx` in one run was not compared: every clip was too long" in card
    assert "graph of samples not compared: every clip is too long" in summary(manifest)


def test_bound_and_figure_of_each_graph_are_in_one_measure(exports):
    manifest = ExportedDetector.load(exports["texture"]).manifest
    checked = manifest.verification
    line = summary(manifest)
    assert f"|Δscore| / max(1, |score|) ≤ 0.0001 (largest {checked.largest_relative:.2g})" in line
    # One of the synthesised clips of every kind is longer than one run.
    assert checked.samples_clips == 18
    assert f"one run, 18 clips: ≤ 0.0001 (largest {checked.of_samples:.2g})" in line
    assert line.count("no verdict differs") == 2
    rounded = checked.model_copy(update={"samples_bound": 5e-3, "samples_decisions_differ": 2})
    line = summary(manifest.model_copy(update={"verification": rounded}))
    assert f"≤ 0.005 (largest {checked.of_samples:.2g}), 2 verdicts differ" in line

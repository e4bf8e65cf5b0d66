"""The benchmarks run and their results are consistent; speed itself is not tested."""

from __future__ import annotations

import json
import shutil

import pytest
import torch

from ssdpt.bench import fleet, machine, precision, score, train
from ssdpt.common.progress import SILENT
from ssdpt.config.tree import load_config
from ssdpt.errors import SsdptError
from ssdpt.runtime import graph

CPU = torch.device("cpu")
SEGMENTS = 250  # of ten seconds at hop 1: 313 frames, 64 per segment


@pytest.fixture(autouse=True)
def small(monkeypatch):
    monkeypatch.setattr(machine, "matrix_peak", lambda device: 1e11)
    for module in (train, score):
        monkeypatch.setattr(module, "matrix_peak", lambda device: 1e11)
    monkeypatch.setattr(train, "_CLIPS", {"cpu": 4})
    monkeypatch.setattr(train, "_ROUNDS", 1)


def test_training():
    result = train.bench_train("cpu", 8, 1, 32, 0.01, compiled=False)
    ours, reference = result["ours"], result["reference"]
    assert result["ratio"] == ours["segments_per_second"] / reference["segments_per_second"]
    assert ours["epoch_seconds"] == 96_288 / ours["segments_per_second"]
    assert ours["share_of_peak"] == pytest.approx(ours["tflops"] * 1e12 / 1e11)
    assert (reference["batch"], ours["batch"]) == (16, 8)
    json.dumps(result)


def test_operations_of_the_published_network_per_clip():
    network = score.untrained_system(load_config("paper")).network
    assert SEGMENTS * network.flops() / 1e9 == pytest.approx(15.73, abs=0.01)


def test_scoring(monkeypatch):
    def smaller(preset, changes):
        """One block of three."""
        return load_config(preset, {**changes, "ssdpt.blocks": 1})

    def traced_once(system, arithmetic):
        """The graph of the first hop is reused for the other: its output is not checked."""
        if arithmetic not in graphs:
            graphs[arithmetic] = onnx_model(system, arithmetic)
        return graphs[arithmetic]

    graphs, onnx_model = {}, graph.onnx_model
    monkeypatch.setattr(graph, "onnx_model", traced_once)
    monkeypatch.setattr(score, "load_config", smaller)
    result = score.bench_score("cpu", 0.001)
    flops = score.untrained_system(smaller("paper", {})).network.flops()
    assert result["gflop"] == pytest.approx(SEGMENTS * flops / 1e9)
    assert result["floor"]["hop_1"] == pytest.approx(SEGMENTS * flops / 1e11)
    rows = ("eager", "torch", "onnxruntime", "openvino", result["default"])
    for row in rows:
        for hop in ("hop_1", "hop_8"):
            quotient = result[row][hop] / result["floor"][hop]
            assert result[row][f"{hop}_over_floor"] == pytest.approx(quotient)
    assert result["default_over_floor"] == result[result["default"]]["hop_1_over_floor"]
    assert 0 < result["int8"]["hop_1_difference"] < 1
    json.dumps(result)


def test_a_whole_data_set(monkeypatch):
    monkeypatch.setattr(fleet, "MACHINES", 2)
    monkeypatch.setattr(fleet, "TRAINING_CLIPS", 3)
    monkeypatch.setattr(fleet, "TEST_CLIPS", 3)
    result = fleet.bench_fleet("cpu", 32, 1, None, SILENT)
    assert result["jobs"] == 1
    assert result["test_clips"] == 6
    parts = result["training_seconds"] + result["scoring_seconds"]
    assert result["seconds"] == pytest.approx(parts)


def test_precision(simulated):
    config = load_config("tiny", {"device": "cpu", "ssdpt.training.epochs": 1})
    result = precision.bench_precision(config, simulated / "fan", 2, SILENT)
    assert result["float32"] == result["auto"]  # on a CPU there is only one precision
    one, two = result["auto"]["h_auc"]
    assert 0 < one < 1
    assert one != two  # seeds differ
    assert result["auto"]["mean_h_auc"] == pytest.approx((one + two) / 2)
    assert result["training_clips"] > 0


def test_precision_needs_one_machine_with_labelled_clips(simulated, tmp_path):
    config = load_config("tiny", {"device": "cpu"})
    with pytest.raises(SsdptError, match="several machines"):
        precision.bench_precision(config, simulated, 1, SILENT)
    shutil.copytree(simulated / "fan" / "train", tmp_path / "fan" / "train")
    with pytest.raises(SsdptError, match="labelled test clips"):
        precision.bench_precision(config, tmp_path / "fan", 1, SILENT)


def test_the_machine_is_described():
    facts = machine.describe(CPU)
    assert facts["torch"] == torch.__version__
    assert facts["threads"] >= 1
    assert "gpu" not in facts
    assert machine.matrix_peak(CPU) > 0

"""The benchmark of explanations: its keys, its rates, and the command."""

from __future__ import annotations

import json

import pytest

from ssdpt.bench.explain import bench_explain
from ssdpt.common.progress import SILENT
from ssdpt.config.tree import load_config
from ssdpt.errors import SsdptError

GMM = {"system": "gmm"}


@pytest.fixture(scope="module")
def measured(simulated):
    return bench_explain(load_config("tiny", GMM), "tiny", simulated, [], SILENT)


def test_every_detected_fault_is_counted(measured):
    assert list(measured["machines"]) == ["fan", "valve"]
    assert measured["faulty"] == 24
    machines = measured["machines"].values()
    for machine in machines:
        assert 0 < machine["detected"] <= machine["faulty"] == 12
        assert sum(fault["detected"] for fault in machine["faults"].values()) == machine["detected"]
        hits = sum(fault["hits"] for fault in machine["faults"].values())
        assert machine["hit_rate"] == pytest.approx(hits / machine["detected"])
        assert 0 < machine["covered"] < 0.2
    assert measured["detected"] == sum(machine["detected"] for machine in machines)


def test_perfect_maps_have_a_hit_rate_of_one(simulated, monkeypatch):
    """With maps that are 1 in the faulty regions, the hit rate must be 1."""
    from ssdpt.detection.detector import Detector
    from ssdpt.evaluation.localisation import faulty_points, known_faults

    faults = known_faults(simulated / "fan")

    def perfect_map(detector, recording, *, section=None):
        regions = faults[recording.path.name].regions
        shape = (len(detector.frames(recording)), detector.frame_seconds, detector.frequencies)
        return faulty_points(regions, *shape).astype("f4")

    monkeypatch.setattr(Detector, "anomaly_map", perfect_map)
    result = bench_explain(load_config("tiny", GMM), "tiny", simulated, ["fan"], SILENT)
    assert result["hit_rate"] == 1


def test_the_command(cli, measured, monkeypatch):
    calls = []

    def bench(config, plant, data, machines, reporter):
        calls.append((config.system, config.preset, plant, data, machines))
        return measured

    monkeypatch.setattr("ssdpt.bench.explain.bench_explain", bench)
    heading, *rows = cli("bench", "explain", "--system", "gmm").out.splitlines()
    assert heading.split()[:3] == ["machine", "faulty", "detected"]
    assert [row.split()[0] for row in rows] == ["fan", "valve", "all"]
    printed = cli("bench", "explain", "--plant", "smoke", "--machine", "fan", "--json").out
    assert json.loads(printed) == measured
    default = load_config("fast").system
    assert calls == [("gmm", "fast", "demo", None, []), (default, "fast", "smoke", None, ["fan"])]


def test_a_system_without_maps_is_rejected_at_once(tmp_path):
    config = load_config("tiny", {"system": "wavenet-ensemble"})
    with pytest.raises(SsdptError, match="has no anomaly map to measure"):
        bench_explain(config, "tiny", tmp_path / "missing", [], SILENT)

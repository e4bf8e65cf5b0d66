"""The benchmark of features runs, and its ratios are consistent."""

from __future__ import annotations

import json

import pytest

from ssdpt.bench import features


def test_features(monkeypatch):
    monkeypatch.setattr(features, "_CLIPS", 2)
    result = features.bench_features(0.001)
    steps = ("decode", "decode_and_resample", "log_mel", "scoring_hop_8")
    assert all(0 < result[step] < 60 for step in steps)
    assert result["features_over_scoring"] == result["log_mel"] / result["scoring_hop_8"]
    folder = result["folder"]
    assert folder["clips"] == 2
    assert folder["ratio"] == pytest.approx(folder["one_by_one"] / folder["together"])
    assert 0 < folder["cores_used"] < 1000
    json.dumps(result)


def test_the_command_prints_json(cli, monkeypatch):
    monkeypatch.setattr(features, "bench_features", lambda budget: {"budget": budget})
    answer = cli("bench", "features", "--json", "--seconds", "0.5")
    assert json.loads(answer.out) == {"budget": 0.5}

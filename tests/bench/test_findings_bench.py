"""The benchmark of findings on a small plant."""

from __future__ import annotations

import pytest

from ssdpt.alarms.findings import Finding
from ssdpt.bench.findings import bench_findings, frequency, is_near
from ssdpt.config.tree import load_config
from ssdpt.errors import SsdptError

CONFIG = load_config("fast", {"system": "texture", "device": "cpu", "seed": 100})


def test_most_detected_faults_of_a_pump_are_named() -> None:
    result = bench_findings(CONFIG, ["pump"], train=20, clips=5, seeds=1)
    assert (result["faulty"], result["normal_clips"]) == (15, 15)
    assert result["detected"] >= 8
    assert result["share"] >= 0.8
    assert result["share"] > result["by_chance"]
    assert result["normal_with_findings"] <= 1
    of_faults = result["machines"]["pump"]["faults"]
    assert sum(fault["detected"] for fault in of_faults.values()) == result["detected"]


def test_a_third_of_an_octave() -> None:
    band = Finding(code="band", low_hz=800, high_hz=1250)
    assert frequency(band) == pytest.approx(1000)
    assert frequency(Finding(code="level", db=6)) is None
    assert is_near(1000, (500, 1250))
    assert not is_near(1000, (500, 1270))
    assert not is_near(1000, ())
    assert not is_near(None, (1000,))


def test_a_machine_that_is_not_simulated() -> None:
    with pytest.raises(SsdptError, match="no simulated machine is called 'crane'"):
        bench_findings(CONFIG, ["crane"])

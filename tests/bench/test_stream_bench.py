"""The benchmark of live machines: everything as in the service, for some seconds."""

from __future__ import annotations

from ssdpt.bench.stream import bench_stream
from ssdpt.common.progress import SILENT
from ssdpt.config.tree import load_config


def test_it_monitors_several_machines_and_reports_the_load():
    config = load_config("tiny", {"device": "cpu", "ssdpt.training.epochs": 1})
    result = bench_stream(config, machines=3, seconds=2.0, speed=10.0, reporter=SILENT)
    assert (result["machines"], result["system"]) == (3, "ssdpt")
    assert result["delay_seconds"] is None  # of a clock that is sped up
    # One, but on busy cores less, or more where it catches up with what came before.
    assert 0.02 < result["readings_per_machine_second"] < 2.5
    assert result["cores_used"] > 0
    assert result["memory_mb"]["last"] > 100

"""The load benchmark: the real service in a process of its own, for some seconds."""

from __future__ import annotations

import pytest

from ssdpt.bench.load.load import LoadOptions, _growth, _Sample, bench_load
from ssdpt.bench.load.usage import Usage
from ssdpt.common.progress import SILENT


def test_it_loads_the_service_and_measures_it_from_outside():
    options = LoadOptions(
        machines=2, clients=2, requests_per_second=5.0, seconds=3.0, speed=4.0, then_machines=1
    )
    result = bench_load(options, SILENT)
    assert result["api_failed"] == 0
    assert 0 < result["api_ms"]["p50"] <= result["api_ms"]["p99"] <= result["api_ms"]["max"]
    assert "/v1/status" in result["api_ms_p99_by_route"]
    assert result["verdict_seconds"] is None  # of a clock that is sped up
    # One, but on busy cores less, or more where it catches up with what came before.
    assert 0.02 < result["seconds_read"] < 2.5
    assert 0.02 < result["seconds_scored"] <= result["seconds_read"]
    assert result["shedding"].startswith("degree ")
    assert result["recovered_after_seconds"] is not None
    assert result["live_clients"]["disconnected"] == 0
    assert result["live_clients"]["bytes"] > 1000
    assert result["cores_used"] > 0
    assert result["memory_mb"]["last"] > 100
    assert result["files"]["last"] > 5
    assert result["growth"] is None  # nothing has settled after some seconds
    assert result["start_seconds"] > 0
    assert result["stop_seconds"] > 0


def samples(memory_mb, hours):
    """One a minute; `memory_mb` of an hour."""
    minutes = [minute / 60 for minute in range(round(60 * hours))]
    return [
        _Sample(180 * hour, hour, Usage(1.0, memory_mb(hour), files=40, threads=9))
        for hour in minutes
    ]


def test_what_fills_in_the_first_hours_is_no_growth():
    growth = _growth(samples(lambda hour: 300 + 100 * min(hour, 1.5), 8))
    assert growth["from_hour"] == 2.0
    assert growth["memory_mb"] == {"first": 450, "last": 450}
    assert growth["memory_mb_per_hour"]["per_hour"] == pytest.approx(0, abs=1e-9)


def test_what_goes_on_growing_is():
    growth = _growth(samples(lambda hour: 300 + 0.5 * hour, 8))
    assert growth["memory_mb_per_hour"]["per_hour"] == pytest.approx(0.5)
    assert growth["memory_mb_per_hour"]["low"] > 0.4
    assert growth["files_per_hour"]["per_hour"] == 0


def test_a_short_run_says_nothing_of_growth():
    assert _growth(samples(lambda hour: 300 + 100 * hour, 1.5)) is None

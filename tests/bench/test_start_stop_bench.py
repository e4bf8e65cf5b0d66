"""The benchmark of start and stop: a real process, and a signal."""

from __future__ import annotations

import pytest

from ssdpt.bench.start_stop import bench_start_stop
from ssdpt.common.progress import SILENT


@pytest.mark.full
def test_a_service_starts_and_stops_in_seconds():
    result = bench_start_stop(machines=8, seconds=3.0, reporter=SILENT)
    assert result["machines"] == 8
    assert len(result["start_seconds"]) == len(result["stop_seconds"]) == 2
    assert max(result["stop_seconds"]) < 10.0

"""The bench of a store's history: what it fills is what trends are read from."""

from __future__ import annotations

import pytest

from ssdpt.bench.history import bench_history
from ssdpt.errors import SsdptError
from ssdpt.monitor.store import Store


def test_it_fills_a_store_and_times_its_trends(tmp_path):
    url = f"sqlite:///{tmp_path}/plant.db"
    found = bench_history(url, tmp_path / "files", machines=2, days=2, repeats=2)
    assert (found.database, found.minutes, found.seconds) == ("SQLite", 5760, 172800)
    assert found.bytes_on_disk > 1e6
    assert [trend.span for trend in found.trends] == ["1 hour", "5 hours", "1 day"]
    assert [trend.seconds_per_point for trend in found.trends] == [10, 30, 300]
    for trend in found.trends:
        assert trend.points >= 288
        assert 0 < trend.median_ms <= trend.worst_ms
    assert min(found.second_ms, found.minute_ms, found.fill_seconds, found.roll_up_seconds) > 0
    with Store.open(url, tmp_path / "files") as store:
        trend = store.trend("machine-02", 1_704_067_200, 1_704_067_200 + 2 * 86400, points=48)
        assert (trend.seconds_per_point, len(trend.time)) == (3600, 48)
        assert (trend.low < trend.mean).all()
        assert (trend.mean < trend.high).all()
    with pytest.raises(SsdptError, match="give an empty store"):
        bench_history(url, tmp_path / "files", machines=2, days=2, repeats=2)

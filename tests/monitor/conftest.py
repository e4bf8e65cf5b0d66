"""Monitors over a store of their own."""

from __future__ import annotations

import pytest

from ssdpt.monitor.service.service import MonitorService
from ssdpt.monitor.store import Store


@pytest.fixture
def opened(tmp_path):
    """Makes monitors over one store, each of which is stopped at the end."""
    under_way = []

    def make(plant, path=None):
        store = Store.open(f"sqlite:///{tmp_path}/history.db", tmp_path / "data", writer=True)
        monitor = MonitorService(plant, store, tmp_path / "data", path=path)
        monitor.start()
        under_way.append((monitor, store))
        return monitor

    def close():
        while under_way:
            monitor, store = under_way.pop()
            monitor.stop()
            store.close()

    make.close = close
    yield make
    close()

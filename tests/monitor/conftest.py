"""Services over a store of their own."""

from __future__ import annotations

import pytest

from ssdpt.monitor.service.service import MonitorService
from ssdpt.monitor.store import Store


@pytest.fixture
def opened(tmp_path):
    """Starts services over one store, each of which is stopped at the end."""
    running = []

    def start(config, path=None):
        store = Store.open(f"sqlite:///{tmp_path}/history.db", tmp_path / "data", writer=True)
        service = MonitorService(config, store, tmp_path / "data", path=path)
        service.store = store  # for tests only
        service.start()
        running.append((service, store))
        return service

    def close():
        while running:
            service, store = running.pop()
            service.stop()
            store.close()

    start.close = close
    yield start
    close()

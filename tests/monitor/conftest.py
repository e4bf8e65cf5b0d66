"""Services over a store of their own."""

from __future__ import annotations

from contextlib import ExitStack

import pytest
from slow_work import no_slow_work

from ssdpt.monitor.service.service import MonitorService
from ssdpt.monitor.store import Store


@pytest.fixture
def opened(tmp_path, monkeypatch):
    """Starts services over one store, each of which is stopped at the end.

    None of them may do slow work with the lock of the machines, or in its loop.
    """
    running = []

    def start(config, path=None):
        with ExitStack() as stack:
            url = f"sqlite:///{tmp_path}/history.db"
            store = stack.enter_context(Store.open(url, tmp_path / "data", writer=True))
            service = MonitorService(config, store, tmp_path / "data", path=path)
            service.store = store  # for tests only
            patch = stack.enter_context(monkeypatch.context())
            stack.enter_context(no_slow_work(service.machines.lock, patch))
            stack.callback(service.stop)
            service.start()
            running.append(stack.pop_all())
        return service

    def close():
        while running:
            running.pop().close()

    start.close = close
    yield start
    close()

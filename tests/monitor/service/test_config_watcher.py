"""A changed configuration file is read again; a broken one changes nothing."""

from __future__ import annotations

import pytest

from ssdpt.errors import SsdptError
from ssdpt.monitor.service import config_watcher
from ssdpt.monitor.service.config_watcher import ConfigWatcher, file_version
from ssdpt.monitor.service.service_log import ServiceLog
from ssdpt.monitor.store import StoreUnavailable
from waiting import wait_until


@pytest.fixture(autouse=True)
def quickly(monkeypatch):
    monkeypatch.setattr(config_watcher, "_CHECK_EVERY", 0.02)


def test_changes_errors_and_a_store_that_is_away(tmp_path):
    path, log, outcomes = tmp_path / "monitor.yaml", ServiceLog(), []
    path.write_text("a")

    def reload():
        outcome = outcomes.pop(0)
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    watcher = ConfigWatcher(path, reload, log, file_version(path))
    watcher.start()
    try:
        outcomes += [StoreUnavailable("away"), ["pump-1 changed"]]
        path.write_text("ab")
        wait_until(lambda: log.notes == ("configuration: pump-1 changed",))
        outcomes.append(SsdptError("two machines have the id b"))
        path.write_text("abc")
        wait_until(lambda: log.problems)
        (problem,) = log.problems
        assert problem == (
            "The configuration has an error, the previous one stays active: "
            "two machines have the id b"
        )
        outcomes.append([])
        path.write_text("abcd")
        wait_until(lambda: not log.problems)
        assert log.notes[-1] == "configuration: no effective change"
    finally:
        watcher.stop()

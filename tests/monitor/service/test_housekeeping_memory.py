"""The housekeeping keeps memory flat, and the pauses of garbage collection short."""

from __future__ import annotations

import pytest

from ssdpt.monitor.service import housekeeping
from ssdpt.monitor.service.housekeeping import Housekeeping


@pytest.fixture
def done(monkeypatch):
    """What was asked of memory."""
    asked = []
    monkeypatch.setattr(housekeeping.memory, "settle", lambda: asked.append("settle"))
    monkeypatch.setattr(housekeeping.memory, "release", lambda: asked.append("release"))
    return asked


def keeping(machines):
    nothing = dict.fromkeys(
        ("store", "values", "samples", "prognosis", "reports", "log", "last_run", "retention")
    )
    return Housekeeping(machines=machines, **nothing)


def test_pages_are_released_every_minute_and_all_settles_once(done):
    house = keeping([object()])
    for _ in range(3):
        house._settle_memory()
    assert done == ["settle", "release", "release", "release"]


def test_it_settles_anew_where_a_machine_is_replaced(done):
    machines = [object(), object()]
    house = keeping(machines)
    house._settle_memory()
    before, machines[1] = machines[1], object()
    house._settle_memory()
    machines.remove(machines[0])
    house._settle_memory()
    assert done == 3 * ["settle", "release"]
    assert before is not machines[0]


def test_it_settles_anew_after_an_hour(done, monkeypatch):
    house = keeping([object()])
    times = [1000.0, 1060.0, 4599.0, 4600.0, 4660.0]
    monkeypatch.setattr(housekeeping.clock, "monotonic", iter(times).__next__)
    for _ in times:
        house._settle_memory()
    assert done == ["settle", "release", "release", "release", "settle", "release", "release"]

"""The loop under load: it leaves out what the rule says, says so, and takes it up again."""

from __future__ import annotations

import re
import threading
from types import SimpleNamespace

import pytest
from monitors import SPEED, learn, pump

from ssdpt.monitor.config import MonitorConfig
from ssdpt.monitor.messages import ServiceChanged
from ssdpt.monitor.service.load_meter import Load
from ssdpt.monitor.service.load_shedding import DEGREES
from ssdpt.monitor.service.loop import MonitorLoop
from ssdpt.monitor.service.registry import MachineRegistry
from waiting import wait_until

BUSY = Load(3.0, scoring=0.7, other=0.3)
CALM = Load(3.0, scoring=0.02, other=0.02)


class FakeMachine:
    """A machine that always has a new second, and notes what is done with it."""

    def __init__(self, number, done, *, hop=None, sheddable=True):
        self.id = f"m{number}"
        self.model = SimpleNamespace(hop=hop)
        self.settings = SimpleNamespace(title=self.id)
        self.capture = SimpleNamespace(second_judged=threading.Event())
        self.can_be_shed, self.urgent, self.due, self.last = sheddable, False, True, None
        self._done = done

    def look(self):
        return 1

    def process(self, score, *, scored=True):
        self._done.append((self.id, "scored" if scored else "read"))
        return []


class FixedMeter:
    """Says how busy it was as it was told."""

    def __init__(self):
        self.load = None

    def take(self):
        load, self.load = self.load, None
        return load

    scoring = working = staticmethod(threading.Lock)


@pytest.fixture
def done():
    return []


@pytest.fixture
def loop():
    """Not started: every round is called by hand."""
    nothing = SimpleNamespace()
    loop = MonitorLoop(
        machines=MachineRegistry(),
        publisher=SimpleNamespace(publish=lambda message: None),
        learning=nothing,
        commissioner=nothing,
        recorder=nothing,
        prognosis=SimpleNamespace(with_severity=lambda machine, message: message),
        log=SimpleNamespace(failure=pytest.fail),
        every_second=lambda: None,
    )
    loop._meter = FixedMeter()
    loop._scores = lambda model, group: [None] * len(group)
    return loop


def raise_to(loop, number):
    while loop._shedding.number < number:
        loop._meter.load = BUSY
        loop._adapt_to_load()


def test_without_load_every_second_is_scored(loop, done):
    loop._machines.put(FakeMachine(0, done))
    for _ in range(3):
        assert loop._round()
    assert done == [("m0", "scored")] * 3
    assert loop.shedding is None
    assert sum(loop.left_out.values()) == 0


def test_what_is_left_out_is_counted_and_said(loop, done):
    machine = FakeMachine(0, done)
    loop._machines.put(machine)
    loop._round()
    raise_to(loop, len(DEGREES) - 1)
    done.clear()
    for _ in range(16):
        machine.capture.second_judged.clear()
        loop._round()
        assert machine.capture.second_judged.is_set()  # whoever waits goes on
    assert done == [("m0", "scored")] * 2
    assert loop.left_out["skipped"] == 14
    status = loop.shedding
    assert (status.degree, status.score_every, status.second_every) == (5, 8, 8)
    assert status.since > 1e9


def test_a_second_is_read_without_a_score_first(loop, done):
    loop._machines.put(FakeMachine(0, done))
    loop._round()
    raise_to(loop, 1)
    done.clear()
    for _ in range(4):
        loop._round()
    assert sorted(done) == [("m0", "read")] * 2 + [("m0", "scored")] * 2
    assert loop.left_out == {"unscored": 2, "skipped": 0, "missed": 0}


def test_a_model_of_segments_scores_a_part_of_them_every_second(loop, done):
    loop._machines.put(FakeMachine(0, done, hop=8))
    raise_to(loop, 2)
    for _ in range(4):
        loop._round()
    assert done == [("m0", "scored")] * 4


def test_urgent_machines_come_first_and_lose_nothing(loop, done):
    machines = [FakeMachine(number, done) for number in range(4)]
    for machine in machines:
        loop._machines.put(machine)
    loop._round()
    raise_to(loop, len(DEGREES) - 1)
    machines[3].urgent = True
    done.clear()
    for _ in range(8):
        loop._round()
    assert done.count(("m3", "scored")) == 8
    assert [done.count((f"m{number}", "scored")) for number in range(3)] == [1, 1, 1]
    assert done[0] == ("m3", "scored")


def test_recordings_that_wait_are_not_shed(loop, done):
    loop._machines.put(FakeMachine(0, done, sheddable=False))
    raise_to(loop, len(DEGREES) - 1)
    for _ in range(3):
        loop._round()
    assert done == [("m0", "scored")] * 3


def test_it_says_when_it_keeps_up_again(loop, done, caplog):
    loop._machines.put(FakeMachine(0, done))
    raise_to(loop, 3)
    assert [message.partition("time): ")[2] for message in caplog.messages] == [
        "one in 2 segments is scored",
        "one in 4 segments is scored",
        "one in 4 segments is scored, one in 2 seconds of a machine is looked at",
    ]
    for _ in range(100):
        loop._meter.load = CALM
        loop._adapt_to_load()
    assert loop.shedding is None
    assert "scoring keeps up again" in caplog.text


def test_a_service_that_cannot_keep_up_says_so_and_recovers(opened):
    """The real service with a model that takes longer than the sound that it scores."""
    service = opened(MonitorConfig(machines=(pump(),), speed=SPEED))
    learn(service)
    updates = service.api.subscribe()
    model = service.machines["pump-1"].model
    fast, quick_again = model.score, threading.Event()

    def score(asked):
        quick_again.wait(1.0)
        return fast(asked)

    model.score = score
    wait_until(lambda: service.api.status().shedding, "it sheds")
    wait_until(lambda: sum(service.loop.left_out.values()), "it leaves out seconds")
    text = service.metrics.text().decode()
    assert re.search(r"^ssdpt_shedding_degree [1-9]", text, re.MULTILINE)
    assert 'ssdpt_left_out_seconds_total{what="skipped"}' in text
    quick_again.set()
    wait_until(lambda: not service.api.status().shedding, "it has recovered", timeout=300)
    assert "ssdpt_shedding_degree 0" in service.metrics.text().decode()
    messages = iter(lambda: updates.get(0), None)
    degrees = [
        0 if one.status.shedding is None else one.status.shedding.degree
        for one in messages
        if isinstance(one, ServiceChanged)
    ]
    assert max(degrees) >= 1

"""A machine whose control system says whether it runs, and how fast."""

from __future__ import annotations

import numpy as np
import pytest
from machine_by_hand import SETTINGS, Machine, events, states

from ssdpt.alarms.operating_points import UNKNOWN, OperatingPoints
from ssdpt.alarms.speed_and_load import SpeedAndLoad
from ssdpt.monitor.learning.collector import BaselineCollector
from ssdpt.monitor.operating import open_operating_data
from ssdpt.monitor.operating.pushed_operating_data import PushedOperatingDataSettings

REPORTED = PushedOperatingDataSettings(settle_seconds=5.0)


@pytest.fixture
def machine():
    machine = Machine(SETTINGS.model_copy(update={"operating_data": REPORTED}))
    machine.monitor.operating = open_operating_data(REPORTED)
    return machine


def test_off_by_its_control_system_is_off_here_however_loud_it_is(machine):
    machine.seconds(30)
    machine.monitor.operating.push(running=False)
    messages = machine.seconds(1, score=99.0, dbfs=-10.0)
    assert states(messages) == ["off"]
    assert not events(machine.seconds(60, score=99.0, dbfs=-10.0))
    assert machine.monitor.state == "off"
    assert machine.status.smoothed is None
    assert machine.status.operating_data.running is False


def test_an_event_ends_when_the_machine_is_switched_off(machine):
    machine.seconds(30)
    machine.seconds(5, score=99.0)
    machine.monitor.operating.push(running=False)
    (ended,) = events(machine.seconds(1, score=99.0))
    assert ended.ended is not None


def test_a_start_is_not_judged_until_it_has_settled(machine):
    machine.seconds(30)
    machine.monitor.operating.push(running=False)
    machine.seconds(10)
    machine.monitor.operating.push(running=True)
    messages = machine.seconds(5, score=99.0)
    assert states(messages) == ["starting"]
    assert not events(messages)
    assert [event.level for event in events(machine.seconds(5, score=99.0))][:1] == ["alarm"]


def test_a_machine_that_should_run_and_is_quiet_is_judged_not_off(machine):
    machine.seconds(30)
    machine.monitor.operating.push(running=True)
    messages = machine.seconds(10, score=99.0, dbfs=-60.0)
    assert "off" not in states(messages)
    assert machine.monitor.state == "alarm"
    assert events(messages)


def test_without_a_run_state_the_sound_decides_as_before(machine):
    machine.monitor.operating.push(speed_rpm=1480)
    machine.seconds(30)
    assert states(machine.seconds(8, dbfs=-60.0)) == ["off"]
    assert machine.seconds(8)[-1].reading.state == "normal"


def test_what_is_off_or_starts_is_not_learned(machine):
    machine.monitor.operating.push(running=False)
    machine.monitor.collector = BaselineCollector.for_minutes(1.0)
    assert states(machine.seconds(1, score=None)) == ["off"]
    machine.monitor.operating.push(running=True)
    assert states(machine.seconds(5, score=None)) == ["starting"]
    assert states(machine.seconds(1, score=None)) == ["learning"]


def test_the_speed_chooses_the_operating_point(machine):
    flat = machine.frames(np.full(16000, 0.01, np.float32)).mean(0)
    spectra = flat + np.random.default_rng(0).normal(0, 0.1, (40, len(flat)))
    operations = [SpeedAndLoad(1480)] * 25 + [SpeedAndLoad(990)] * 15
    scores = np.random.default_rng(1).normal(0, 1, 40)
    points = OperatingPoints.learn(spectra, np.full(40, -30.0), scores, operations)
    machine.monitor.judge.baseline.points = points
    for speed, number in ((1480, 1), (990, 2), (2900, UNKNOWN)):
        machine.monitor.operating.push(speed_rpm=speed)
        machine.seconds(12)
        assert machine.status.operating_point == number
    assert [round(point.speed_rpm) for point in machine.status.operating_points] == [1480, 990]


def test_settings_that_change_keep_the_run_state(machine):
    machine.monitor.operating.push(running=False)
    machine.seconds(3)
    successor = Machine(machine.monitor.settings)
    successor.monitor.operating = machine.monitor.operating
    successor.monitor.continue_from(machine.monitor)
    assert successor.monitor.reported_running.off


def test_the_reported_speed_moves_the_diagnosis_lines(machine):
    machine.seconds(3)
    assert machine.monitor.shaft.lines(machine.now - 2, machine.now) == ()
    machine.monitor.operating.push(speed_rpm=1500)
    machine.seconds(3)
    (shaft,) = machine.monitor.shaft.lines(machine.now - 1, machine.now)
    assert shaft.hz == 25.0
    machine.monitor.operating.push(speed_rpm=1800)
    machine.seconds(1)
    assert machine.monitor.shaft.speed(machine.now - 3, machine.now)[0] == "changing"
